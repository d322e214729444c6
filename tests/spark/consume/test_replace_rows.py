"""Rows replaced in place: the target holds just the new rows, by one commit, unless two of them have one key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import Commit, TableLog
from dbt.adapters.streamspark.consume.confs import consumption_confs
from dbt.adapters.streamspark.consume.consumption import Consumption
from dbt.adapters.streamspark.consume.failures import was_first
from dbt.adapters.streamspark.consume.replace_rows import replace_rows
from dbt.adapters.streamspark.consume.replacement import Replacement
from dbt.adapters.streamspark.consume.user_metadata import read
from tests.consuming import path_table
from tests.copies import copied, made_once
from tests.spark.jobs import jobs_of

CONSUMER = "streamspark/model.t.replaced"
TRACKED = "'delta.enableDeletionVectors' = 'true', 'delta.enableRowTracking' = 'true'"
ROWS = "cast(id as int) as id, cast(id % 2 as tinyint) as k, date'2026-01-01' + cast(id as int) as d, id % 3 as p"
KINDS = {
    "plain": "",
    "row ids": f"tblproperties ({TRACKED})",
    "partitioned": f"partitioned by (p) tblproperties ({TRACKED})",
    "feed": "tblproperties ('delta.enableChangeDataFeed' = 'true')",
    "column mapping": f"tblproperties ({TRACKED}, 'delta.columnMapping.mode' = 'name')",
}
NEW = f"select {ROWS} from range(3, 30)"


@dataclass
class Case:
    """A table of a kind, and the consumption that replaces its rows; `resolved` is the version that it saw, None for
    the newest."""

    spark: SparkSession
    table: str
    n: int = 1
    resolved: int | None = None

    def replace(self, rows: str = NEW, *keys: str) -> dict[str, int] | None:
        seen = self.log.version if self.resolved is None else self.resolved
        new = Replacement(rows, keys)
        consumption = Consumption(CONSUMER, self.table, self.n, "i", (), rebuild=True, replacement=new, seen=seen)
        with consumption_confs(self.spark, consumption):
            return replace_rows(self.spark, consumption)

    @property
    def log(self) -> TableLog:
        return TableLog(self.spark, self.table)

    @property
    def commit(self) -> Commit:
        return self.log.commit(self.log.version)

    def rows(self, sql: str = "") -> list[str]:
        return sorted(str(row) for row in self.spark.sql(sql or f"select * from {self.table}").collect())


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The table of a kind, which is made once; rows are deleted from one of its two files."""

    def statements(kind: str, table: str) -> list[str]:
        return [
            f"create table {table} using delta {KINDS[kind]} as select {ROWS} from range(0, 5)",
            f"insert into {table} select {ROWS} from range(5, 20)",
            f"delete from {table} where id in (3, 8)",
        ]

    return made_once(spark, tmp_path_factory, statements)


@pytest.fixture
def make(spark: SparkSession, made: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Case]:
    def case(kind: str) -> Case:
        copied(made(kind), tmp_path / "table")
        return Case(spark.newSession(), path_table(tmp_path, "table"))

    return case


@pytest.mark.parametrize("kind", KINDS)
def test_the_target_holds_the_new_rows_and_the_commit_says_so(make: Callable[[str], Case], kind: str) -> None:
    case = make(kind)
    metadata, version = case.log.snapshot().metadata().json(), case.log.version
    keys = () if kind == "column mapping" else ("K", "id", "d")
    assert case.replace(NEW, *keys) == {"num_affected_rows": 27}
    assert case.rows() == case.rows(NEW)
    assert (case.log.version, case.log.snapshot().metadata().json()) == (version + 1, metadata)
    assert (case.commit.operation, case.commit.txns) == ("WRITE", {CONSUMER: 1})
    assert case.commit.info["operationMetrics"]["numOutputRows"] == "27"
    consumed = read(case.commit, CONSUMER)
    assert consumed is not None and consumed.n == 1
    case.n = 2
    assert case.replace(f"{NEW} where false", *keys) is not None
    assert case.rows() == []


def test_rows_that_came_have_ids_of_their_own(make: Callable[[str], Case]) -> None:
    case = make("row ids")
    ids = f"select _metadata.row_id from {case.table}"
    before = case.rows(ids)
    case.replace(NEW, "id")
    after = case.rows(ids)
    assert len(set(after)) == 27 and not {*before} & {*after}


def test_a_change_data_feed_tells_what_went_and_what_came(make: Callable[[str], Case]) -> None:
    case = make("feed")
    case.replace(NEW, "id")
    feed = case.spark.read.option("readChangeFeed", True).option("startingVersion", case.log.version)
    counts = feed.table(case.table).groupBy("_change_type").count().collect()
    assert {tuple(row) for row in counts} == {("delete", 18), ("insert", 27)}


def test_it_takes_one_job_more_than_the_rows(make: Callable[[str], Case]) -> None:
    """The keys are seen by the job that writes; the other is Delta's look at the files of the table."""
    case = make("plain")
    case.replace(NEW, "id")
    case.n = 2
    with jobs_of(case.spark) as jobs:
        assert case.replace(NEW, "id") is not None
    assert jobs.count <= 2


@pytest.mark.parametrize(
    "rows",
    [
        f"{NEW} union all {NEW}",
        f"select {ROWS} from range(3, 30) union all select {ROWS} from range(29, 30)",
        f"{NEW} union all select null, null, null, null",  # a key of its own, but nobody knows
        f"{NEW} union all select {ROWS} from range({2**20 + 7}, {2**20 + 8})",  # has the bits of 7
    ],
)
def test_keys_that_are_not_seen_to_be_unique_are_left_to_the_statement(make: Callable[[str], Case], rows: str) -> None:
    case = make("plain")
    held, version = case.rows(), case.log.version
    assert case.replace(rows, "id") is None
    assert (case.rows(), case.log.version) == (held, version)
    assert case.replace(rows) is not None  # where nobody asks


@pytest.mark.parametrize(
    ("kind", "rows", "keys"),
    [
        ("plain", "select *, 1 as more from ({})", ["id"]),
        ("plain", "select id, d, k, p from ({})", ["id"]),
        ("plain", "select id, cast(k as int) as k, d, p from ({})", ["id"]),
        ("column mapping", "{}", ["id"]),  # its files have other names for the columns
    ],
)
def test_other_columns_are_left_to_the_statement(
    make: Callable[[str], Case], kind: str, rows: str, keys: list[str]
) -> None:
    case = make(kind)
    assert case.replace(rows.format(NEW), *keys) is None


@pytest.mark.parametrize(
    "columns",
    [
        "id int, k tinyint, d date, p bigint not null",
        "id int, k tinyint, d date, p bigint generated always as (cast(id % 3 as bigint))",
        "id int, k tinyint, d date, p bigint) using delta tblproperties ('delta.constraints.some' = 'id >= 0'",
    ],
)
def test_a_table_with_rules_is_left_to_the_statement(spark: SparkSession, tmp_path: Path, columns: str) -> None:
    case = Case(spark.newSession(), path_table(tmp_path, "table"))
    case.spark.sql(f"create table {case.table} ({columns})" + ("" if "using" in columns else " using delta"))
    case.spark.sql(f"insert into {case.table} (id, k, d, p) {NEW}")
    assert case.replace(NEW) is None


def test_a_number_that_is_taken_is_not_committed_again(make: Callable[[str], Case]) -> None:
    case = make("plain")
    case.resolved = case.log.version
    assert case.replace() is not None
    version = case.log.version
    assert case.replace() is None
    assert case.log.version == version


@pytest.mark.parametrize(
    "statement",
    ["insert into {} select * from {} limit 1", "delete from {} where id = 1", "update {} set k = 7 where id = 19"],
)
def test_another_writer_in_between_is_a_conflict(
    make: Callable[[str], Case], monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    case = make("plain")
    module = __import__("dbt.adapters.streamspark.consume.replace_rows", fromlist=["step"])
    other = case.spark.newSession()
    sql = statement.replace("{}", case.table)
    monkeypatch.setattr(module, "step", lambda name: other.sql(sql).collect())
    with pytest.raises((PySparkException, Py4JError)) as raised:
        case.replace(NEW, "id")
    assert was_first(raised.value)


def test_an_error_in_the_rows_is_raised_and_nothing_is_written(make: Callable[[str], Case]) -> None:
    case = make("plain")
    version = case.log.version
    with pytest.raises((PySparkException, Py4JError), match="no such row"):
        case.replace(NEW.replace("cast(id as int) as id", "if(id = 9, raise_error('no such row'), 1) as id"), "id")
    assert case.log.version == version


def test_a_cached_table_shows_the_new_rows(make: Callable[[str], Case]) -> None:
    case = make("plain")
    path, name = case.table.removeprefix("delta."), f"replaced_{uuid4().hex[:8]}"
    case.spark.sql(f"create table {name} using delta location {path.replace('`', chr(39))}")
    case.spark.sql(f"cache table {name}")
    try:
        case.table = name
        assert case.replace(NEW, "id") is not None
        assert case.rows() == case.rows(NEW)
    finally:
        case.spark.sql(f"drop table {name}")


def test_what_reads_the_target_itself_reads_it_as_it_was(make: Callable[[str], Case]) -> None:
    case = make("plain")
    before = case.rows(f"select id from {case.table} where id > 4")
    assert case.replace(f"select * from {case.table} where id > 4", "id") is not None
    assert case.rows(f"select id from {case.table}") == before
