"""Which queries a stream takes, and what it makes of them. No Spark."""

from __future__ import annotations

import pytest

from dbt.adapters.streamspark.changes.projection import Projection
from dbt.adapters.streamspark.errors import UnsupportedQuery
from dbt.adapters.streamspark.streams.base_query import parse_base_query

SAME_STREAM = [
    ("select * from db.t", "select * from `db`.`t`"),
    ("SELECT o.* FROM db.t AS o;", "select * from `db`.`t`"),
    ("(select * from db.t)", "select * from `db`.`t`"),
    ("select *, x + 1 as y from t", "select *, x + 1 as `y` from `t`"),
    ("select * except (a, `b c`) from t", "select * except (`a`, `b c`) from `t`"),
    ("select a, b c, `d e`, t.f as g from db.t", "select `a` as `a`, b as `c`, `d e` as `d e`, f as `g` from `db`.`t`"),
    ("select db.t.a, t.s.f from db.t", "select `a` as `a`, s.f as `f` from `db`.`t`"),
    ("select o.s.f as z from t o where o.a > 1", "select s.f as `z` from `t` where a > 1"),
    ("select a from `my db`.`select`", "select `a` as `a` from `my db`.`select`"),
    ("select id from delta.`/tmp/x y`", "select `id` as `id` from `delta`.`/tmp/x y`"),
    ("select `from` as `where`, `a``b` from `table`", "select `from` as `where`, `a``b` as `a``b` from `table`"),
    ("select a -- one\n , b /* two */ as c from t -- end", "select `a` as `a`, b as `c` from `t`"),
    (r"select * from t where b = 'it\'s -- no /* comment'", r"select * from `t` where b = 'it\'s -- no /* comment'"),
    (r"select r'\d' as p, x'00ff' as q from t", r"select r'\d' as `p`, x'00ff' as `q` from `t`"),
    ("select date'2020-01-01' as d, 1e3 as f from t", "select date'2020-01-01' as `d`, 1e3 as `f` from `t`"),
    ("select extract(year from d) as y from t", "select extract(year from d) as `y` from `t`"),
    ("select m['k'] as v, arr[0] as w from t", "select m['k'] as `v`, arr[0] as `w` from `t`"),
    ("select transform(a, e -> e.x) as xs from t", "select transform(a, e -> e.x) as `xs` from `t`"),
    (
        "select case when a then b end as c, a::int as i from t",
        "select case when a then b end as `c`, a::int as `i` from `t`",
    ),
    ("select a as count, b as date, c order from t", "select a as `count`, b as `date`, c as `order` from `t`"),
]

REFUSED = [
    ("select a from t join u on t.id = u.id", "JOIN"),
    ("select a from t, u", "JOIN"),
    ("select k, count(*) as n from t group by k", "GROUP BY"),
    ("select count(*) as n from t", "an aggregate: count()"),
    ("select distinct a from t", "DISTINCT"),
    ("select row_number() over (order by a) as n from t", "a window function"),
    ("select a from t qualify true", "QUALIFY"),
    ("select a from t limit 3", "LIMIT"),
    ("select a from t order by a", "ORDER BY"),
    ("select a from (select * from t)", "a subquery in FROM"),
    ("select a from t where a in (select b from u)", "a subquery"),
    ("select a from t union all select a from u", "UNION"),
    ("with c as (select * from t) select * from c", "WITH"),
    ("select explode(a) as e from t", "a generator: explode()"),
    ("select stack(2, a, b) as e from t", "a generator: stack()"),
    ("select json_tuple(a, 'x', 'y') as (x, y) from t", "a generator: json_tuple()"),
    ("select window(a, '2 hours', '1 hour') as w from t", "a window of time: window()"),
    ("select a from t lateral view explode(b) x as y", "LATERAL VIEW"),
    ("select a from t tablesample (10 percent)", "TABLESAMPLE"),
    ("select a from t version as of 3", "a table at a fixed version"),
    ("select a from range(10)", "a function in FROM"),
    ("select s.* from t", "all fields of a struct"),
    ("select a + 1 from t", "an expression without a name: a + 1"),
    ("select _metadata.file_path as f from t", "a file's _metadata"),
    ("select /*+ coalesce(1) */ a from t", "a hint"),
    ("select 1 as a", "no FROM"),
    ("values (1)", "VALUES"),
    ("delete from t", "DELETE"),
    ("select a from t; select b from t", "2 statements"),
]

VOLATILE = [
    "rand()",
    "uuid()",
    "current_timestamp()",
    "current_timestamp",
    "now()",
    "current_date",
    "unix_timestamp()",
    "timestamp'now'",
    "' Today'",
]


@pytest.mark.parametrize(("sql", "text"), SAME_STREAM)
def test_projection_and_selection_keep_the_users_text(sql: str, text: str) -> None:
    assert parse_base_query(sql).text == text
    assert parse_base_query(text).text == text


@pytest.mark.parametrize(("sql", "found"), REFUSED)
def test_anything_else_is_refused_by_name(sql: str, found: str) -> None:
    with pytest.raises(UnsupportedQuery, match="its query has") as error:
        parse_base_query(sql)
    assert found in str(error.value)


@pytest.mark.parametrize("call", VOLATILE)
@pytest.mark.parametrize("sql", ["select {} as x from t", "select a from t where d > {}"])
def test_functions_without_a_fixed_result_are_refused(sql: str, call: str) -> None:
    with pytest.raises(UnsupportedQuery, match="another value each time"):
        parse_base_query(sql.format(call))


@pytest.mark.parametrize("sql", ["selec * from t", "select 'open from t", "", "select a b c from t"])
def test_text_that_is_no_query(sql: str) -> None:
    with pytest.raises(UnsupportedQuery):
        parse_base_query(sql)


def test_all_columns_are_whatever_the_table_has() -> None:
    assert parse_base_query("select * from t where a > 1").projection(["a", "b"]) == Projection(None, "a > 1")


def test_star_with_more_or_less_is_spelt_out() -> None:
    more = parse_base_query("select *, a + 1 as c from t").projection(["a", "b"])
    assert more.columns == (("a", "`a`"), ("b", "`b`"), ("c", "a + 1"))
    less = parse_base_query("select * except (B) from t").projection(["a", "b"])
    assert less.columns == (("a", "`a`"),)


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("select a, b as A from t", "the column name A twice"),
        ("select *, b as a from t", "the column name a twice"),
        ("select a + 1 as c, c + 1 as d from t", "`c` used in another expression"),
    ],
)
def test_names_that_clash(sql: str, found: str) -> None:
    with pytest.raises(UnsupportedQuery, match=found):
        parse_base_query(sql).projection(["a", "b"])


def test_a_name_that_is_a_column_too_is_the_column() -> None:
    query = parse_base_query("select a + 1 as b, b + 1 as d from t")
    assert query.projection(["a", "b"]).columns == (("b", "a + 1"), ("d", "b + 1"))
