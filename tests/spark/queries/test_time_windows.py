"""Windows of time, which are rows' filters and generators, by the oracle."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.queries.history import History
from tests.spark.queries.oracle import check_everything

HOUR = "window(at, '1 hour')"
SLIDING = "window(at, '2 hours', '1 hour')"
SESSION = "session_window(at, '2 hours')"


@pytest.fixture(scope="module")
def times(spark: SparkSession) -> Iterator[History]:
    history = History(spark, "time_windows")
    history.table("t", "id int, k int, v int, at timestamp")
    history.table("u", "id int, h timestamp")
    history.run(
        "insert into t values (1, 1, 5, timestamp'2024-01-01 00:10'), (2, 1, 6, timestamp'2024-01-01 01:10'), "
        "(3, 2, 7, timestamp'2024-01-01 05:10'), (4, null, 8, null), (5, null, null, timestamp'2024-01-01 05:20')",
        "insert into u values (1, timestamp'2024-01-01 00:00'), (2, timestamp'2024-01-01 07:00'), (3, null)",
    )
    history.mark()
    history.marked([
        "insert into t values (6, 1, 1, timestamp'2024-01-01 03:00'), (7, 1, 1, null)",
        "update t set at = at + interval 2 hours where id = 3",
    ])  # fmt: skip
    history.marked([
        "update t set at = null where id = 1", "update t set at = timestamp'2024-01-01 05:00' where id = 4",
        "update t set v = v + 10 where id in (2, 6)", "insert into u values (4, timestamp'2024-01-01 01:00')",
    ])  # fmt: skip
    yield history
    history.drop()


@pytest.mark.parametrize(
    "query",
    [
        f"select id, v, {HOUR}.start as h from t",
        f"select id from (select id, {HOUR} as w from t)",
        f"select {HOUR} as w, count(*) as n, sum(v) as s from t group by {HOUR}",
        f"select k, {HOUR}, max(v) as m from t group by 1, 2",
        f"select {HOUR} as w, k, count(*) as n from t group by all having count(*) > 1",
        f"select count(*) as n from t group by k, {HOUR}",
        f"select distinct {HOUR}.end as h from t",
        f"select u.id, x.n from u left join (select {HOUR}.start as h, count(*) as n from t group by 1) x on u.h = x.h",
        f"select id, row_number() over (partition by w order by id) as n from (select id, {HOUR} as w from t)",
        "select id, window(at, '1 hour', '1 hour', '5 minutes') as w from t where id > 1",
        f"select u.id, exists (select 1 from (select {HOUR}.start as h from t) x where x.h = u.h) as e from u",
    ],
)
def test_tumbling_windows_are_projections(times: History, query: str) -> None:
    assert check_everything(times, query) == []


@pytest.mark.parametrize(
    "query",
    [
        f"select id, v, {SLIDING}.start as h from t",
        f"select {SLIDING} as w, count(*) as n from t group by {SLIDING}",
        f"select x.id, x.h, u.id as uid from (select id, {SLIDING}.start as h from t) x left join u on x.h = u.h",
        f"select id, {SESSION} as w from t",
        f"select {SESSION} as w, count(*) as n from t group by {SESSION}",
        f"select k, window_time(w) as h, count(*) as n from (select k, {HOUR} as w from t) group by 1, 2",
    ],
)
def test_others_have_no_rule(times: History, query: str) -> None:
    assert len(check_everything(times, query)) == 1
