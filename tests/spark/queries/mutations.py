"""Faults to put into the rules, one at a time: each is a slip that the tests have to notice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

from dbt.adapters.streamspark.changes import change_query
from dbt.adapters.streamspark.changes.differentiate import RULES, copies, delta, equalities, keys, rows
from dbt.adapters.streamspark.changes.differentiate.differentiation import Differentiation
from dbt.adapters.streamspark.changes.query import algebra, subqueries, windows

Patch = pytest.MonkeyPatch
# The package has the rules under the names of their modules.
inner_join, outer_join, scan, semi_join, union_all = (
    import_module(f"dbt.adapters.streamspark.changes.differentiate.{name}")
    for name in ("inner_join", "outer_join", "scan", "semi_join", "union_all")
)
MUTATIONS: dict[str, Callable[[Patch], None]] = {}


def mutation(function: Callable[[Patch], None]) -> Callable[[Patch], None]:
    MUTATIONS[function.__name__] = function
    return function


@contextmanager
def applied(name: str, kind: type[Patch] = Patch) -> Iterator[Patch]:
    generate = rows.rows.dispatch(algebra.Generate)
    try:
        with kind.context() as patch:
            MUTATIONS[name](patch)
            yield patch
    finally:
        rows.rows.register(algebra.Generate, generate)


@mutation
def a_join_term_is_dropped(patch: Patch) -> None:
    patch.setattr(inner_join, "union", lambda columns, terms: delta.union(columns, terms[-1:]))


@mutation
def a_join_meets_the_wrong_end(patch: Patch) -> None:
    patch.setattr(inner_join, "START", True)


@mutation
def join_terms_in_no_order(patch: Patch) -> None:
    """Which of a row's changes is the first and which the last."""
    term = inner_join._term

    def unordered(*arguments: Any) -> delta.Delta:
        made = term(*arguments)
        return delta.Delta(re.sub(r"concat\('\d\d', __ord\)", "__ord", made.sql), made.minus, made.plus)

    patch.setattr(inner_join, "_term", unordered)


@mutation
def keys_forget_null(patch: Patch) -> None:
    def restrict(self: keys.Keys, relation: str, expressions: Sequence[str], narrows: keys.Narrows) -> str:
        equal = " and ".join(f"{expression} = __k{place}" for place, expression in enumerate(expressions))
        return f"(select q.* from {relation} q left semi join {self.relation} on {equal})"

    patch.setattr(keys.Keys, "restrict", restrict)


@mutation
def keys_of_new_rows_only(patch: Patch) -> None:
    """A group or match that a row has left is not looked at."""
    original = Differentiation.keys

    def of_new(self: Differentiation, sources: Any) -> keys.Keys:
        listed = [(delta.Delta(f"(select * from {one.sql} where __sign = 1)"), terms) for one, terms in sources]
        return original(self, listed)

    patch.setattr(Differentiation, "keys", of_new)


@mutation
def the_second_image_has_the_wrong_sign(patch: Patch) -> None:
    patch.setattr(scan, "_IS_NEW", "__type = 'insert'")


@mutation
def nothing_is_minimised(patch: Patch) -> None:
    patch.setattr(
        Differentiation, "minimal", lambda self, columns, one: f"(select *, false as __paired from {one.sql})"
    )


@mutation
def keys_of_any_types_are_compared(patch: Patch) -> None:
    patch.setattr(equalities, "comparable_types", lambda left, right: True)


@mutation
def not_in_is_taken_for_not_exists(patch: Patch) -> None:
    patch.setattr(semi_join, "_has_no_null", lambda *_: True)


@mutation
def a_semi_join_looks_at_its_left_side_only(patch: Patch) -> None:
    def left_only(d: Differentiation, node: algebra.SemiJoin) -> delta.Delta | None:
        left = d.kept(node.left)
        return None if left is None else semi_join.by_row(d, node, left, node.pairs)

    patch.setitem(RULES, algebra.SemiJoin, left_only)  # type: ignore[arg-type]


@mutation
def an_outer_join_looks_at_its_left_side_only(patch: Patch) -> None:
    def left_only(d: Differentiation, node: algebra.OuterJoin) -> delta.Delta | None:
        left = d.kept(node.left)
        if left is None:
            return None
        joined = rows.rows(node, [left.sql, d.at(node.right, True)], delta.SIGNED)
        return delta.Delta(f"({joined})") if not node.full else outer_join.outer_join(d, node)

    patch.setitem(RULES, algebra.OuterJoin, left_only)  # type: ignore[arg-type]


@mutation
def union_ids_without_the_branch(patch: Patch) -> None:
    original = rows.branch

    def untagged(*arguments: Any, **options: Any) -> str:
        return re.sub(r"concat\('\d+:', __id\)", "__id", original(*arguments, **options), count=1)

    patch.setattr(rows, "branch", untagged)
    patch.setattr(union_all, "branch", untagged)


@mutation
def element_ids_without_the_place(patch: Patch) -> None:
    def placeless(node: algebra.Generate, inputs: Sequence[str], carried: Sequence[str] = ()) -> str:
        return re.sub(r"concat\(__id, '#'.*?\) as __id", "__id", generate(node, inputs, carried), count=1)

    generate = rows.rows.dispatch(algebra.Generate)
    rows.rows.register(algebra.Generate, placeless)


@mutation
def windows_share_the_first_partition(patch: Patch) -> None:
    patch.setattr(windows, "_common", lambda partitions: list(max(partitions, key=len).values()))


@mutation
def a_window_restricts_to_the_rows_that_changed(patch: Patch) -> None:
    original = RULES[algebra.Window]

    def by_row(d: Differentiation, node: algebra.Window) -> delta.Delta | None:
        by_id = [algebra.Term("__id", frozenset())] if node.partition else []
        return original(d, algebra.Window(node.child, node.items, by_id))

    patch.setitem(RULES, algebra.Window, by_row)  # type: ignore[arg-type]


@mutation
def the_count_bug(patch: Patch) -> None:
    patch.setattr(subqueries, "of_nothing", lambda call, column: column)


@mutation
def ids_of_groups_leave_nulls_out(patch: Patch) -> None:
    def careless(expressions: Sequence[str]) -> str:
        return f"md5(concat_ws('|', {', '.join(f'cast({one} as string)' for one in expressions)}))"

    patch.setattr(rows, "identity", careless)
    patch.setattr(copies, "identity", careless)


@mutation
def the_one_row_of_no_group_by_stays(patch: Patch) -> None:
    original = RULES[algebra.Aggregate]
    patch.setitem(RULES, algebra.Aggregate, lambda d, node: original(d, node) if node.keys else None)  # type: ignore[arg-type]


@mutation
def both_ends_at_one_time(patch: Patch) -> None:
    def one_time(self: change_query.QueryInterval) -> dict[bool, str]:
        return dict.fromkeys((False, True), change_query.OneTime(self.end.timestamp).sql())

    patch.setattr(change_query.QueryInterval, "_clocks", one_time)


@mutation
def appended_rows_meet_updated_ones(patch: Patch) -> None:
    patch.setattr(Differentiation, "after", lambda self, node: self.at(node, True))
