"""What tables go through in a year: each trap of the issue by itself, the rows compared one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row as SparkRow
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.file_changes import ADDED_ONLY, EMPTY, INITIAL_ROWS, MINIMIZE, REMOVED_ONLY
from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.read import plan_shape, read_interval
from dbt.adapters.streamspark.changes.view_sql import view_sql
from dbt.adapters.streamspark.errors import BrokenSource, InvalidInterval, InvalidStreamConfig, StaleSource
from tests.spark.jobs import jobs_of
from tests.spark.large_files import large_files

TRACKED = "using delta tblproperties ('delta.enableRowTracking' = 'true')"


@pytest.fixture(scope="module")
def sql(spark: SparkSession) -> Iterator[Any]:
    session = spark.newSession()
    session.sql("create database if not exists traps")
    yield session.sql
    session.sql("drop database traps cascade")


def table(sql: Any, name: str, columns: str = "id int, v string", extra: str = TRACKED) -> str:
    sql(f"drop table if exists traps.{name}")
    sql(f"create table traps.{name} ({columns}) {extra}")
    return f"traps.{name}"


def changes(spark: SparkSession, name: str, start: int | None, *columns: str, **options: Any) -> list[tuple[Any, ...]]:
    """(type, values…) of the changes up to now, sorted; the same as from large files."""
    log = TableLog(spark, name)

    def read() -> list[tuple[Any, ...]]:
        frame = read_interval(spark, log, start, log.version, **options).dataframe
        return sorted((row["_change_type"], *(row[c] for c in columns)) for row in frame.collect())

    found = read()
    with large_files():
        assert read() == found
    return found


def one_name_in_each(directory: Path) -> None:
    for file in directory.glob("p=*/*"):
        file.rename(file.with_name("data.parquet")) if file.suffix == ".parquet" else file.unlink()


def viewed(spark: SparkSession, name: str, start: int, *columns: str) -> list[tuple[Any, ...]]:
    """The same by the view of a stream on the table."""
    rows = spark.sql(view_sql(TableLog(spark, name), name, start)).collect()
    return sorted((row["_change_type"], *(row[c] for c in columns)) for row in rows)


def newest(spark: SparkSession, name: str) -> int:
    return TableLog(spark, name).version


class TestShapes:
    def test_each_shape_and_an_empty_interval_without_a_job(self, spark: SparkSession, sql: Any) -> None:
        name = table(sql, "shapes")
        sql(f"insert into {name} values (1, 'a'), (2, 'b')")
        sql(f"insert into {name} values (3, 'c')")
        log = TableLog(spark, name)
        assert plan_shape(log, 2, 2) == EMPTY
        assert plan_shape(log, 1, 2) == ADDED_ONLY
        assert plan_shape(log, None, 2) == INITIAL_ROWS
        sql(f"delete from {name} where id = 3")
        assert plan_shape(log.refresh(), 2, 3) == REMOVED_ONLY
        sql(f"update {name} set v = 'z' where id = 1")
        assert plan_shape(log.refresh(), 2, 4) == MINIMIZE
        with jobs_of(spark) as jobs:
            assert read_interval(spark, log, 4, 4).dataframe.collect() == []
        assert jobs.count == 0

    def test_optimize_zorder_and_purge_are_no_change(self, spark: SparkSession, sql: Any) -> None:
        name = table(sql, "compacted")
        for number in range(4):
            sql(f"insert into {name} values ({number}, 'v')")
        sql(f"delete from {name} where id = 0")
        start = newest(spark, name)
        sql(f"optimize {name}")
        sql(f"optimize {name} zorder by (id)")
        sql(f"reorg table {name} apply (purge)")
        assert newest(spark, name) > start
        assert plan_shape(TableLog(spark, name), start, newest(spark, name)) == EMPTY
        assert changes(spark, name, start, "id") == []

    def test_compaction_by_a_write_gives_rows_other_ids(self, spark: SparkSession, sql: Any) -> None:
        """Delta's own, without OPTIMIZE: it says that no data changes, but later changes are told of the new ids."""
        name = table(sql, "written_again")
        for number in range(2):
            sql(f"insert into {name} values ({number}, 'v')")
        log = TableLog(spark, name)
        rows = spark.read.format("delta").load(log.path).repartition(1).write.option("dataChange", "false")
        rows.format("delta").mode("overwrite").save(log.path)
        assert plan_shape(log.refresh(), 2, 3) == MINIMIZE
        found = read_interval(spark, log, 2, 3).dataframe.collect()
        assert sorted((row["_change_type"], row["id"], row["_commit_version"]) for row in found) == [
            *[("delete", 0, 3), ("delete", 1, 3), ("insert", 0, 3), ("insert", 1, 3)]
        ]
        assert len({row["_row_id"] for row in found}) == 4
        assert (
            changes(spark, name, 2, "id", unique_key=("id",)) == changes(spark, name, 2, "id", mode="append_only") == []
        )
        assert changes(spark, name, 2, "id", mode="insert_only") == []

    def test_the_insert_of_a_row_that_optimize_moved_is_read_once(self, spark: SparkSession, sql: Any) -> None:
        name = table(sql, "moved")
        sql(f"insert into {name} values (1, 'a')")
        sql(f"insert into {name} values (2, 'b')")
        sql(f"insert into {name} values (3, 'c')")
        sql(f"optimize {name}")
        assert changes(spark, name, 1, "id") == [("insert", 2), ("insert", 3)]
        assert changes(spark, name, 1, "id", mode="append_only") == [("insert", 2), ("insert", 3)]
        assert changes(spark, name, 1, "id", mode="insert_only") == [("insert", 2), ("insert", 3)]

    @pytest.mark.parametrize("extra", ["", " tblproperties ('delta.enableDeletionVectors' = 'true')"])
    def test_insert_only_needs_neither_row_tracking_nor_deletion_vectors(
        self, spark: SparkSession, sql: Any, extra: str
    ) -> None:
        name = table(sql, f"landed_{len(extra)}", extra=f"using delta{extra}")
        sql(f"insert into {name} values (1, 'a'), (1, 'a'), (2, null)")
        log = TableLog(spark, name)
        read = [read_interval(spark, log, 0, 1, mode="insert_only").dataframe for _ in range(2)]
        ids = [sorted(row["_row_id"] for row in frame.collect()) for frame in read]
        assert ids[0] == ids[1] and len(set(ids[0])) == 3
        viewed = spark.sql(view_sql(log, name, 0, mode="insert_only")).collect()
        assert sorted(row["_row_id"] for row in viewed) == ids[0]


class TestFilesAndLogs:
    def test_vacuum_of_files_that_the_interval_does_not_need(self, spark: SparkSession, sql: Any) -> None:
        name = table(sql, "vacuumed", extra=TRACKED.replace(")", ", 'delta.enableDeletionVectors' = 'false')"))
        sql(f"insert into {name} values (1, 'a'), (2, 'b')")
        sql(f"update {name} set v = 'x' where id = 1")
        start = newest(spark, name)
        sql(f"insert into {name} values (3, 'c')")
        vacuum(spark, name)
        assert changes(spark, name, start, "id", "v") == [("insert", 3, "c")]

    def test_a_vacuumed_file_that_is_needed_is_an_error_of_that_file(self, spark: SparkSession, sql: Any) -> None:
        name = table(sql, "needed", extra=TRACKED.replace(")", ", 'delta.enableDeletionVectors' = 'false')"))
        sql(f"insert into {name} values (1, 'a'), (2, 'b')")
        sql(f"update {name} set v = 'x' where id = 1")
        vacuum(spark, name)
        with pytest.raises(Exception, match=r"FAILED_READ_FILE|does not exist|FileNotFound"):
            changes(spark, name, 1, "id")

    def test_a_cleaned_log_is_stale(self, spark: SparkSession, sql: Any) -> None:
        name = table(sql, "cleaned")
        for number in range(3):
            sql(f"insert into {name} values ({number}, 'v')")
        log = TableLog(spark, name)
        Path(log.path.removeprefix("file:"), "_delta_log", f"{2:020d}.json").unlink()
        with pytest.raises(StaleSource, match=r"cleaned: version 2 is no longer in its log.*--full-refresh"):
            read_interval(spark, log, 1, 3)

    def test_versions_that_do_not_exist(self, spark: SparkSession, sql: Any) -> None:
        name = table(sql, "versions")
        log = TableLog(spark, name)
        with pytest.raises(InvalidInterval, match=r"has no version 7: its newest is 0"):
            read_interval(spark, log, 0, 7)
        sql(f"insert into {name} values (1, 'a')")
        with pytest.raises(InvalidInterval, match=r"ends \(0\) before it starts \(1\)"):
            read_interval(spark, log.refresh(), 1, 0)

    def test_no_such_table(self, spark: SparkSession, sql: Any) -> None:
        with pytest.raises(BrokenSource, match=r"traps\.nothing does not exist"):
            TableLog(spark, "traps.nothing")

    def test_tracking_switched_off_inside_the_interval(self, spark: SparkSession, sql: Any) -> None:
        name = table(sql, "untracked")
        sql(f"insert into {name} values (1, 'a')")
        sql(f"alter table {name} set tblproperties ('delta.enableRowTracking' = 'false')")
        with pytest.raises(BrokenSource, match=r"row tracking .* was off at version 2"):
            changes(spark, name, 1, "id")


class TestTablesOfManyKinds:
    def test_restore_brings_rows_back_under_their_ids(self, spark: SparkSession, sql: Any) -> None:
        name = table(sql, "restored")
        sql(f"insert into {name} values (1, 'a'), (2, 'b')")
        ids = {r["id"]: str(r["row_id"]) for r in sql(f"select id, _metadata.row_id from {name}").collect()}
        sql(f"delete from {name} where id = 1")
        start = newest(spark, name)
        sql(f"restore table {name} to version as of 1")
        assert changes(spark, name, start, "id", "_row_id", "_commit_version") == [("insert", 1, ids[1], start + 1)]
        assert changes(spark, name, 1, "id") == []
        assert changes(spark, name, start, "id", mode="append_only") == []

    def test_truncate_overwrite_and_replaced_table(self, spark: SparkSession, sql: Any) -> None:
        name = table(sql, "replaced")
        sql(f"insert into {name} values (1, 'a'), (2, 'b')")
        sql(f"truncate table {name}")
        assert changes(spark, name, 1, "id") == [("delete", 1), ("delete", 2)]
        sql(f"insert overwrite {name} values (1, 'a'), (3, 'c')")
        assert changes(spark, name, 1, "id") == [("delete", 1), ("delete", 2), ("insert", 1), ("insert", 3)]
        sql(f"create or replace table {name} {TRACKED} as select 1 as id, 'a' as v union all select 2, 'y'")
        assert changes(spark, name, 1, "id", "v", unique_key=("id",)) == [
            ("update_postimage", 2, "y"),
            ("update_preimage", 2, "b"),
        ]

    def test_a_rebuilt_table_with_another_type(self, spark: SparkSession, sql: Any) -> None:
        name = table(sql, "retyped", "id int, v int")
        sql(f"insert into {name} values (1, 10)")
        sql(f"create or replace table {name} {TRACKED} as select 1 as id, '10' as v union all select 2, 'y'")
        assert changes(spark, name, 1, "id", "v", unique_key=("id",)) == [("insert", 2, "y")]
        sql(f"create or replace table {name} {TRACKED} as select 1 as id, 10 as v")
        with pytest.raises(BrokenSource, match=r"column v changed from string to int"):
            changes(spark, name, 2, "id")

    @pytest.mark.parametrize("by", ["create or replace", "overwrite"])
    def test_a_rebuilt_table_under_column_mapping(self, spark: SparkSession, sql: Any, by: str) -> None:
        """Columns whose type stays keep their physical names; the others are told by names, also in structs."""
        mapped = TRACKED.replace(")", ", 'delta.columnMapping.mode' = 'name')")
        name = table(sql, "remapped", "id int, g string, v int, s struct<a: int, b: int>, gone int", mapped)
        sql(f"insert into {name} select id, 'g', id * 10, named_struct('a', id, 'b', id), 7 from range(1, 4)")
        sql(f"alter table {name} rename column g to h")
        start = newest(spark, name)
        new = "select id, h, v, s, cast(null as int) as w from {} where id = 2"
        sql(f"create table if not exists traps.kept_{by[:6]} as select * from {name}")
        types = "cast(v as bigint) as v, cast(s as struct<a: bigint, b: int>) as s"
        retyped = f"(select id, h, {types} from traps.kept_{by[:6]})"
        if by == "overwrite":
            frame = spark.sql(new.format(retyped))
            frame.write.format("delta").mode("overwrite").option("overwriteSchema", "true").saveAsTable(name)
        else:
            sql(f"create or replace table {name} {mapped} as {new.format(retyped)}")
        sql(f"alter table {name} drop column h")
        sql(f"alter table {name} add column (h string)")
        deletes = [("delete", n, n * 10, SparkRow(a=n, b=n), None) for n in (1, 2, 3)]
        want = [*deletes, ("insert", 2, 20, SparkRow(a=2, b=2), None)]
        assert changes(spark, name, start, "id", "v", "s", "w") == want

    @pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
    def test_unique_keys_that_differ_by_a_microsecond(self, spark: SparkSession, sql: Any, kind: str) -> None:
        name = table(sql, "micros", f"at {kind}, n int")
        times = [f"{kind}'2026-01-01 00:00:00.12345{n}'" for n in (6, 7)]
        sql(f"insert into {name} values ({times[0]}, 1), ({times[1]}, 2)")
        sql(f"update {name} set n = n + 10")
        sql(f"delete from {name} where n = 11")
        want = [("delete", 1), ("update_postimage", 12), ("update_preimage", 2)]
        assert changes(spark, name, 1, "n", unique_key=("at",)) == want

    def test_a_unique_key_that_is_not_unique_is_said(self, spark: SparkSession, sql: Any) -> None:
        name = table(sql, "twice")
        sql(f"insert into {name} values (1, 'a'), (1, 'b')")
        sql(f"create or replace table {name} {TRACKED} as select 1 as id, 'c' as v")
        with pytest.raises(Exception, match=r"traps\.twice: unique_key \(id\) is not unique"):
            changes(spark, name, 1, "id", unique_key=("id",))

    def test_a_shallow_clone_and_its_renewal(self, spark: SparkSession, sql: Any) -> None:
        """Open Delta 4.4 parses no DEEP CLONE, so that there is none to read."""
        source = table(sql, "origin")
        sql(f"insert into {source} values (1, 'a'), (2, 'b')")
        name = "traps.cloned"
        sql(f"create table {name} shallow clone {source}")
        start = newest(spark, name)
        sql(f"update {name} set v = 'x' where id = 1")
        sql(f"insert into {name} values (3, 'c')")
        assert changes(spark, name, start, "id", "v") == [
            ("insert", 3, "c"),
            ("update_postimage", 1, "x"),
            ("update_preimage", 1, "a"),
        ]
        sql(f"truncate table {name}")
        sql(f"create or replace table {name} shallow clone {source}")
        assert changes(spark, name, start, "id", unique_key=("id",)) == []
        assert changes(spark, name, start, "id") == [("delete", 1), ("delete", 2), ("insert", 1), ("insert", 2)]
        renewed = newest(spark, name)
        now = spark.sql(f"select _metadata.row_id as row_id from {name} where id = 2").collect()[0].row_id
        sql(f"delete from {name} where id = 2")
        assert changes(spark, name, renewed, "id", "_row_id") == [("delete", 2, str(now))]

    def test_partition_columns_that_the_files_do_not_hold(self, spark: SparkSession, sql: Any) -> None:
        properties = "'delta.enableRowTracking' = 'true', 'delta.writePartitionColumnsToParquet' = 'false'"
        name = table(sql, "parts", "id int, p string", f"using delta partitioned by (p) tblproperties ({properties})")
        sql(f"insert into {name} values (1, 'a b/c'), (2, null)")
        sql(f"update {name} set id = 5 where id = 1")
        assert changes(spark, name, 0, "id") == [("insert", 2), ("insert", 5)]
        assert changes(spark, name, 1, "id", "p") == [("update_postimage", 5, "a b/c"), ("update_preimage", 1, "a b/c")]

    def test_files_of_one_name_in_many_partitions(self, spark: SparkSession, sql: Any, tmp_path: Path) -> None:
        """CONVERT TO DELTA keeps the files of other writers, who call them alike."""
        rows = [(number, f"{'abc'[number % 3]} +%") for number in range(9)]
        parquet = spark.createDataFrame(rows, "id int, p string").coalesce(1).write.partitionBy("p")
        parquet.parquet(str(tmp_path / "t"))
        one_name_in_each(tmp_path / "t")
        sql(f"convert to delta parquet.`{tmp_path}/t` partitioned by (p string)")
        name = "traps.converted"
        sql(f"create table {name} using delta location '{tmp_path}/t'")
        tracked = "'delta.enableRowTracking' = 'true', 'delta.enableDeletionVectors' = 'true'"
        sql(f"alter table {name} set tblproperties ({tracked})")
        start = newest(spark, name)
        everything = read_interval(spark, TableLog(spark, name), None, start, mode="insert_only").dataframe
        assert len({row["_row_id"] for row in everything.collect()}) == 9
        for rule in ("id = 0", "p like 'b%'", "id = 2"):
            sql(f"delete from {name} where {rule}")
        taken = [("delete", n, start + 1 + version) for n, version in ((0, 0), (1, 1), (2, 2), (4, 1), (7, 1))]
        assert changes(spark, name, start, "id", "_commit_version") == taken
        assert viewed(spark, name, start, "id", "_commit_version") == taken

    def test_generated_and_identity_columns(self, spark: SparkSession, sql: Any) -> None:
        name = f"{table(sql, 'plain')}_made"
        sql(f"drop table if exists {name}")
        from delta.tables import DeltaTable, IdentityGenerator

        builder = (
            DeltaTable.create(spark).tableName(name).addColumn("n", "bigint", generatedAlwaysAs=IdentityGenerator())
        )
        builder = builder.addColumn("id", "int").addColumn("twice", "int", generatedAlwaysAs="id * 2")
        builder.property("delta.enableRowTracking", "true").execute()
        sql(f"insert into {name} (id) values (1), (2)")
        start = newest(spark, name)
        sql(f"update {name} set id = 7 where id = 2")
        assert [c[:2] for c in changes(spark, name, start, "twice")] == [
            ("update_postimage", 14),
            ("update_preimage", 4),
        ]

    def test_three_hundred_columns(self, spark: SparkSession, sql: Any) -> None:
        name = table(sql, "wide", ", ".join(f"c{n} int" for n in range(300)))
        sql(f"insert into {name} select {', '.join(str(n) for n in range(300))}")
        sql(f"update {name} set c299 = null")
        assert changes(spark, name, 1, "c298", "c299") == [
            ("update_postimage", 298, None),
            ("update_preimage", 298, 299),
        ]

    def test_nan_to_nan_and_equal_maps_are_no_change(self, spark: SparkSession, sql: Any) -> None:
        name = table(sql, "equal", "id int, d double, m map<string, int>")
        sql(f"insert into {name} values (1, cast('NaN' as double), map('a', 1, 'b', 2))")
        sql(f"update {name} set d = cast('NaN' as double), m = map('b', 2, 'a', 1)")
        assert changes(spark, name, 1, "id") == []

    def test_many_vectors_of_one_file(self, spark: SparkSession, sql: Any) -> None:
        name = table(sql, "vectors", extra=TRACKED.replace(")", ", 'delta.enableDeletionVectors' = 'true')"))
        sql(f"insert into {name} select cast(id as int), 'v' from range(0, 1000, 1, 1)")
        for number in range(3):
            sql(f"delete from {name} where id = {number}")
            sql(f"update {name} set v = 'w' where id = {10 + number}")
        assert plan_shape(TableLog(spark, name), 1, 7) == MINIMIZE
        assert [c[:2] for c in changes(spark, name, 1, "id")] == [
            *(("delete", n) for n in range(3)),
            *(("update_postimage", n) for n in (10, 11, 12)),
            *(("update_preimage", n) for n in (10, 11, 12)),
        ]

    def test_deletion_vectors_that_the_end_or_the_start_knows_nothing_of(self, spark: SparkSession, sql: Any) -> None:
        name = table(sql, "unmarked", extra=TRACKED.replace(")", ", 'delta.enableDeletionVectors' = 'true')"))
        sql(f"insert into {name} select cast(id as int), 'v' from range(0, 8, 1, 1)")
        sql(f"update {name} set v = 'w' where id = 3")
        start = newest(spark, name)
        sql(f"alter table {name} set tblproperties ('delta.enableDeletionVectors' = 'false')")
        sql(f"alter table {name} drop feature deletionVectors")
        sql(f"delete from {name} where id = 5")
        for since in (start, start + 1):  # the second has no metadata after it, but a protocol
            assert changes(spark, name, since, "id") == [("delete", 5)]
        assert changes(spark, name, start, "id", reader="snapshot_diff") == [("delete", 5)]
        start = newest(spark, name)
        both = "'delta.enableDeletionVectors' = 'true', 'delta.enableTypeWidening' = 'true'"
        sql(f"alter table {name} set tblproperties ({both})")
        sql(f"alter table {name} alter column id type bigint")
        sql(f"delete from {name} where id = 6")
        assert changes(spark, name, start, "id", "v") == [("delete", 6, "v")]

    def test_column_mapping_switched_on_where_a_name_has_an_upper_case_letter(
        self, spark: SparkSession, sql: Any
    ) -> None:
        extra = TRACKED.replace(")", ", 'delta.enableTypeWidening' = 'true')")
        name = table(sql, "mapped_since", "id int, Name string, n int", extra)
        sql(f"insert into {name} values (1, 'a', 1), (2, 'b', 2)")
        start = newest(spark, name)
        sql(f"alter table {name} set tblproperties ('delta.columnMapping.mode' = 'name')")
        sql(f"alter table {name} alter column n type bigint")
        sql(f"delete from {name} where id = 1")
        assert changes(spark, name, start, "id", "Name", "n") == [("delete", 1, "a", 1)]
        assert viewed(spark, name, start, "id", "Name") == [("delete", 1, "a")]
        assert Interval(TableLog(spark, name), start, newest(spark, name)).schemas.rebound(start) == []

    def test_fields_of_structs_dropped_and_added_again(self, spark: SparkSession, sql: Any) -> None:
        extra = TRACKED.replace(")", ", 'delta.enableTypeWidening' = 'true', 'delta.columnMapping.mode' = 'name')")
        pair = "struct<A: int, b: string>"
        name = table(sql, "fields", f"id int, s {pair}, l array<{pair}>, m map<string, {pair}>, n int", extra)
        made = "named_struct('A', 7, 'b', 'old')"
        sql(f"insert into {name} select id, {made}, array({made}), map('k', {made}), id from range(3)")
        sql(f"insert into {name} values (4, null, array(null), map('k', null), 4)")
        start = newest(spark, name)
        for field in ("s.b", "l.element.b", "m.value.b"):
            sql(f"alter table {name} drop column {field}")
            sql(f"alter table {name} add column ({field} string)")
        sql(f"delete from {name} where id in (1, 4)")
        new, none = SparkRow(A=7, b=None), [None]
        want = [("delete", 1, new, [new], {"k": new}), ("delete", 4, None, none, {"k": None})]
        assert viewed(spark, name, start, "id", "s", "l", "m") == want
        assert changes(spark, name, start, "id", "s", "l", "m") == want
        sql(f"alter table {name} alter column n type bigint")
        assert changes(spark, name, start, "id", "s", "l", "m") == want
        assert Interval(TableLog(spark, name), start, newest(spark, name)).schemas.rebound(start) == ["s", "l", "m"]


def test_a_column_that_a_metadata_column_would_hide(spark: SparkSession, sql: Any) -> None:
    name = table(sql, "hidden", "id int, _change_type string")
    with pytest.raises(
        InvalidStreamConfig, match=r"_change_type.*metadata_columns \(one of delta, snowflake, singdata\)"
    ):
        read_interval(spark, TableLog(spark, name), 0, 0)
    assert read_interval(spark, TableLog(spark, name), 0, 0, metadata_columns="snowflake").shape == EMPTY


def vacuum(spark: SparkSession, name: str) -> None:
    """Every file that no live version needs, at once."""
    session = spark.newSession()
    session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    session.sql(f"vacuum {name} retain 0 hours").collect()
