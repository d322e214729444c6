"""A delta joined with several inputs, in as many steps as spare reading large ones in vain (decision 0043).

An input that shares no key with the delta is read whole, and shuffled: nobody knows how few rows the inputs between
leave. Joined with those first, and held, the delta has a key for it, and Spark knows its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dbt.adapters.streamspark.changes.differentiate.delta import SIGNED, Delta
from dbt.adapters.streamspark.changes.differentiate.differentiation import Differentiation, tables_of
from dbt.adapters.streamspark.changes.differentiate.equalities import Pair, in_one_type
from dbt.adapters.streamspark.changes.differentiate.rows import joined
from dbt.adapters.streamspark.changes.query.algebra import Join, Operator, pairs_of

LARGE = 128 * 1024 * 1024  # bytes of an input that is read and shuffled in vain: more time than a job takes
FEW = 10_000  # rows of a delta: each may meet ten, and the driver holds them


@dataclass(frozen=True)
class Step:
    """Input `place` of the join `node` is the `delta`. `relations`: all inputs, for FROM, the others as at an end.
    `ids`: the input and the column of each part of a row's id. `marks`: SQL of the signed columns, which the delta
    alone has."""

    node: Join
    place: int
    delta: Delta
    relations: Sequence[str]
    ids: Sequence[tuple[int, str]]
    marks: Sequence[str]

    def pairs(self, number: int) -> list[Pair]:
        """The equalities of the delta's input with another one."""
        return pairs_of(self.node.conditions, self.node.children[self.place], self.node.children[number])

    @property
    def near(self) -> list[int]:
        """The delta's input and those that share a key with it."""
        return [n for n in range(len(self.node.children)) if n == self.place or self.pairs(n)]

    @property
    def id_columns(self) -> list[str]:
        return [f"q{number}.{column}" for number, column in self.ids]

    @property
    def far(self) -> list[int]:
        near = self.near
        return [number for number in range(len(self.node.children)) if number not in near]


def stepwise(d: Differentiation, step: Step) -> str | None:
    """SQL of the join's signed rows; None where it has none."""
    while _spares(d, step):
        step = _next(d, step)
    return None if step.delta.rows_held == 0 else _sql(d, step)


def _spares(d: Differentiation, step: Step) -> bool:
    rows = step.delta.rows_held
    if rows is None or not 0 < rows <= FEW or len(step.near) == 1:
        return False
    return any(_bytes(d, step.node.children[number]) > LARGE for number in step.far)


def _bytes(d: Differentiation, node: Operator) -> int:
    """Of the tables that an input reads, as far as their logs tell."""
    intervals = [d.leaves[table.token].interval for table in tables_of(node)]
    return sum(size for _, size in filter(None, (each.log.size(each.end) for each in intervals)))


def _next(d: Differentiation, step: Step) -> Step:
    """What is left when the delta is joined with the inputs near it, and held with the parts of the ids."""
    begun = _begun(step)
    parts = [f"{column} as __id{part}" for part, column in enumerate(begun.id_columns)]
    kept = d.keep(_sql(d, replace(begun, marks=[*begun.marks, *parts])))
    delta = replace(step.delta, sql=d.views.add(kept.frame, what="delta"), kept=kept)
    return _rest(step, begun.node, delta)


def _begun(step: Step) -> Step:
    """The join of the delta with the inputs near it."""
    near, children = step.near, [step.node.children[number] for number in step.near]
    columns = {column for child in children for column in child.columns}
    return Step(
        node=Join(children, [each for each in step.node.conditions if each.term.columns <= columns]),
        place=near.index(step.place),
        delta=step.delta,
        relations=[step.relations[number] for number in near],
        ids=[(near.index(number), column) for number, column in step.ids if number in near],
        marks=step.marks,
    )


def _rest(step: Step, near: Join, delta: Delta) -> Step:
    """The join of what is held, of the inputs `near`, with those that are far."""
    far = step.far
    parts = iter(range(len(step.ids)))
    return Step(
        node=Join(
            [near, *(step.node.children[number] for number in far)],
            [each for each in step.node.conditions if each not in near.conditions],
        ),
        place=0,
        delta=delta,
        relations=[delta.sql, *(step.relations[number] for number in far)],
        ids=[
            (far.index(number) + 1, column) if number in far else (0, f"__id{next(parts)}")
            for number, column in step.ids
        ],
        marks=SIGNED,
    )


def _sql(d: Differentiation, step: Step) -> str:
    inputs = [sql if n == step.place else _met(d, step, n) for n, sql in enumerate(step.relations)]
    return joined(step.node, inputs, step.place, step.marks, step.id_columns)


def _met(d: Differentiation, step: Step, number: int) -> str:
    """The rows of another input that the delta may meet."""
    mine, child = step.node.children[step.place], step.node.children[number]
    own, others = in_one_type(d, mine, child, step.pairs(number))
    return d.met(step.relations[number], others, step.delta, own)
