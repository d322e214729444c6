"""Resolving a consumer's cursor from the log of its target."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.consume.confs import APP_ID, TXN_VERSION
from dbt.adapters.streamspark.consume.cursor import resolve_cursor
from dbt.adapters.streamspark.errors import OffsetUnknown
from tests.consuming import APPEND, CREATE, FIRST, Model, add, clean_log, make_source, newest, path_table, rows
from tests.spark.jobs import jobs_of


def consume(model: Model, row_id: int) -> int:
    """One more source row, consumed; the target's new version."""
    add(model, row_id)
    version = model.run(APPEND).version
    assert version is not None
    return version


def reached(model: Model) -> int:
    """The source version that the cursor says was consumed."""
    return model.cursor().frontiers["s"].tables[0].version


def restore_to_the_time_of(model: Model, version: int) -> None:
    """The next commit must be of a later millisecond."""
    moment = TableLog(model.spark, model.target).commit(version).timestamp
    text = moment.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    model.spark.sql(f"restore table {model.target} to timestamp as of '{text}'")


def test_no_target_and_no_consumption_are_zero(session: SparkSession, tmp_path: Path) -> None:
    name = path_table(tmp_path, "t")
    assert (Model(session, name, {}).cursor().n, Model(session, name, {}).cursor().seen) == (0, None)
    session.sql(f"create table {name} using delta as select 1 id")
    cursor = Model(session, name, {}).cursor()
    assert (cursor.n, dict(cursor.frontiers), cursor.seen) == (0, {}, 0)


def test_the_newest_consumption_counts_whatever_came_after(model: Model) -> None:
    consume(model, 3)
    model.spark.sql(f"insert into {model.target} values (99, 'by hand')")
    model.spark.sql(f"optimize {model.target}")
    cursor = model.cursor()
    assert (cursor.n, cursor.version, cursor.seen, reached(model)) == (2, 1, 3, 2)


def test_resolving_runs_no_spark_job(model: Model) -> None:
    for row_id in (3, 4):
        consume(model, row_id)
    log = TableLog(model.spark, model.target)
    with jobs_of(model.spark) as jobs:
        resolve_cursor(log, model.consumer)
    assert jobs.count == 0


def test_named_table(session: SparkSession, tmp_path: Path) -> None:
    session.sql("create schema if not exists consume_named")
    model = Model(session, "consume_named.target", {"s": make_source(session, "consume_named.source")})
    model.run(CREATE)
    consume(model, 3)
    assert model.rows() == [*FIRST, (3, "r3")]
    assert (model.cursor().n, reached(model)) == (2, 2)
    session.sql("drop schema consume_named cascade")


def test_restore_rewinds_and_the_rows_come_again_once(model: Model) -> None:
    consume(model, 3)
    consume(model, 4)
    model.spark.sql(f"restore table {model.target} to version as of 1")
    assert model.rows() == [*FIRST, (3, "r3")]
    cursor = model.cursor()
    assert (cursor.n, reached(model)) == (3, 2), "the number is not rolled back, the frontier is"
    assert model.run(APPEND).version == 4
    assert model.rows() == [*FIRST, (3, "r3"), (4, "r4")]
    assert (model.cursor().n, reached(model)) == (4, 3)


def test_restore_by_timestamp(model: Model) -> None:
    consume(model, 3)
    time.sleep(0.01)
    consume(model, 4)
    restore_to_the_time_of(model, 1)
    assert model.rows() == [*FIRST, (3, "r3")]
    assert (model.cursor().n, reached(model)) == (3, 2)


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Europe/Berlin", "UTC"])
def test_restore_by_timestamp_from_another_time_zone(model: Model, zone: str) -> None:
    """The commit tells the time in the zone of the process that ran the RESTORE, and no zone."""
    consume(model, 3)
    time.sleep(0.01)
    consume(model, 4)
    restore_to_the_time_of(model, 1)
    zones = model.spark._jvm.java.util.TimeZone  # type: ignore[union-attr]
    ours = zones.getDefault()
    zones.setDefault(zones.getTimeZone(zone))
    try:
        assert (model.cursor().n, reached(model)) == (3, 2)
    finally:
        zones.setDefault(ours)


def test_a_restore_to_what_no_version_had_is_not_guessed(model: Model) -> None:
    consume(model, 3)
    time.sleep(0.01)
    consume(model, 4)
    restore_to_the_time_of(model, 1)
    clean_log(model.spark, model.target, 3)
    with pytest.raises(OffsetUnknown, match=r"which version its version 3 restored cannot be told"):
        model.cursor()


def test_nested_restores(model: Model) -> None:
    for row_id in (3, 4, 5):
        consume(model, row_id)  # target versions 1, 2, 3
    model.spark.sql(f"restore table {model.target} to version as of 1")  # 4
    consume_again = model.run(APPEND)  # 5: ids 4 and 5
    assert (consume_again.version, reached(model)) == (5, 4)
    model.spark.sql(f"restore table {model.target} to version as of 4")  # 6: as 4, that is as 1
    assert (model.cursor().n, reached(model), model.rows()) == (5, 2, [*FIRST, (3, "r3")])
    model.spark.sql(f"restore table {model.target} to version as of 3")  # 7: undoes them all
    assert (model.cursor().n, reached(model)) == (5, 4)
    assert model.plan().is_empty


def test_restore_to_before_the_first_consumption(session: SparkSession, tmp_path: Path) -> None:
    target = path_table(tmp_path, "target")
    session.sql(f"create table {target} (id int, v string) using delta")
    model = Model(session, target, {"s": make_source(session, path_table(tmp_path, "source"))})
    model.run(APPEND)
    session.sql(f"restore table {target} to version as of 0")
    cursor = model.cursor()
    assert (cursor.n, dict(cursor.frontiers)) == (1, {})
    model.run(APPEND)
    assert (model.rows(), model.cursor().n) == (FIRST, 2)


def test_a_clone_goes_on_where_its_source_stood(model: Model, tmp_path: Path) -> None:
    consume(model, 3)
    clone = Model(model.spark, path_table(tmp_path, "clone"), model.sources)
    model.spark.sql(f"create table {clone.target} shallow clone {model.target}")
    consume(model, 4)
    assert (clone.cursor().version, reached(clone)) == (None, 2)
    clone.run(APPEND)
    assert clone.rows() == model.rows() == [*FIRST, (3, "r3"), (4, "r4")]
    assert (clone.cursor().version, reached(clone)) == (1, 3)


def test_a_clone_of_an_old_version_of_a_clone(model: Model, tmp_path: Path) -> None:
    consume(model, 3)
    consume(model, 4)
    first, second = (Model(model.spark, path_table(tmp_path, name), model.sources) for name in ("one", "two"))
    model.spark.sql(f"create table {first.target} shallow clone {model.target} version as of 1")
    model.spark.sql(f"create table {second.target} shallow clone {first.target}")
    assert (reached(first), reached(second)) == (2, 2)
    second.run(APPEND)
    assert second.rows() == model.rows()


def test_a_named_clone(session: SparkSession) -> None:
    session.sql("create schema if not exists consume_clone")
    model = Model(session, "consume_clone.target", {"s": make_source(session, "consume_clone.source")})
    model.run(CREATE)
    session.sql("create table consume_clone.copy shallow clone consume_clone.target")
    assert reached(Model(session, "consume_clone.copy", model.sources)) == 1
    session.sql("drop schema consume_clone cascade")


def test_a_clone_whose_source_is_gone_is_unknown(model: Model, tmp_path: Path) -> None:
    session = model.spark
    session.sql("create schema if not exists consume_gone")
    source = Model(session, "consume_gone.target", model.sources)
    source.run(CREATE)
    clone = Model(session, path_table(tmp_path, "clone"), model.sources)
    session.sql(f"create table {clone.target} shallow clone {source.target}")
    session.sql(f"drop table {source.target}")
    with pytest.raises(OffsetUnknown, match=r"clone of spark_catalog\.consume_gone\.target, which cannot be read"):
        clone.cursor()
    source.run(CREATE)
    with pytest.raises(OffsetUnknown, match="which was made again since"):
        clone.cursor()
    session.sql("drop schema consume_gone cascade")


def test_a_clone_of_a_table_that_never_consumed(model: Model, tmp_path: Path) -> None:
    other = path_table(tmp_path, "other")
    model.spark.sql(f"create table {other} using delta as select 7 id, 'x' v")
    clone = Model(model.spark, path_table(tmp_path, "clone"), model.sources)
    model.spark.sql(f"create table {clone.target} shallow clone {other}")
    assert (clone.cursor().n, dict(clone.cursor().frontiers)) == (0, {})


def test_a_clone_into_an_emptied_target_counts_above_its_old_numbers(model: Model, tmp_path: Path) -> None:
    for row_id in (3, 4):
        consume(model, row_id)
    other = Model(model.spark, path_table(tmp_path, "other"), model.sources)
    other.run(CREATE)
    consume(other, 5)
    model.spark.sql(f"truncate table {model.target}")
    model.spark.sql(f"create or replace table {model.target} shallow clone {other.target}")
    assert (model.cursor().n, model.cursor().version, reached(model)) == (3, None, 4)
    consume(model, 6)
    assert (model.rows()[-1], model.cursor().n) == ((6, "r6"), 4)


def test_a_log_cleaned_past_the_consumption_is_unknown(model: Model) -> None:
    consume(model, 3)
    for value in (10, 11, 12):
        model.spark.sql(f"insert into {model.target} values ({value}, 'by hand')")
    clean_log(model.spark, model.target, before=3)
    with pytest.raises(OffsetUnknown) as caught:
        model.cursor()
    message = str(caught.value)
    assert model.target in message and model.consumer in message and "stored: 2)" in message
    assert "--full-refresh" in message and "RESTORE" in message


def test_a_cleaned_log_does_not_matter_behind_the_consumption(model: Model) -> None:
    for row_id in (3, 4):
        consume(model, row_id)
    clean_log(model.spark, model.target, before=2)
    assert (model.cursor().n, reached(model)) == (3, 3)
    consume(model, 5)
    assert model.rows()[-1] == (5, "r5")


def test_a_cleaned_log_of_a_table_that_never_consumed(model: Model) -> None:
    consume(model, 3)
    clean_log(model.spark, model.target, before=1)
    cursor = Model(model.spark, model.target, model.sources, consumer="streamspark/model.t.another").cursor()
    assert (cursor.n, dict(cursor.frontiers)) == (0, {})


def test_a_replacement_by_somebody_else_is_unknown(model: Model) -> None:
    consume(model, 3)
    model.spark.sql(f"create or replace table {model.target} using delta as select 7 id, 'x' v")
    with pytest.raises(OffsetUnknown, match=r"replaced at version 2 \(CREATE OR REPLACE TABLE AS SELECT"):
        model.cursor()
    model.spark.sql(f"restore table {model.target} to version as of 1")
    assert (model.cursor().n, reached(model)) == (2, 2)


def test_a_replacement_before_any_consumption_is_no_matter(session: SparkSession, tmp_path: Path) -> None:
    target = path_table(tmp_path, "target")
    for _ in range(2):
        session.sql(f"create or replace table {target} using delta as select 7 id, 'x' v")
    model = Model(session, target, {"s": make_source(session, path_table(tmp_path, "source"))})
    assert model.cursor().n == 0
    model.run(APPEND)
    assert model.rows() == [*FIRST, (7, "x")]


def test_an_own_full_refresh_starts_the_history_anew(model: Model) -> None:
    consume(model, 3)
    refresh = Model(model.spark, model.target, model.sources, from_cursor=False)
    refresh.run(CREATE)
    assert (model.cursor().n, reached(model), model.rows()) == (3, 2, [*FIRST, (3, "r3")])


def test_drop_and_create_is_another_table(session: SparkSession) -> None:
    session.sql("create schema if not exists consume_drop")
    model = Model(session, "consume_drop.target", {"s": make_source(session, "consume_drop.source")})
    model.run(CREATE)
    session.sql("drop table consume_drop.target")
    assert model.cursor().n == 0
    model.run(CREATE)
    assert (model.rows(), model.cursor().n) == (FIRST, 1)
    session.sql("drop schema consume_drop cascade")


def test_a_transaction_without_metadata_is_unknown(model: Model) -> None:
    session = model.spark
    session.conf.set(APP_ID, model.consumer)
    session.conf.set(TXN_VERSION, "2")
    session.sql(f"insert into {model.target} values (3, 'r3')")
    session.conf.unset(APP_ID)
    session.conf.unset(TXN_VERSION)
    with pytest.raises(OffsetUnknown, match="version 1 was written without saying up to where"):
        model.cursor()
    session.sql(f"restore table {model.target} to version as of 0")
    assert (model.cursor().n, reached(model)) == (2, 1), "above a number that was stored and restored away"


@pytest.mark.parametrize(
    "text", ["hello", "[1]", '{"streamspark": 3}', '{"other": {}}', '{"streamspark": {"consumer": "x"}}']
)
def test_the_metadata_of_others_is_no_business_of_ours(model: Model, text: str) -> None:
    model.spark.conf.set("spark.databricks.delta.commitInfo.userMetadata", text)
    model.spark.sql(f"insert into {model.target} values (99, 'by hand')")
    model.spark.conf.unset("spark.databricks.delta.commitInfo.userMetadata")
    assert (model.cursor().n, model.cursor().version) == (1, 0)


def test_metadata_of_a_later_release_is_unknown(model: Model) -> None:
    path = Path(model.target[len("delta.`") : -1]) / "_delta_log" / f"{0:020d}.json"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if "commitInfo" in line:
            body = json.loads(line["commitInfo"]["userMetadata"])
            body["streamspark"]["v"] = 2
            line["commitInfo"]["userMetadata"] = json.dumps(body)
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    path.write_text("\n".join(json.dumps(line) for line in lines))
    with pytest.raises(OffsetUnknown, match="later release"):
        model.cursor()


def test_auto_compaction_in_the_wake_of_a_consumption(session: SparkSession, tmp_path: Path) -> None:
    """It runs inside the same statement and copies the metadata; it is not the consumption."""
    target = path_table(tmp_path, "target")
    session.sql(
        f"create table {target} (id int, v string) using delta "
        "tblproperties ('delta.autoOptimize.autoCompact' = 'true')"
    )
    session.conf.set("spark.databricks.delta.autoCompact.minNumFiles", "2")
    session.sql(f"insert into {target} values (98, 'by hand')")
    model = Model(session, target, {"s": make_source(session, path_table(tmp_path, "source"))})
    outcome = model.run(APPEND)
    log = TableLog(session, target)
    assert [commit.operation for commit in log.commits(0, log.version)] == ["WRITE", "WRITE", "OPTIMIZE"]
    assert (outcome.version, model.cursor().version, newest(session, target)) == (2, 2, 3)


def test_two_consumers_of_one_stream_do_not_disturb_each_other(model: Model, tmp_path: Path) -> None:
    other = Model(model.spark, path_table(tmp_path, "other"), model.sources, consumer="streamspark/model.t.other")
    consume(model, 3)
    other.run(CREATE)
    assert (model.cursor().n, other.cursor().n, reached(other)) == (2, 1, 2)
    assert model.rows() == other.rows()


def test_two_consumers_in_one_target(model: Model) -> None:
    other = Model(model.spark, model.target, model.sources, consumer="streamspark/model.t.other")
    assert other.cursor().n == 0
    other.run(APPEND)
    assert model.plan().is_empty and other.plan().is_empty
    assert rows(model.spark, model.target) == sorted(FIRST * 2)
