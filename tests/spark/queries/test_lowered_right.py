"""Ways to write a query that are easily taken for another one, each by the oracle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.changes import read_changes
from tests.spark.queries.held import held_leaves
from tests.spark.queries.history import History
from tests.spark.queries.oracle import check_found, interval_of, read


@pytest.fixture(scope="module")
def small(spark: SparkSession) -> Iterator[History]:
    history = History(spark, "lowered_right")
    history.table("t", "id int, v int, s string, b boolean, q boolean, m map<string, int>")
    history.table("u", "id int, v int, b boolean")
    history.table("far", "id int, d date")
    history.run(
        "insert into t values (1, 1, 'a', true, true, map('x', 1, 'y', 2)), (2, 2, 'ab', false, true, map()), "
        "(3, null, 'b', true, false, null), (4, 3, null, null, true, map('x', 1)), (5, 2, 'a', null, null, null)",
        "insert into u values (1, 1, true), (2, 2, false), (3, 9, null)",
        "insert into far values (1, date'9999-12-31' + 5), (2, date'0001-01-01' - 500), (3, date'2026-01-01')",
    )
    history.marked([
        "insert into t values (7, 2, 'a', false, true, map('x', 7)), (8, null, 'b', null, false, null)",
        "update t set v = 5 where id = 1", "update t set b = true, q = false, m = map('z', 0) where id = 4",
        "delete from t where id = 3", "delete from u where id = 1", "update u set v = 3, b = true where id = 2",
        "insert into u values (4, null, null), (0, 1, false)", "update far set id = id + 10 where id < 3",
        "insert into far values (4, date'9999-12-31' + 5), (5, date'2026-01-01')",
    ])  # fmt: skip
    with held_leaves():
        yield history
    history.drop()


def check(history: History, queries: Sequence[str], without_rule: str = "") -> None:
    """By a rule each, or without one for a reason."""
    for query in queries:
        interval = interval_of(history, query, 0, 1)
        try:
            check_found(history, query, 0, 1, read(read_changes(interval)))
        except AssertionError as error:
            raise AssertionError(f"{query}: {error}") from error
        assert [without_rule in reason for reason in interval.fallbacks] == ([True] if without_rule else []), query


KEYS = ("b and q", "b or q", "v is null", "v in (1, 2)", "v between 1 and 2", "s like 'a%'")


def test_keys_are_whole_expressions(small: History) -> None:
    """Whatever operator they are made of, they stay one operand of what compares them."""
    check(small, [f"select {key} as f, count(*) as n from t group by {key}" for key in KEYS])
    check(small, [
        "select id, count(*) over (partition by b and q) as n from t",
        "select t.id, u.id as uid from t left join u on (t.b and t.q) = u.b",
        "select t.id, u.id as uid from t join u on (t.v is null) = u.b",
    ])  # fmt: skip


def test_what_follows_parentheses_is_of_the_query(small: History) -> None:
    check(small, [
        "(select id, v from t) order by id desc limit 2",
        "select * from ((select id, v from t) order by id limit 2)",
        "select id from t where id in ((select id from u) order by id limit 1)",
        "(select id, v from t) union all ((select id, v from u) order by id limit 1)",
        "with x as (select id, v from t) (select * from x) order by id limit 2",
        "(select id, v from t order by id desc limit 3) order by id limit 2",
        "select id, ((select max(v) as w from u) order by w offset 1) as mx from t",
    ])  # fmt: skip
    check(small, ["select id from t where exists ((select 1 from u where u.v = t.v) limit 0)"], "a subquery")


JOINED = "(select id, v from t) x join (select id as w from u) y on x.id = y.w"


def test_joins_in_parentheses(small: History) -> None:
    check(small, [
        f"select v from ({JOINED})",
        f"select x.v, y.w from ({JOINED})",
        "select v from ((select id, v from t) x left anti join (select id as w from u) y on x.id = y.w)",
        f"select id from t where v in (select v from ({JOINED}))",
        "select u.id, t.v from (u join t on u.id = t.id)",
        "select x.id from ((select id from t) x)",
    ])  # fmt: skip
    check(small, [f"select u.id, w from u left join ({JOINED}) on u.v = x.id"], "parentheses")


def test_order_by_takes_aliases_before_columns(small: History) -> None:
    """In expressions, too; but not where a table is named."""
    check(small, [
        "select id, -v as v from t order by v + 0, id limit 2",
        "select id, -v as v from t order by t.v + 0, id limit 2",
        "select id as v, v as w from t order by v * -1 limit 2",
        "select s, -count(*) as v from t group by s order by v + 0, s limit 2",
        "select id, named_struct('v', -id) as x from t order by x.v limit 2",
        "select id, -v as v from t order by transform(array(id), v -> v) limit 2",
    ])  # fmt: skip
    check(small, ["select id, named_struct('v', -id) as t from t order by t.v limit 2"], "both")
    check(small, ["select id, -v as v from t order by (select count(*) from u where u.id < v), id limit 2"], "ORDER BY")


def test_aggregates_of_no_rows(small: History) -> None:
    """What a scalar subquery gives where it finds nothing."""
    of = "select u.id, (select {} from t where t.v = u.v) as n from u"
    null = (
        *("avg(t.id)", "min_by(t.id, t.s)", "first(t.id) ignore nulls", "any(t.b)", "bool_and(t.b)", "stddev(t.id)"),
        *("percentile(t.id, 0.5)", "mean(t.id)", "max(t.id) filter (where t.b)", "regr_avgx(t.v, t.id)"),
    )
    some = ("regr_count(t.v, t.id)", "count(*) filter (where t.b)", "size(collect_set(t.id))")
    check(small, [of.format(call) for call in (*some, f"concat_ws(',', {', '.join(null)})")])
    unknown = ("bitmap_construct_agg(bitmap_bit_position(t.id)) is null", "hll_sketch_agg(t.id) is null")
    check(small, [of.format(call) for call in unknown], "no rows")


def test_maps(small: History) -> None:
    check(small, [
        "select id, explode(m) from t", "select id, posexplode(m) from t", "select id, e.key from t lateral view explode(m) e",
        "select count(*) as n from (select explode(map('a', id)) from t)", "select id, explode(array(v, id)) from t",
        "with x as (select m as mm from t) select explode_outer(mm) from x",
    ])  # fmt: skip
    check(small, ["select m, count(*) as n from t group by m"], "maps")


def test_the_statement_table(small: History) -> None:
    check(small, ["table u", "TABLE `u`"])


@pytest.mark.parametrize("bound", ["", "keys.FEW", "local_rows.MOST_ROWS"])
def test_days_that_python_does_not_know(small: History, monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    if bound:
        monkeypatch.setattr(f"dbt.adapters.streamspark.changes.differentiate.{bound}", 1)
    check(small, ["select cast(d as string) as day, sum(id) as s from far group by d"])
