"""A merge by position leaves what Delta's own MERGE leaves: the same rows, row ids and answer, in one commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession
from pyspark.sql.types import IntegerType

from dbt.adapters.streamspark.changes.differentiate import local_rows
from dbt.adapters.streamspark.changes.differentiate.keys import Column
from dbt.adapters.streamspark.changes.differentiate.local_rows import keep
from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.projection import Projection
from dbt.adapters.streamspark.changes.readers.endpoint_diff import endpoint_diff
from dbt.adapters.streamspark.changes.removed_rows import _held, removed_rows
from dbt.adapters.streamspark.consume import members
from dbt.adapters.streamspark.consume.confs import consumption_confs
from dbt.adapters.streamspark.consume.consumption import Consumption, StreamRead
from dbt.adapters.streamspark.consume.failures import was_first
from dbt.adapters.streamspark.consume.held_source import stage
from dbt.adapters.streamspark.consume.merge import NOT_SO_SIMPLE, Merge, When
from dbt.adapters.streamspark.consume.merge_by_position import merge_by_position
from dbt.adapters.streamspark.consume.user_metadata import read
from tests.consuming import path_table
from tests.copies import copied, made_once
from tests.spark.jobs import jobs_of

CONSUMER = "streamspark/model.t.merged"
VECTORS = "'delta.enableDeletionVectors' = 'true'"
TRACKED = f"{VECTORS}, 'delta.enableRowTracking' = 'true'"
ROWS = "select cast(id as int) as id, concat('v', id) as v, cast(id % 3 as int) as p, if(id % 2 = 0, null, id) as n"
KINDS = {
    "plain": f"tblproperties ({VECTORS})",
    "row ids": f"tblproperties ({TRACKED})",
    "partitioned": f"partitioned by (q) tblproperties ({TRACKED})",
    "column mapping": f"tblproperties ({TRACKED}, 'delta.columnMapping.mode' = 'name')",
}
SOURCE = (
    "select * from values (1, 'x1', 'update'), (4, 'x4', 'update'), (7, 'v7', 'same'), (11, '', 'delete'), "
    "(null, 'x', 'update'), (101, 'new', 'update'), (102, 'gone', 'delete'), (12, 'x12', 'update') as s(id, v, what)"
)
ASKED = ("id = 7", "id = 19", "id is null", "n is null", "v = 'x12'")
CHANGED = {"id": "s.id", "v": "s.v", "p": "s.id % 3", "n": "cast(s.id * 2 as bigint)", "q": "concat('a b/%', s.id % 2)"}


@dataclass
class Case:
    """One table twice: for Delta's MERGE, and for the merge by position. `resolved` is the version that the consumption
    saw, None for the newest; `made` gives the table of a kind."""

    spark: SparkSession
    path: Path
    made: Callable[[str], Path]
    n: int = 0
    resolved: int | None = None

    def make(self, kind: str) -> Case:
        for name in ("by_delta", "by_position"):
            copied(self.made(kind), self.path / name)
        return self

    @property
    def tables(self) -> tuple[str, str]:
        return path_table(self.path, "by_delta"), path_table(self.path, "by_position")

    def merge(self, target: str, **changes: Any) -> Merge:
        matched = [When("s.what = 'delete'", None), When("s.what = 'update'", CHANGED)]
        merge = Merge(target, "merge_source", [("id", "s.id")], matched, When("s.what = 'update'", CHANGED))
        return replace(merge, **changes)

    def both(self, source: str = SOURCE, **changes: Any) -> tuple[dict[str, int], dict[str, int] | None]:
        """What either answers."""
        keep(self.spark.sql(source)).frame.createOrReplaceTempView("merge_source")
        self.n += 1
        by_delta, by_position = self.tables
        answer = self.spark.sql(self.merge(by_delta, **changes).sql()).first()
        assert answer is not None
        return answer.asDict(), self.by_position(self.merge(by_position, **changes))

    def by_position(self, merge: Merge, held: bool = True) -> dict[str, int] | None:
        consumption = self._consumption(merge, held)
        with consumption_confs(self.spark, consumption):
            return merge_by_position(self.spark, consumption)

    def _consumption(self, merge: Merge, held: bool) -> Consumption:
        read = StreamRead("s", "s", None, Frontier.of(), "merge_source", within="true", count=4 if held else None)
        seen = TableLog(self.spark, merge.target).version if self.resolved is None else self.resolved
        return Consumption(CONSUMER, merge.target, self.n, "invocation", (read,), merge=merge, seen=seen)

    def check(self) -> None:
        """Both hold the same rows under the same ids, and the statistics leave out no file that a row is asked of."""
        by_delta, by_position = map(self.asked, self.tables)
        assert _shown(by_delta) == _shown(by_position)
        table = self.tables[1]
        skipping = " union all ".join(f"select {n} as n from {table} where {test}" for n, test in enumerate(ASKED))
        found = Counter(row.n for row in self.spark.sql(skipping).collect())
        assert found == Counter(n for row in by_position for n in range(len(ASKED)) if row[f"a{n}"])

    def rows(self, table: str) -> list[str]:
        return _shown(self.spark.table(table).collect())

    def held(self, table: str) -> list[str]:
        return _shown(self.asked(table))

    def asked(self, table: str) -> list[Row]:
        """The rows with their ids, and what each says to every test in ASKED, none of which leaves out a file here."""
        tracked = TableLog(self.spark, table).properties.get("delta.enableRowTracking") == "true"
        ids = "if(id in (11, 101), null, _metadata.row_id) as i" if tracked else "0 as i"
        tests = ", ".join(f"{test} as a{n}" for n, test in enumerate(ASKED))
        return self.spark.sql(f"select *, {ids}, {tests} from {table}").collect()


def _shown(rows: list[Row]) -> list[str]:
    return sorted(map(str, rows))


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The table of a kind, which is made once."""

    def statements(kind: str, table: str) -> list[str]:
        data = f"{ROWS}, concat('a b/%', id % 2) as q"
        return [
            f"create table {table} using delta {KINDS.get(kind, kind)} as {data} from range(0, 5)",
            f"insert into {table} {data} from range(5, 20)",
            f"insert into {table} values (null, 'none', 0, null, 'a b/%0')",
            f"delete from {table} where id in (3, 8)",
        ]

    return made_once(spark, tmp_path_factory, statements)


@pytest.fixture
def case(spark: SparkSession, made: Callable[[str], Path], tmp_path: Path) -> Case:
    return Case(spark.newSession(), tmp_path, made)


@pytest.mark.parametrize("kind", KINDS)
def test_it_leaves_what_merge_leaves(case: Case, kind: str) -> None:
    by_delta, by_position = case.make(kind).both()
    assert by_position == by_delta == {
        "num_affected_rows": 6, "num_updated_rows": 4, "num_deleted_rows": 1, "num_inserted_rows": 1,
    }  # fmt: skip
    case.check()
    again = case.both("select id, concat(v, '+') as v, if(id % 4 = 0, 'delete', 'update') as what from merge_source")
    assert again[0] == again[1]
    case.check()


def test_rows_are_asked_by_a_set(case: Case) -> None:
    case.make("row ids")
    for table in case.tables:
        case.spark.sql(f"insert into {table} {ROWS}, 'a b/%0' as q from range(20, 2000)")
    keys = range(0, 2600, 13)
    source = "select cast(id as int) as id, concat('x', id) as v, if(id % 5 = 0, 'delete', 'update') as what"
    with patch.object(members, "_of_set", wraps=members._of_set) as asked:
        answers = case.both(f"{source} from range(0, 2600, 13)", known={"id": Column(IntegerType(), tuple(keys))})
    assert asked.call_count == 1
    assert answers[0] == answers[1] and answers[0]["num_deleted_rows"] == len([key for key in keys if key < 2000][::5])
    assert case.rows(case.tables[0]) == case.rows(case.tables[1])
    assert not any("INSET" in plan for plan in described_plans(case.spark))


def described_plans(spark: SparkSession) -> list[str]:
    """What Spark keeps of the queries that ran last, for its user interface: with a set in it a long text."""
    spark._jsc.sc().listenerBus().waitUntilEmpty()
    executions = spark._jsparkSession.sharedState().statusStore().executionsList()
    assert executions.size() > 0
    return [executions.apply(place).physicalPlanDescription() for place in range(executions.size())]


@pytest.mark.parametrize("kind", ["row ids", "partitioned", "column mapping"])
def test_what_it_took_out_is_told_as_the_files_tell_it(case: Case, kind: str) -> None:
    """Of one commit, of whatever columns and rows are asked; several are not held together."""
    case.make(kind)
    sources = (SOURCE, SOURCE.replace("'update'", "'delete'"), "select 200 as id, 'v' as v, 'update' as what")
    for source in sources:
        assert case.both(source)[1] is not None
        log = TableLog(case.spark.newSession(), case.tables[1])
        whole = Interval(log, log.version - 1, log.version)
        some = replace(whole, projection=Projection((("w", "v"), ("id", "id")), "id > 5 or id is null"))
        for interval in (whole, some, replace(whole, unique_key=("id",))):
            assert removed_rows(interval) is not None
            assert told(interval) == told_by_files(interval)
    assert removed_rows(replace(whole, start=whole.end - 2)) is None


def told(interval: Interval) -> list[str]:
    return sorted(str(row) for row in endpoint_diff(interval).collect())


def told_by_files(interval: Interval) -> list[str]:
    with patch.dict(_held, clear=True):
        assert removed_rows(interval) is None
        return told(interval)


def test_rows_taken_out_are_held_up_to_a_bound(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest are."""
    monkeypatch.setattr("dbt.adapters.streamspark.changes.removed_rows.MOST_ROWS", 5)
    case.make("row ids")
    for _ in range(2):
        case.both()
    log = TableLog(case.spark, case.tables[1])
    assert removed_rows(Interval(log, log.version - 1, log.version)) is not None
    assert removed_rows(Interval(log, log.version - 2, log.version - 1)) is None


def test_a_source_of_more_rows_than_the_driver_holds(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_rows, "MOST_ROWS", 2)
    by_delta, by_position = case.make("row ids").both()
    assert by_delta == by_position is not None
    case.check()
    monkeypatch.setattr("dbt.adapters.streamspark.consume.held_source.MOST_ROWS", 3)
    assert case.both()[1] is None
    merge = case.merge(case.tables[1], staged="merge_source")
    assert case.by_position(merge, held=False) is None


SIMPLE, FAILS = "(select * from merge_source)", f"raise_error('{NOT_SO_SIMPLE}')"
WRONG = "(select *, raise_error('asked in vain') as e from merge_source)"
NOT_SIMPLE: dict[str, dict[str, Any]] = {
    "its source fails": {"source": f"(select *, {FAILS} as e from merge_source)"},
    "a match fails": {"within": f"if(t.v = 'v4', {FAILS}, true)"},
    "a row matches several": {"source": "(select * from merge_source where id = 1)", "keys": [("p", "s.id")]},
}


@pytest.mark.parametrize("most", [local_rows.MOST_ROWS, 2])
@pytest.mark.parametrize("simpler", [None, *NOT_SIMPLE])
def test_the_usual_case_is_tried_first(
    case: Case, monkeypatch: pytest.MonkeyPatch, most: int, simpler: str | None
) -> None:
    case.make("row ids").spark.sql(SOURCE).createOrReplaceTempView("merge_source")
    monkeypatch.setattr(local_rows, "MOST_ROWS", most)
    merge = case.merge(case.tables[1], staged="merge_source", source=WRONG if simpler is None else SIMPLE)
    merge = replace(merge, simpler=replace(merge, **{"source": SIMPLE, **NOT_SIMPLE.get(simpler or "", {})}))
    case.n = 1
    assert case.by_position(merge, held=False) is not None
    case.spark.sql(case.merge(case.tables[0]).sql())
    case.check()


@pytest.mark.parametrize("many", [False, True])
def test_rows_that_are_known_to_be_many_are_computed_once(
    case: Case, monkeypatch: pytest.MonkeyPatch, many: bool
) -> None:
    monkeypatch.setattr(local_rows, "MOST_ROWS", 2)
    case.spark.range(8).createOrReplaceTempView("staged_rows")
    with jobs_of(case.spark) as jobs:
        assert stage(case.spark, "staged_rows", many) == 8
    assert jobs.count == (1 if many else 2)
    assert case.spark.table("staged_rows").count() == 8


@pytest.mark.parametrize("some", ["true", "id > 0", "n > 0"])
def test_each_key_column_may_be_null(case: Case, some: str) -> None:
    """Whether any row of the source is NULL there, or none is."""
    rows = "select id, n, concat(v, '+') as v, if(id % 4 = 0, 'delete', 'update') as what from"
    source = (
        f"select * from ({rows} {case.make('row ids').tables[0]} union all {rows} values (-7, 7, 'x') as (id, n, v))"
    )
    case.spark.sql(f"{source} where {some}").createOrReplaceTempView("merge_source")
    keep(case.spark.table("merge_source")).frame.createOrReplaceTempView("merge_source")
    case.n, changes = 1, {"keys": [("id", "s.id"), ("n", "s.n")]}
    answer = case.spark.sql(case.merge(case.tables[0], **changes).sql()).first()
    assert answer is not None and answer["num_updated_rows"] > 5
    assert case.by_position(case.merge(case.tables[1], **changes), held=False) == answer.asDict()
    case.check()


def test_an_error_of_the_usual_case_is_no_other_case(case: Case) -> None:
    case.make("plain").spark.sql(SOURCE).createOrReplaceTempView("merge_source")
    merge = case.merge(case.tables[1], staged="merge_source", source=SIMPLE)
    with pytest.raises((PySparkException, Py4JError), match="asked in vain"):
        case.by_position(replace(merge, simpler=replace(merge, source=WRONG)), held=False)


def test_a_clause_may_add_the_row_too(case: Case) -> None:
    """As MERGE does it of a source that has such rows twice, the second time with a key that matches none."""
    case.make("plain").spark.sql(f"{SOURCE} where id is not null").createOrReplaceTempView("merge_source")
    case.n, closed = 1, {"v": "concat('was ', t.v)"}
    clauses = [When("s.what = 'update'", closed, adds=True), When("s.what = 'same'", closed)]
    answer = case.by_position(case.merge(case.tables[1], source=SIMPLE, matched=clauses), held=False)
    twice = "(select *, id as k from merge_source union all select *, -1 as k from merge_source where what = 'update')"
    matched, added = [When("s.what in ('update', 'same')", closed)], When("s.k = -1", CHANGED)
    by_hand = case.merge(case.tables[0], source=twice, keys=[("id", "s.k")], matched=matched, added=added)
    expected = case.spark.sql(by_hand.sql()).first()
    assert expected is not None and answer == expected.asDict()
    assert answer["num_updated_rows"] == 4 and answer["num_inserted_rows"] == 4
    case.check()


@pytest.mark.parametrize("kind", ["row ids", "partitioned"])
def test_a_source_of_more_rows_than_the_optimizer_looks_at(
    case: Case, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(local_rows, "FEW", 1)
    by_delta, by_position = case.make(kind).both()
    assert by_delta == by_position is not None
    case.check()


def test_many_rows_are_written_into_several_files(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbt.adapters.streamspark.consume.held_source.ROWS_OF_A_FILE", 2)
    by_delta, by_position = case.make("row ids").both()
    assert by_delta == by_position is not None
    case.check()
    log = TableLog(case.spark, case.tables[1])
    assert len([add for add in log.commit(log.version).adds if "deletionVector" not in add]) > 1


def test_a_file_of_which_all_rows_go_is_removed(case: Case) -> None:
    case.make("row ids")
    by_delta, by_position = case.both("select cast(id as int) as id, 'v' as v, 'delete' as what from range(0, 5)")
    assert by_delta == by_position
    case.check()
    log = TableLog(case.spark, case.tables[1])
    commit = log.commit(log.version)
    assert not commit.adds and len(commit.removes) == 2


def test_the_commit_holds_number_metadata_and_what_merge_counts_but_no_keys(case: Case) -> None:
    case.make("row ids").both(within="(t.id between 1 and 102 or t.id is null)")
    by_delta, by_position = (TableLog(case.spark, table) for table in case.tables)
    expected, commit = by_delta.commit(by_delta.version), by_position.commit(by_position.version)
    assert commit.txns == {CONSUMER: 1}
    consumed = read(commit, CONSUMER)
    assert consumed is not None and consumed.n == 1
    assert commit.operation == expected.operation == "MERGE"
    for name in ("numTargetRowsUpdated", "numTargetRowsDeleted", "numTargetRowsInserted", "numOutputRows"):
        assert commit.info["operationMetrics"][name] == expected.info["operationMetrics"][name]
    assert commit.info["tags"] == expected.info["tags"]
    assert "102" not in str(commit.info["operationParameters"])


def test_only_what_lies_within_is_matched(case: Case) -> None:
    by_delta, by_position = case.make("plain").both(within="(t.id < 10)")
    assert by_delta == by_position
    case.check()


def test_a_number_that_is_taken_is_not_committed_again(case: Case) -> None:
    case.make("plain")
    case.resolved = TableLog(case.spark, case.tables[1]).version
    case.both()
    version = TableLog(case.spark, case.tables[1]).version
    wrong = [When("", {"v": "raise_error('asked of rows that have consumed it')"})]
    assert case.by_position(case.merge(case.tables[1], matched=wrong)) is None
    assert TableLog(case.spark, case.tables[1]).version == version


@pytest.mark.parametrize(
    "kind",
    [
        "tblproperties ('delta.enableDeletionVectors' = 'false')",
        f"tblproperties ({VECTORS}, 'delta.enableChangeDataFeed' = 'true')",
    ],
)
def test_what_it_does_not_know_is_left_to_merge(case: Case, kind: str) -> None:
    case.make(kind)
    keep(case.spark.sql(SOURCE)).frame.createOrReplaceTempView("merge_source")
    assert case.by_position(case.merge(case.tables[1])) is None


def test_columns_with_values_of_their_own_and_declared_lengths_are_left_to_merge(case: Case) -> None:
    keep(case.spark.sql(SOURCE)).frame.createOrReplaceTempView("merge_source")
    columns = "id int, p int, n bigint, q string"
    for number, column in enumerate(("v varchar(3)", "v string, g int generated always as (id + 1)")):
        table = path_table(case.path, str(number))
        case.spark.sql(f"create table {table} ({columns}, {column}) using delta tblproperties ({VECTORS})")
        assert case.by_position(case.merge(table)) is None


def test_a_source_that_was_not_computed_is_computed_once(case: Case) -> None:
    """What it reads more than once too. Its keys tell where in the target to look."""
    case.make("row ids").both()
    rows = "select id, concat(v, '!') as v, what, monotonically_increasing_id() as n from merge_source"
    for table in case.tables:
        case.spark.sql(rows).createOrReplaceTempView("merge_staged")
        source = "(select a.* from merge_staged a join merge_staged b on a.id <=> b.id and a.n = b.n)"
        merge = case.merge(table, source=source, staged="merge_staged")
        if table == case.tables[0]:
            case.spark.sql(merge.sql())
        else:
            assert case.by_position(merge, held=False) is not None
    case.check()


def test_two_rows_for_one_and_other_types_are_left_to_merge(case: Case) -> None:
    case.make("plain")
    merge, version = case.merge(case.tables[1]), TableLog(case.spark, case.tables[1]).version
    keep(case.spark.sql(SOURCE)).frame.createOrReplaceTempView("merge_source")
    long = {**CHANGED, "p": "cast(s.id as bigint)"}
    assert case.by_position(replace(merge, added=When("", long))) is None
    twice = "select * from values (1, 'a', 'update'), (1, 'b', 'update') as s(id, v, what)"
    keep(case.spark.sql(twice)).frame.createOrReplaceTempView("merge_source")
    assert case.by_position(merge) is None
    assert TableLog(case.spark, case.tables[1]).version == version


def test_an_error_in_a_clause_is_raised_and_nothing_is_written(case: Case) -> None:
    case.make("plain")
    version = TableLog(case.spark, case.tables[1]).version
    keep(case.spark.sql(SOURCE)).frame.createOrReplaceTempView("merge_source")
    wrong = [When("s.what = 'update'", {"v": "raise_error('no such row')"})]
    with pytest.raises(PySparkException, match="no such row"):
        case.by_position(case.merge(case.tables[1], matched=wrong))
    assert TableLog(case.spark, case.tables[1]).version == version


@pytest.mark.parametrize(
    "statement",
    [
        "update {} set v = 'z' where id = 19",
        "delete from {} where id = 1",
        "update {} set id = 101 where id = 50",  # of a file that it does not touch: 101 is no new row any more
    ],
)
def test_another_writer_in_between_is_a_conflict(case: Case, monkeypatch: pytest.MonkeyPatch, statement: str) -> None:
    """It has read the whole table, so that no change of another is overlooked."""
    case.make("plain")
    case.spark.sql(f"insert into {case.tables[1]} values (50, 'v50', 2, null, '')")
    keep(case.spark.sql(SOURCE)).frame.createOrReplaceTempView("merge_source")
    module = __import__("dbt.adapters.streamspark.consume.merge_by_position", fromlist=["step"])
    other = case.spark.newSession()
    monkeypatch.setattr(module, "step", lambda name: other.sql(statement.format(case.tables[1])).collect())
    with pytest.raises((PySparkException, Py4JError)) as raised:
        case.by_position(case.merge(case.tables[1]))
    assert was_first(raised.value)


def test_files_are_known_by_their_paths_whatever_these_hold(case: Case, tmp_path: Path) -> None:
    table = f"delta.`{tmp_path / 'a b%20c+d'}`"
    case.spark.sql(f"create table {table} using delta {KINDS['partitioned']} as {ROWS}, 'a b/%' as q from range(5)")
    keep(case.spark.sql(SOURCE)).frame.createOrReplaceTempView("merge_source")
    answer = case.by_position(case.merge(table))
    assert answer is not None and answer["num_updated_rows"] == 2
    assert case.spark.table(table).where("v in ('x1', 'x4')").count() == 2


def test_a_cached_table_shows_the_new_rows(case: Case) -> None:
    case.make("plain")
    name = f"merged_{uuid4().hex[:8]}"
    case.spark.sql(f"create table {name} using delta location '{case.path / 'by_position'}'")
    case.spark.sql(f"cache table {name}")
    try:
        keep(case.spark.sql(SOURCE)).frame.createOrReplaceTempView("merge_source")
        assert case.by_position(case.merge(name)) is not None
        case.spark.sql(case.merge(case.tables[0]).sql()).collect()
        assert case.held(name) == case.held(case.tables[0])
    finally:
        case.spark.sql(f"drop table {name}")
