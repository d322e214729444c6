"""Keys that equalities tell: of two types, and of NOT IN correlated by one."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes import explain
from dbt.adapters.streamspark.changes.differentiate import keys
from dbt.adapters.streamspark.changes.differentiate.delta import Delta
from dbt.adapters.streamspark.changes.differentiate.differentiation import Differentiation
from dbt.adapters.streamspark.changes.differentiate.local_rows import Kept, keep
from dbt.adapters.streamspark.changes.query.algebra import Operator
from tests.spark.queries.history import History
from tests.spark.queries.test_traps import filled_pair
from tests.spark.queries.traps import check_ledger, of


@pytest.fixture
def never_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """No operator is computed whole at both ends."""

    def whole(d: Differentiation, node: Operator) -> Delta:
        raise AssertionError(f"all rows of {node}")

    monkeypatch.setattr(Differentiation, "whole", whole)


def test_not_in_correlated_by_an_equality_has_keys(history: History, never_whole: None) -> None:
    """A NULL counts among the rows of its key only."""
    pair = filled_pair(history)
    pair.marked(["insert into r values (1, null, 'n')"], ["delete from r where id = 1", "update l set id = 3"])
    check_ledger(pair, "select * from l where k not in (select k from r where r.id = l.id)", [0, 1, 2])


def test_many_keys_of_a_collation_are_no_range_of_bytes(history: History) -> None:
    """There 'B' comes after 'a': what lies between the least and the greatest by their bytes may be nothing."""
    history.table("l", "id int, s string")
    history.run("insert into l select id, concat(if(id % 2 = 0, 'b', 'Z'), id) from range(100)")
    history.marked(["insert into l select id + 100, s from l"], ["update l set s = lower(s) where id > 20"])
    check_ledger(history, "select count(*) as n, max(id) as most from l group by s collate utf8_lcase", [0, 1, 2])


def test_a_collation_that_one_side_of_an_equality_says(history: History, never_whole: None) -> None:
    """It is that of both: 'A' and 'a' are one key. (Of IN with a subquery Spark wants the collation on both sides.)"""
    history.table("l", "id int, s string")
    history.table("r", "id int, s string")
    history.run("insert into l values (1, 'A'), (2, 'b'), (3, null)", "insert into r values (1, 'a'), (2, 'B')")
    history.marked(
        ["insert into r values (3, 'A'), (4, 'c')", "update l set s = 'C' where id = 3"],
        ["delete from r where id = 2", "insert into l values (4, 'B')"],
    )
    for query in (
        *compared("l.s collate utf8_lcase", "r.s")[:3], *compared("l.s", "r.s collate utf8_lcase")[:3],
        "select l.id, r.id rid from l join r on l.s collate utf8_lcase = r.s",
    ):  # fmt: skip
        check_ledger(history, query, [0, 1, 2])


def test_keys_of_two_types(history: History) -> None:
    """'1' and '01' are both 1: a key is not what it is written as."""
    history.table("l", "id int, k int")
    history.table("r", "k string, w int")
    history.run("insert into l values (1, 1), (2, 2)", "insert into r values ('1', 10), ('01', 20)")
    history.marked(["insert into r values ('02', 5), (' 2', 6)"], ["delete from r where k = '1'", "update l set k = 2"])
    for query in (
        "select l.id, r.w from l join r on l.k = r.k", "select l.id, r.w from l left join r on l.k = r.k",
        "select l.id from l where exists (select 1 from r where r.k = l.k)", "select l.id from l where k not in (select k from r)",
        "select l.id from l where k in (select k from r)", "select l.id, (select sum(w) from r where r.k = l.k) s from l",
        "select l.id, exists (select 1 from r where r.k = l.k) s from l",
    ):  # fmt: skip
        check_ledger(history, query, [0, 1, 2])


def test_keys_of_two_types_have_a_rule(history: History, never_whole: None) -> None:
    """They are compared in the type in which `=` compares them; rows without a key are rows like others."""
    history.table("l", "id int, n int, d decimal(10,2), day date, f double, s string, a array<int>")
    history.table("r", "id int, n bigint, d decimal(12,4), at timestamp, a array<bigint>")
    row_of_l = "({0}, {0}, {0}, date'2026-01-0{0}', {0}, ' 0{0}', array({0}))"
    row_of_r = "({0}, {0}, {0}, timestamp'2026-01-0{0} 00:00:00', array({0}))"
    history.run(
        f"insert into l values {row_of_l.format(1)}, {row_of_l.format(2)}, (9, null, null, null, null, null, null)",
        f"insert into r values {row_of_r.format(1)}, {row_of_r.format(3)}, (3, 2, 2.5, timestamp'2026-01-02 01:00:00', array(2))",
    )
    history.marked(
        [f"insert into r values {row_of_r.format(2)}, (9, null, null, null, null)"],
        ["delete from r where id in (1, 9)", f"insert into l values {row_of_l.format(3)}"],
    )
    pairs = (("l.n", "r.d"), ("l.d", "r.d"), ("l.day", "r.at"), ("l.f", "r.n"), ("l.s", "r.n"), ("l.a", "r.a"))
    for query in (query for pair in pairs for query in compared(*pair)):
        assert explain(history.session, query, history.points[0]).fallbacks == ()
        check_ledger(history, query, [0, 1, 2])


def compared(left: str, right: str) -> tuple[str, ...]:
    return (
        f"select l.id, r.id rid from l full join r on {left} = {right}",
        f"select l.id, r.id rid from l left join r on {left} <=> {right}",
        f"select l.id from l where not exists (select 1 from r where {left} = {right})",
        f"select l.id from l where {left} not in (select {right} from r where {right} is not null)",
    )


def test_keys_that_are_looked_up_by_their_ranges(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many keys, here more than two, lie together in several places."""
    monkeypatch.setattr(keys, "LISTED", 2)
    columns = "id int, n int, day date, amount decimal(9, 2), text string"
    values = "cast(id as int), cast(id as int), date_add(date'2020-01-01', cast(id as int)), id * 1.5, concat('k', id)"
    history.table("l", columns)
    history.table("r", columns)
    places = "(id < 6 or id between 400 and 403 or id > 995)"
    history.run(f"insert into l select {values} from range(1, 1001) where id % 3 = 0 or {places}")
    history.run(
        f"insert into r select {values} from range(1, 1001)", "insert into l values (0, null, null, null, null)"
    )
    history.marked(
        [f"update l set id = -id where {places}", "insert into r values (0, null, null, null, null)"],
        [f"delete from l where {places}", "update r set id = id + 1 where id % 200 = 0"],
    )
    for key in ("n", "day", "amount", "text"):
        check_ledger(history, f"select l.id, r.id rid from l join r on l.{key} = r.{key}", [0, 1, 2])
        check_ledger(history, f"select l.id, r.id rid from l left join r on l.{key} <=> r.{key}", [0, 1, 2])
        check_ledger(history, f"select {key}, max(id) m from l group by {key}", [0, 1, 2])


def test_a_key_that_is_no_number(history: History) -> None:
    """ANSI mode raises when it compares 'x' with 1; here another condition keeps the row from it."""
    history.table("l", "id int, k int")
    history.table("r", "id int, k string, ok boolean")
    history.run("insert into l values (1, 1), (2, 2)", "insert into r values (1, '1', true), (2, 'x', false)")
    history.marked(["insert into r values (3, '02', true), (4, 'y', false)"], ["delete from r where not ok"])
    query = "select l.id, r.id rid from l left join (select * from r where ok) r on l.k = r.k"
    check_ledger(history, query, [0, 1, 2])
    history.run("update r set ok = true", "insert into r values (5, 'z', true)")
    history.mark()
    with pytest.raises((PySparkException, Py4JError), match="CAST_INVALID_INPUT"):
        of(history, query, 2, 3)


def test_keys_of_two_types_without_ansi(history: History) -> None:
    """There '1.5' equals the int 1, 'x' is the int NULL, and 1 IN ('01') is false, since IN compares texts."""
    history.table("l", "id int, k int")
    history.table("r", "k string")
    history.run("insert into l values (1, 1), (2, 2)", "insert into r values ('1.5')")
    history.marked(["insert into r values ('x'), ('2'), ('01')"], ["delete from r where k <> '2'"])
    for session in (history.session, *history.pasts):
        session.conf.set("spark.sql.ansi.enabled", "false")
    for query in (
        "select l.id, r.k from l full join r on l.k = r.k", "select id from l where k not in (select k from r)",
        "select id from l where exists (select 1 from r where r.k = l.k)", "select id from l where k in (select k from r)",
    ):  # fmt: skip
        check_ledger(history, query, [0, 1, 2])
        expected = ("an IN that compares two types without ANSI mode",) if " in (" in query else ()
        assert explain(history.session, query, history.points[0]).fallbacks == expected


@pytest.mark.usefixtures("held")
def test_keys_of_bytes_that_are_no_text(history: History) -> None:
    """X'FF' and X'FE' are two texts to Spark, and one to Python and to JSON, which know neither."""
    history.table("t", "id int, s string")
    history.table("u", "s string, w int")
    text = "cast(X'{}' as string)".format
    history.run(
        f"insert into t values (1, {text('FF')}), (2, {text('FE')}), (3, {text('C3A9')}), (4, null), (5, '\ufffd')"
    )
    history.run(f"insert into u values ({text('FF')}, 1), ({text('C3A9')}, 2)")
    history.marked(
        [f"insert into t values (6, {text('FF')})", "update t set id = 7 where id = 5"],
        [f"insert into t values (8, {text('FE')}), (9, 'x')", f"update u set s = {text('FE')} where w = 1"],
    )
    for query in (
        "select hex(s) h, n, i from (select s, count(*) n, sum(id) i from t group by s)",
        "select t.id, u.w from t left join u on t.s = u.s",
        "select hex(s) h from (select s from t except all select s from u)",
        "select id, count(*) over (partition by s) n from t",
    ):
        check_ledger(history, query, [0, 1, 2])


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("escaped", ["true", "false"])
def test_keys_that_need_escapes(history: History, escaped: str) -> None:
    """With spark.sql.parser.escapedStringLiterals a backslash is one, and a quote cannot be written after it."""
    history.table("t", "id int, s string")
    history.run(r"insert into t values (1, 'a\\b'), (2, 'it\'s'), (3, '$\{x}'), (4, 'x\ny'), (5, '%_'), (6, '\u0000')")
    history.marked(["update t set id = id + 100"], [r"delete from t where s like 'it%' or id = 101"])
    for session in (history.session, *history.pasts):
        session.conf.set("spark.sql.parser.escapedStringLiterals", escaped)
    for query in ("select s, sum(id) x from t group by s", "select id, count(*) over (partition by s) n from t"):
        check_ledger(history, query, [0, 1, 2])


def test_ranges_of_bytes_that_are_no_text(spark: SparkSession) -> None:
    frame = spark.sql("select if(id = 0, cast(X'FF' as string), concat('k', id)) as s, id from range(10)")
    text, number = keys.known_columns(Kept(frame, 10))
    assert (text.values, text.ranges, text.test("s")) == (None, None, None)
    assert number.ranges is not None


@pytest.mark.parametrize("few", [0, 10_000])
def test_many_keys_are_known_as_few_are(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    """NULL is a key; a column of doubles is none that SQL could list."""
    monkeypatch.setattr(keys, "FEW", few)
    columns = "id % 7 as i, cast(id % 5 / 10 as decimal(4,1)) as d, date_add(date'2026-01-01', cast(id % 3 as int)) as `a day`"
    more = "if(id % 2 = 0, null, concat('s', id % 4)) as s, cast(id as double) as f"
    kept = keep(spark.sql(f"select {columns}, {more} from range(3000)"))
    found = [None if column.values is None else set(column.values) for column in keys.known_columns(kept)]
    assert found == [
        set(range(7)), {Decimal(n) / 10 for n in range(5)}, {date(2026, 1, n) for n in (1, 2, 3)}, {None, "s1", "s3"}, None,
    ]  # fmt: skip
