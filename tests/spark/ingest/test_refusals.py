"""What channels refuse, each with an error that says what was found and what to do; and how a call's bad rows are told."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.ingest.client import StreamingIngestClient
from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError
from dbt.adapters.streamspark.steps import on_step
from tests.consuming import newest, rows
from tests.spark.ingest.conftest import Clients

BAD = [{"id": 1, "v": "a"}, {"id": "x"}, {"id": 2, "z": 0}, {"id": 3}]


def test_continue_takes_the_rows_that_fit(session: SparkSession, table: str, make_client: Clients) -> None:
    channel, _ = make_client().open_channel("a", on_error="continue")
    answer = channel.insert_rows(BAD, "1", "4")
    assert answer.has_errors and answer.rows_accepted == 2 and answer.error_row_count == 2
    assert [error.row_index for error in answer.insert_errors] == [1, 2]
    assert answer.insert_errors[1].extra_col_names == ("z",)
    channel.insert_row({"id": None}, "5")
    channel.wait_for_flush(60)
    assert rows(session, table) == [(1, "a"), (3, None)]
    status = make_client("other").get_channel_statuses(["a"])["a"]
    assert (status.rows_inserted_count, status.rows_parsed_count, status.rows_error_count) == (2, 5, 3)
    assert status.latest_committed_offset_token == status.last_error_offset_token_upper_bound == "5"
    assert status.last_error_message == "null, and may not be: id" and status.last_error_timestamp is not None


def test_skip_batch_takes_none(session: SparkSession, table: str, make_client: Clients) -> None:
    channel, _ = make_client().open_channel("a", on_error="skip_batch")
    answer = channel.insert_rows(BAD, end_offset_token="4")
    assert answer.rows_accepted == 0 and [error.row_index for error in answer.insert_errors] == [1, 2]
    assert not channel.insert_rows(BAD[:1], end_offset_token="1").has_errors
    channel.wait_for_flush(60)
    assert rows(session, table) == [(1, "a")] and channel.get_latest_committed_offset_token() == "1"
    assert channel.get_channel_status().rows_error_count == 2


def test_abort_raises_at_the_first(session: SparkSession, table: str, make_client: Clients) -> None:
    channel, _ = make_client().open_channel("a")
    with pytest.raises(StreamingIngestError, match=r"row 1 does not fit, so none .*: column id: 'x'") as raised:
        channel.insert_rows(BAD, end_offset_token="4")
    assert raised.value.error_code == "InvalidRow"
    with pytest.raises(StreamingIngestError, match="a row is a mapping of column names to values, not a list"):
        channel.insert_row([1, "a"])
    channel.insert_rows(BAD[:1], end_offset_token="1")
    channel.close()
    assert rows(session, table) == [(1, "a")]


def refused(client: StreamingIngestClient, **options: Any) -> StreamingIngestError:
    with pytest.raises(StreamingIngestError) as raised:
        client.open_channel("a", **options)
    return raised.value


def test_tables_that_are_none(session: SparkSession, tmp_path: Path, make_client: Clients) -> None:
    session.sql("create or replace view ingest_view as select 1 as id")
    session.sql("create table if not exists ingest_parquet (id int) using parquet")
    client = make_client(table=None)
    cases = {
        "ingest_missing": ("TableNotFound", "table ingest_missing does not exist: CREATE TABLE ingest_missing"),
        f"delta.`{tmp_path}/nothing`": ("UnsupportedTable", "is not a Delta table: nothing is committed at"),
        "ingest_view": ("UnsupportedTable", "ingest_view is a view: open the channel on the table below it"),
        "ingest_parquet": ("UnsupportedTable", "is not a Delta table"),
    }
    for name, (code, said) in cases.items():
        error = refused(client, table=name)
        assert error.error_code == code and said in str(error), str(error)
    assert "say which table" in str(refused(client))
    session.sql("drop view ingest_view")
    session.sql("drop table ingest_parquet")


def test_tables_that_channels_cannot_fill(session: SparkSession, tmp_path: Path, make_client: Clients) -> None:
    generated = f"delta.`{tmp_path}/generated`"
    session.sql(f"create table {generated} (id int, twice int generated always as (id * 2)) using delta")
    checked = f"delta.`{tmp_path}/checked`"
    session.sql(f"create table {checked} (id int) using delta")
    session.sql(f"alter table {checked} add constraint positive check (id > 0)")
    client = make_client(table=None)
    assert "column twice is a generated column" in str(refused(client, table=generated))
    assert "has the CHECK constraint positive" in str(refused(client, table=checked))


def test_arguments(table: str, make_client: Clients) -> None:
    client = make_client()
    assert "default_timezone is 'Mars'" in str(refused(client, default_timezone="Mars"))
    assert "on_error is 'ignore': it is one of continue, skip_batch, abort" in str(refused(client, on_error="ignore"))
    with pytest.raises(StreamingIngestError, match="a channel's name is a text that is not empty"):
        client.open_channel("")
    with pytest.raises(StreamingIngestError, match="max_client_lag is 601"):
        make_client(max_client_lag=601)


def test_texts_that_are_too_long(session: SparkSession, tmp_path: Path, make_client: Clients) -> None:
    short = f"delta.`{tmp_path}/short`"
    session.sql(f"create table {short} (v varchar(3)) using delta")
    channel, _ = make_client(table=short).open_channel("a")
    with pytest.raises(StreamingIngestError, match="column v: 4 characters, and the column holds 3") as raised:
        channel.append_row({"v": "abcd"})
    assert raised.value.error_code == "InvalidRow"


def test_use_after_close(session: SparkSession, table: str, make_client: Clients) -> None:
    client = make_client()
    with client, client.open_channel("a")[0] as channel:
        channel.append_row({"id": 1}, "1")
    assert channel.is_closed() and client.is_closed() and rows(session, table) == [(1, None)]
    for act in (lambda: channel.append_row({"id": 2}), channel.flush, channel.initiate_flush):
        with pytest.raises(StreamingIngestError, match="channel a is closed: open it again") as raised:
            act()
        assert raised.value.error_code == "ClosedChannelError"
    with pytest.raises(StreamingIngestError, match="client client is closed") as raised:
        client.open_channel("a")
    assert raised.value.error_code == "ClosedClientError"
    channel.close()
    client.close()
    assert rows(session, table) == [(1, None)]


def test_rows_that_wait_can_be_given_up(session: SparkSession, table: str, make_client: Clients) -> None:
    client = make_client()
    channel, _ = client.open_channel("a")
    channel.append_row({"id": 1}, "1")
    channel.close(wait_for_flush=False)
    assert client._memory.used == 0 and rows(session, table) == []


def test_closing_while_rows_are_written(session: SparkSession, table: str, make_client: Clients) -> None:
    """Rows that a flush has taken are no longer waiting: they land, and other channels are not concerned."""
    client = make_client()
    channels = client.open_channels(["a", "b"])
    stop = on_step(lambda step: channels["a"].close(wait_for_flush=False) if step == "before_commit" else None)
    try:
        channels["a"].append_row({"id": 1}, "1")
        channels["b"].append_row({"id": 2}, "2")
        channels["b"].wait_for_flush(60)
    finally:
        stop()
    assert rows(session, table) == [(1, None), (2, None)] and client._memory.used == 0
    assert client.get_latest_committed_offset_tokens(["a", "b"]) == {"a": "1", "b": "2"}


def test_a_failed_writer_is_seen_by_the_next_call(session: SparkSession, table: str, make_client: Clients) -> None:
    client = make_client(max_client_lag=0.1)
    channels = client.open_channels(["a", "b"])

    def fail(step: str) -> None:
        if step == "before_commit":
            raise OSError("no space left on device")

    stop = on_step(fail)
    try:
        channels["a"].append_row({"id": 1}, "1")
        with pytest.raises(StreamingIngestError, match="rows could not be written: no space left") as raised:
            channels["a"].wait_for_commit(lambda token: token == "1", 60)
    finally:
        stop()
    assert raised.value.error_code == "WriterFailed" and isinstance(raised.value.__cause__, StreamingIngestError)
    for act in (lambda: channels["b"].append_row({"id": 2}), channels["b"].get_latest_committed_offset_token):
        with pytest.raises(StreamingIngestError, match="no space left"):
            act()
    with pytest.raises(StreamingIngestError, match="no space left"):
        client.close()
    again, status = make_client("again", max_client_lag=0.1).open_channel("a")
    assert status.latest_committed_offset_token is None
    again.append_row({"id": 1}, "1")
    again.close()
    assert rows(session, table) == [(1, None)]


def test_a_slow_disk_blocks_within_the_bound(session: SparkSession, table: str, make_client: Clients) -> None:
    """The bound is one of Arrow's own memory, too: what waits, and once more a flush that is written."""
    gate, armed, bound, flush = threading.Event(), [], 10_000_000, 2_500_000
    used: list[int] = []

    def wait(step: str) -> None:
        if step == "before_commit" and armed:
            gate.wait(60)
            time.sleep(0.3)
            used.append(pa.total_allocated_bytes())

    stop = on_step(wait)
    client = make_client(flush_bytes=flush, max_buffered_bytes=bound, max_client_lag=0.1)
    batch = pa.record_batch({"id": pa.array(range(1000)), "v": pa.array(["x" * 992] * 1000)})
    try:
        channel, _ = client.open_channel("a")
        armed.append(True)
        before = pa.total_allocated_bytes()
        sender = threading.Thread(target=lambda: [channel.append_rows(copied(batch)) for _ in range(30)])
        sender.start()
        sender.join(3)
        assert sender.is_alive() and bound / 2 < client._memory.used <= bound
        gate.set()
        sender.join(60)
        assert not sender.is_alive()
    finally:
        gate.set()
        stop()
    client.close()
    assert client._memory.most_used <= bound and client._memory.used == 0
    assert len(used) > 10 and max(used) - before <= bound + flush
    assert session.table(table).count() == 30_000
    written = [flush_rows(TableLog(session, table), version) for version in range(2, newest(session, table) + 1)]
    assert max(written) <= flush / 1000


def copied(batch: pa.RecordBatch) -> pa.RecordBatch:
    return pa.ipc.read_record_batch(batch.serialize(), batch.schema)


def flush_rows(log: TableLog, version: int) -> int:
    return int(log.commit(version).info.get("operationMetrics", {}).get("numOutputRows", 0))


def test_a_full_memory_raises_where_that_is_asked_for(table: str, make_client: Clients) -> None:
    client = make_client(flush_bytes=5_000, max_buffered_bytes=5_000, when_full="raise")
    channel, _ = client.open_channel("a")
    with pytest.raises(StreamingIngestError, match="send these rows again later") as raised:
        for number in range(1000):
            channel.append_row({"id": number, "v": "x" * 1000}, str(number))
    assert raised.value.error_code == "ReceiverSaturated"
    channel.wait_for_commit(lambda token: token is not None, 25)  # nobody asked, and rows may wait for minutes
    channel.wait_for_flush(60)  # its memory is free a moment after the commit
    channel.append_row({"id": 0})
