"""Functions and names that Spark's own rules make something else of than the parser does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.errors import UnsupportedQuery
from tests.spark.queries.history import History
from tests.spark.queries.oracle import check_everything, check_interval

COLUMNS = (
    "k int, g int, i int, s string, ai array<int>, b array<string>, v array<float>, x int, st struct<f: array<int>, n: int>, "
    "m map<string, int>, `current_date` date, `localtimestamp` timestamp_ntz, `user` string"
)
TIMES = "date'2001-01-01', timestamp_ntz'2001-01-01', 'ann'"
CAPTURED = ", ".join(f"transform(ai, c{n} -> c{n} + i) as y{n}" for n in range(1, 6))


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> Iterator[History]:
    history = History(spark, "functions")
    history.table("t", COLUMNS)
    history.table("u", "id int, w int")
    rest = "array('p', 'q'), array(1f), 100, named_struct('f', array(7), 'n', 8), map('a', 9)"
    history.run(
        f"insert into t values (1, 1, 10, 'a', array(1, 2), {rest}, {TIMES}), (2, 1, 20, 'b', array(3), {rest}, {TIMES})",
        "insert into u values (1, 1), (2, 5)",
    )
    history.marked(
        ["update t set i = 11 where k = 1", "insert into t select 3, 2, 30, 'c', ai, b, v, x, st, m, `current_date`, "
         "`localtimestamp`, 'bob' from t where k = 2"],
        ["update t set ai = array(4, 5) where k = 2", "delete from t where k = 1", "update u set w = 4 where id = 1"],
    )  # fmt: skip
    yield history
    history.drop()


@pytest.mark.parametrize(
    "query",
    [
        "select k, to_json((i, s, t.st.n, m['a'], i + 1)) as j from t",
        "select k, to_json(struct(i, st.f, m.a, i as y, sort_array(ai))) as j from t",
        "select k, to_json(((i, s), (k, g + 1))) as j, (i, s).i as y from t",
        "select k, to_json(arrays_zip(ai, t.b, st.f, array(1), sort_array(ai))) as j from t",
        "select k, arrays_zip(ai, b).ai as y, arrays_zip(ai, null) as z from t",
        "select k, z.ai, z.b from t lateral view explode(arrays_zip(ai, b)) e as z",
        "select k, transform(arrays_zip(ai, b), z -> z.ai + i) as y from t",
        "select k, to_json(transform(ai, y -> struct(y, i))) as j, to_json(transform(ai, y -> (y, i))) as l from t",
        "select g, to_json(max((k, s))) as j, to_json((g, max(k))) as l, to_json(struct(max(k))) as m from t group by g",
        "select g, to_json(arrays_zip(collect_list(i), array(g))) as j from t where k < 3 group by g",
        "select k, to_json(max((i, s)) over (partition by g)) as j from t",
        "select k from t where (k, i) in ((1, 11), (2, 20)) or (g, i) = (2, 30)",
        "select (g, x) as both, count(*) as n from t group by (g, x)",
        "select typeof((i, s)) as y from t",
    ],
)
def test_fields_are_called_as_spark_calls_them(rows: History, query: str) -> None:
    assert check_everything(rows, query) == []


@pytest.mark.parametrize(
    "query",
    [
        "select k, transform(ai, X -> x + 1) as y from t",
        "select i as y, transform(ai, Y -> y + 1) as z from t",
        "select k, id from t left join u on exists(t.ai, X -> x = u.w)  and t.k = u.id",
        "select k, aggregate(ai, 0, (Acc, X) -> acc + x * I) as y from t",
        "select k, transform(array(st), X -> x.n + i) as y from t",
        "select k, transform(ai, x -> transform(ai, X -> x + 1)) as y from t",
        f"select k, {CAPTURED} from t",
    ],
)
def test_variables_come_before_columns(rows: History, query: str) -> None:
    assert check_everything(rows, query) == []


@pytest.mark.parametrize(
    "query",
    [
        "select k, current_date as d, LOCALTIMESTAMP from t",
        "select k from t where current_date < date'2010-01-01' and user = 'ann'",
        "select user, count(*) as n from t group by user",
        "select k, i as current_time from t order by current_time desc limit 1",
    ],
)
def test_a_column_comes_before_a_function_without_parentheses(rows: History, query: str) -> None:
    assert check_everything(rows, query) == []


def test_a_column_and_a_clock_in_one_query(rows: History) -> None:
    check_everything(rows, "select k, `current_date` as d from t where `current_date` < current_date()")
    check_everything(rows, "select id, current_date as current_date, 1 as `user` from u")
    with pytest.raises(
        UnsupportedQuery, match=r"current_date is no column in one place .* write current_date\(\) for it"
    ):
        two = "select k from t where current_date < date'2010-01-01' union all select id from u where current_date is not null"
        check_interval(rows, two, 0, 1)


@pytest.mark.parametrize(
    "query",
    [
        "select g, max(s) like any ('a%', 'z%') as r from t group by g",
        "select g, max(s) not ilike any ('A%') as r from t group by g having min(s) like some ('a', 'b', 'c')",
        "select k, s like any ('a%', 'z%') as r from t",
        "select vector_sum(v) as r from t",
        "select g, vector_avg(v) as r from t group by g",
    ],
)
def test_aggregates_and_what_looks_like_one(rows: History, query: str) -> None:
    assert check_everything(rows, query) == []


@pytest.mark.parametrize(
    "query",
    [
        "select k, explode(collection => ai) as e from t",
        "select k, posexplode_outer(collection => ai) as (p, c) from t",
        "select k, mask(s, lowerChar => 'q') as y from t",
    ],
)
def test_named_arguments(rows: History, query: str) -> None:
    assert check_everything(rows, query) == []


WRITTEN = {
    "day": "date_sub(`current_date`, k)", "month": "date_trunc('month', `localtimestamp`)", "begun": "trunc(`current_date`, 'mm')",
    "text": "date_format(`current_date`, 'y-M')", "number": "to_char(i, '999')", "place": "instr(s, 'b')", "digits": "log10(i)",
    "date": "to_date(concat('2001-', k, '-1'), 'yyyy-M-d')", "json": "variant_get(parse_json(to_json(st)), '$.n', 'int')",
}  # fmt: skip


def test_functions_that_the_parser_would_write_as_others_have_rules(rows: History) -> None:
    calls = ", ".join(f"{call} as {name}" for name, call in WRITTEN.items())
    assert (
        check_everything(rows, f"select k, {calls} from t where date_sub(`current_date`, 1) < date'2010-01-01'") == []
    )
    grouped = (
        "select date_trunc('year', `current_date`) as y, min(to_date(concat('2001-', k, '-1'), 'yyyy-M-d')) as first, "
    )
    lists = "listagg(s) within group (order by k) as l, percentile_cont(0.5) within group (order by i) as p"
    assert check_everything(rows, f"{grouped}{lists}, count(*) as n from t group by all") == []


@pytest.mark.parametrize(
    "query",
    [
        "select g, count(*) as n, count(*) over (partition by g % 2) as w from t group by g",
        "select k, sum(i) as s, sum(k) as t, sum(k) over (partition by k % 2 order by sum(i)) as w from t group by k",
        "select k, max(i) filter (where g > 0) as m, max(k) filter (where k > 1) over (partition by max(g)) as w from t group by k",
    ],
)
def test_a_window_over_what_is_spelled_as_an_aggregate(rows: History, query: str) -> None:
    assert check_everything(rows, query) == []


def test_a_correlated_in_of_a_window_is_computed_whole(rows: History) -> None:
    query = "select k from t where t.i in (select max(w) over (partition by id % 2) from u where u.id = t.k)"
    assert check_everything(rows, query) != []


def test_structs_with_two_fields_of_one_name(rows: History) -> None:
    both = "named_struct('z', if(k = 1, 1, null), 'z', if(k = 2, 1, null))"
    assert check_everything(rows, f"select {both} as s, count(*) as n from t group by {both}") == []


@pytest.mark.parametrize("call", ["system.builtin.upper(s)", "system.builtin.sum(i) over (partition by g)"])
def test_functions_that_are_called_by_their_whole_names(rows: History, call: str) -> None:
    check_everything(rows, f"select k, {call} as y from t")


def test_a_clock_that_is_called_by_its_whole_name(rows: History) -> None:
    with pytest.raises(UnsupportedQuery, match="tells the time, and has a part without a rule"):
        check_interval(rows, "select k, system.builtin.localtimestamp() as y from t", 0, 1)


@pytest.mark.parametrize("call", ["to_json(struct(st.*))", "identifier('i')"])
def test_names_that_only_spark_knows(rows: History, call: str) -> None:
    assert check_everything(rows, f"select k, {call} as y from t")


@pytest.mark.parametrize(
    "call",
    [
        "base64(aes_encrypt(s, '0000111122223333'))", "aes_encrypt(s, '0000111122223333', 'CBC', 'DEFAULT', '')",
        "current_path()", "timestamp'10:30'", "cast('T1:30:00' as timestamp)", "to_timestamp('10:30')", "to_timestamp_ltz('T1:30')",
        "(select hex(kll_sketch_agg_bigint(id)) from u)",
    ],
)  # fmt: skip
def test_what_gives_another_value_each_time_is_refused(rows: History, call: str) -> None:
    with pytest.raises(UnsupportedQuery, match="each time"):
        check_interval(rows, f"select k, {call} as y from t", 0, 1)


def test_what_is_encrypted_without_chance(rows: History) -> None:
    ecb, cbc = "'ECB', 'PKCS'", "'CBC', 'PKCS', unhex('00000000000000000000000000000000')"
    query = f"select k, aes_encrypt(s, '0000111122223333', {ecb}) as e, aes_encrypt(s, '0000111122223333', {cbc}) as c from t"
    assert check_everything(rows, query) == []
