"""What a change query reads of its tables: by the executed plan, not by what `explain` says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.streamspark.changes import changes
from dbt.adapters.streamspark.changes.differentiate import differentiation
from dbt.adapters.streamspark.changes.differentiate.leaves import Leaf
from dbt.adapters.streamspark.changes.differentiate.netted import netted
from dbt.adapters.streamspark.errors import StaleSource
from tests.spark.queries.history import History

ROWS = 20_000


@dataclass(frozen=True)
class FileScan:
    """A scan of Parquet files: the table's directory, the columns read, the filters pushed down, and what came of it."""

    table: str
    columns: frozenset[str]
    pushed: str
    files: int
    rows: int


def scans(frame: DataFrame) -> list[FileScan]:
    """Of a frame that is computed here; the session has AQE switched off, so that the plan is what is run."""
    frame.collect()
    leaves = frame._jdf.queryExecution().executedPlan().collectLeaves()
    nodes = (leaves.apply(place) for place in range(leaves.size()))
    return [_scan(node) for node in nodes if node.getClass().getSimpleName() == "FileSourceScanExec"]


def _scan(node: Any) -> FileScan:
    metrics, metadata = node.metrics(), node.metadata()
    return FileScan(
        table=str(node.relation().location().rootPaths().head().getName()),
        columns=frozenset(node.requiredSchema().fieldNames()),
        pushed=str(metadata.apply("PushedFilters")),
        files=int(metrics.apply("numFiles").value()),
        rows=int(metrics.apply("numOutputRows").value()),
    )


def of_table(found: list[FileScan], table: str) -> list[FileScan]:
    return [scan for scan in found if scan.table == table]


@pytest.fixture(scope="module")
def wide(spark: SparkSession) -> Iterator[History]:
    """`big`: many row groups in one file; `parts`: a file for each of 8 partitions; `s`: few rows, of which one changes."""
    history = History(spark, "query_reading")
    history.session.conf.set("parquet.block.size", "4096")
    history.table("big", "id int, k int, v string, w string")
    history.table("s", "k int, name string")
    history.run(
        "create table parts (id int, p int) using delta partitioned by (p) tblproperties ('delta.enableRowTracking' = 'true')"
    )
    history.tables.append("parts")
    history.run(
        f"insert into big select cast(id as int), cast(id as int), 'v', 'w' from range(0, {ROWS}, 1, 1)",
        "insert into parts select cast(id as int), cast(id % 8 as int) from range(0, 80, 1, 1)",
        "insert into s select cast(id as int), 'n' from range(0, 10, 1, 1)",
    )
    yield history.marked(["update s set name = 'm' where k = 7"], ["update big set v = 'x' where id = 5"])
    history.drop()


def of(history: History, query: str, start: int = 0, end: int = 1) -> list[FileScan]:
    return scans(changes(history.session, query, history.points[start], history.points[end]))


class TestKeys:
    @pytest.mark.parametrize(
        "query",
        [
            "select s.name, big.v from s join big on s.k = big.k", "select s.name, big.v from s left join big on s.k = big.k",
            "select s.name, big.v from big left join s on s.k = big.k", "select big.v from big where k in (select k from s where name = 'm')",
        ],
    )  # fmt: skip
    def test_are_literals_that_skip_row_groups(self, wide: History, query: str) -> None:
        found = of_table(of(wide, query), "big")
        assert any(scan.rows for scan in found)
        for scan in found:
            assert "EqualTo(k,7)" in scan.pushed
            assert scan.rows < ROWS / 20

    def test_of_a_touched_group(self, wide: History) -> None:
        found = of_table(of(wide, "select k, count(*) n, max(v) v from big group by k", 1, 2), "big")
        assert len(found) == 2  # both ends
        for scan in found:
            assert "EqualTo(k,5)" in scan.pushed
            assert 0 < scan.rows < ROWS / 20

    def test_skip_partitions(self, wide: History) -> None:
        found = of_table(of(wide, "select s.name, parts.id from s join parts on s.k = parts.p"), "parts")
        assert [scan.files for scan in found] == [1]

    def test_of_two_types_are_known_too(self, wide: History) -> None:
        query = "select s.name, big.v from s left join big on cast(s.k as decimal(10,2)) = big.k"
        assert of(wide, query)


class TestColumns:
    @pytest.mark.parametrize(
        ("query", "used"),
        [
            ("select s.name, big.v from s left join big on s.k = big.k", {"k", "v"}),
            ("select s.k, max(s.name) n from s join big on s.k = big.k group by s.k", {"k"}),
            ("select big.v from big where k not in (select k from s where name = 'm')", {"k", "v"}),
            (
                "with b as (select *, upper(w) u from big) select s.name, b.id from s left join b on b.k = s.k",
                {"k", "id"},
            ),
        ],
    )
    def test_only_those_that_the_query_uses(self, wide: History, query: str, used: set[str]) -> None:
        found = of_table(of(wide, query), "big")
        assert found
        for scan in found:
            assert scan.columns & {"id", "k", "v", "w"} == used


class TestDeltas:
    @pytest.mark.parametrize(
        ("query", "minimised"),
        [
            ("select s.name, big.v from s join big on s.k = big.k where big.w = 'w'", 1),  # the result
            (
                "select s.name, a.v from s join (select k, upper(v) v from big) a on s.k = a.k",
                2,
            ),  # equal pairs may come of it
            ("select a.name, b.k from s a join s b on a.k = b.k", 3),  # b does not use all that is read for both
        ],
    )
    def test_are_not_minimised_again_that_a_tables_reader_gives(
        self, wide: History, query: str, minimised: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls: list[str] = []

        def counted(columns: Sequence[str], delta: str, schema: StructType) -> str:
            calls.append(delta)
            return netted(columns, delta, schema)

        monkeypatch.setattr(differentiation, "netted", counted)
        found = changes(wide.session, query, wide.points[0], wide.points[2])
        assert len(calls) == minimised
        assert {row["_change_type"] for row in found.collect()} == {"update_preimage", "update_postimage"}

    @pytest.mark.parametrize(
        "query",
        [
            "select s.name, big.v from s left join big on s.k = big.k",
            "select name, count(*) n from s group by name",
            "select k, sum(k) over (partition by name) t from s",
            "select s.name, count(*) n from s join big on s.k = big.k group by s.name",
            "select big.v from big where k not in (select k from s where name <> 'm')",
            "select a.name, b.k from s a join s b on a.k = b.k",
            "select name, k from s union all select name, k + 1 from s",
            "select name, count(*) n from s where k > (select min(k) from s) group by name",
        ],
    )
    def test_a_table_s_delta_is_computed_once(self, wide: History, monkeypatch: pytest.MonkeyPatch, query: str) -> None:
        """Rows of the delta pass a function that counts them."""
        counter = wide.spark.sparkContext.accumulator(0)
        original = Leaf.changes

        def counted(leaf: Leaf, appended: bool) -> DataFrame:
            frame = original(leaf, appended)
            return frame.filter(_counting(counter)("__type"))

        monkeypatch.setattr(Leaf, "changes", counted)
        changes(wide.session, query, wide.points[0], wide.points[1]).collect()
        assert counter.value == 2  # both halves of one update


def _counting(counter: Any) -> Any:
    from pyspark.sql.functions import udf

    def count(kind: str) -> bool:
        counter.add(1)
        return True

    return udf(count, "boolean", useArrow=False).asNondeterministic()


class TestVacuumed:
    @pytest.fixture
    def gone(self, wide: History) -> Iterator[History]:
        """A table whose old data files were cleaned away; its log was not."""
        wide.run(
            "create table old (k int, v int) using delta tblproperties ('delta.enableRowTracking' = 'true', 'delta.enableDeletionVectors' = 'false')",
            "insert into old values (1, 1), (2, 2)",
            "update old set v = 3 where k = 1",
        )
        location = wide.session.sql("describe detail old").first()["location"].removeprefix("file:")
        live = {path.rsplit("/", 1)[-1] for path in wide.session.table("old").inputFiles()}
        gone = [path for path in Path(location).glob("*.parquet") if path.name not in live]
        assert gone
        for path in gone:
            path.unlink()
        yield wide
        wide.run("drop table old")

    def test_says_the_table_and_what_to_do(self, gone: History) -> None:
        with pytest.raises(StaleSource, match=r"table query_reading\.old: .*no longer there.*VACUUM"):
            changes(gone.session, "select k, count(*) n from old group by k", 1, 2)
