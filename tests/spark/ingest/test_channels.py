"""Channels: what is sent is in the table once, in order, and the token says how far."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.read import read_interval
from dbt.adapters.streamspark.ingest.channel import StreamingIngestChannel
from dbt.adapters.streamspark.ingest.client import StreamingIngestClient
from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError
from tests.consuming import clean_log, newest, rows
from tests.spark.consume.interruptions import at_step
from tests.spark.ingest.conftest import Clients


def some(*ids: int) -> list[dict[str, Any]]:
    return [{"id": number, "v": f"r{number}"} for number in ids]


def ids(session: SparkSession, table: str) -> list[int]:
    return [row[0] for row in rows(session, table)]


def test_rows_and_token_arrive_in_one_commit(session: SparkSession, table: str, make_client: Clients) -> None:
    client = make_client()
    channel, status = client.open_channel("a")
    assert status.latest_committed_offset_token is None and status.status_code == "SUCCESS"
    before = newest(session, table)
    channel.append_rows(some(1, 2), end_offset_token="2")
    channel.append_row({"id": 3}, "3")
    assert channel.get_latest_committed_offset_token() is None
    channel.wait_for_flush(60)
    assert channel.get_latest_committed_offset_token() == "3"
    assert rows(session, table) == [(1, "r1"), (2, "r2"), (3, None)]
    assert newest(session, table) == before + 1
    channel.append_rows(some(4), end_offset_token="4")
    channel.close()
    assert make_client("other").open_channel("a")[1].latest_committed_offset_token == "4"


def test_a_hundred_channels_share_a_commit(session: SparkSession, table: str, make_client: Clients) -> None:
    client = make_client()
    names = [f"c{number}" for number in range(100)]
    channels = client.open_channels(names)
    opened = newest(session, table)
    for number, name in enumerate(names):
        channels[name].append_rows(some(number), end_offset_token=str(number))
    client.wait_for_flush(60)
    assert newest(session, table) == opened + 1
    assert ids(session, table) == list(range(100))
    tokens = client.get_latest_committed_offset_tokens(names)
    assert tokens == {name: str(number) for number, name in enumerate(names)}
    assert make_client("other").get_latest_committed_offset_tokens(names) == tokens


def test_opening_elsewhere_fences(session: SparkSession, table: str, make_client: Clients) -> None:
    first, _ = make_client("first").open_channel("a")
    first.append_rows(some(1), end_offset_token="1")
    first.wait_for_flush(60)
    first.append_rows(some(2), end_offset_token="2")
    second, status = make_client("second").open_channel("a")
    assert status.latest_committed_offset_token == "1"
    with pytest.raises(StreamingIngestError, match=r"channel a of table .* was opened again, by client second"):
        first.wait_for_flush(60)
    with pytest.raises(StreamingIngestError, match="opened again") as raised:
        first.append_rows(some(3))
    assert raised.value.error_code == "InvalidChannelError" and not first.is_valid()
    assert first.get_channel_status().status_code == "InvalidChannelError"
    second.append_rows(some(2), end_offset_token="2")
    second.wait_for_flush(60)
    assert ids(session, table) == [1, 2]


def test_fenced_between_reading_and_committing(session: SparkSession, table: str, make_client: Clients) -> None:
    """The other client's commit comes after the flush has looked: Delta finds the conflict. Other channels go on."""
    client, other = make_client("first"), make_client("second")
    channels = client.open_channels(["a", "b"])
    channels["a"].append_rows(some(1), end_offset_token="1")
    channels["b"].append_rows(some(2), end_offset_token="2")
    opened: list[Any] = []
    with at_step("before_commit", lambda: opened.append(other.open_channel("a")), anywhere=True):
        channels["b"].wait_for_flush(60)
    assert opened[0][1].latest_committed_offset_token is None
    assert channels["b"].get_latest_committed_offset_token() == "2"
    with pytest.raises(StreamingIngestError, match="was opened again, by client second"):
        channels["a"].append_rows(some(3))
    assert ids(session, table) == [2]


def test_closed_while_written_and_opened_elsewhere(session: SparkSession, table: str, make_client: Clients) -> None:
    """A flush has the rows of a channel that its client no longer knows: whoever opened it since is not overwritten."""
    client, other = make_client("first"), make_client("second")
    channels = client.open_channels(["a", "b"])
    channels["a"].append_rows(some(1), end_offset_token="1")
    channels["b"].append_rows(some(2), end_offset_token="2")
    opened: list[StreamingIngestChannel] = []

    def race() -> None:
        channels["a"].close(wait_for_flush=False)
        opened.append(other.open_channel("a")[0])

    with at_step("before_flush", race, anywhere=True):
        channels["b"].wait_for_flush(60)
    assert ids(session, table) == [2]
    send(opened[0], 5)
    assert ids(session, table) == [2, 5]


def test_reopening_in_one_client_discards_what_waits(session: SparkSession, table: str, make_client: Clients) -> None:
    client = make_client()
    old, _ = client.open_channel("a")
    old.append_rows(some(1), end_offset_token="1")
    new, status = client.open_channel("a")
    assert status.latest_committed_offset_token is None
    with pytest.raises(StreamingIngestError, match="opened again, by this client"):
        old.append_rows(some(2))
    new.append_rows(some(5), end_offset_token="5")
    client.close()
    assert ids(session, table) == [5]


def test_tokens_outlive_the_log(session: SparkSession, table: str, make_client: Clients) -> None:
    channel, _ = make_client().open_channel("a")
    channel.append_rows(some(1), end_offset_token="one")
    channel.close()
    for number in range(3):
        session.sql(f"insert into {table} values ({number + 10}, 'x')")
    clean_log(session, table, newest(session, table))
    assert make_client("later").open_channel("a")[1].latest_committed_offset_token == "one"


def test_expiry_after_thirty_days(session: SparkSession, table: str, make_client: Clients) -> None:
    now = [1_800_000_000.0]
    client = make_client(clock=lambda: now[0])
    channel, _ = client.open_channel("a")
    channel.append_rows(some(1), end_offset_token="1")
    channel.wait_for_flush(60)
    now[0] += 30 * 86400 - 1
    assert client.get_latest_committed_offset_tokens(["a"]) == {"a": "1"}
    now[0] += 2
    with pytest.raises(StreamingIngestError, match=r"has no channel a: .* idle for 30 days") as raised:
        client.get_latest_committed_offset_tokens(["a"])
    assert raised.value.error_code == "ChannelNotFound"
    status = make_client("later", clock=lambda: now[0]).open_channel("a")[1]
    assert status.latest_committed_offset_token is None and status.rows_inserted_count == 0
    assert status.created_on.timestamp() == now[0]
    with pytest.raises(StreamingIngestError, match="opened again"):
        channel.append_rows(some(2))
        channel.wait_for_flush(60)


def test_a_schema_change_invalidates(session: SparkSession, table: str, make_client: Clients) -> None:
    client = make_client()
    channel, _ = client.open_channel("a")
    channel.append_rows(some(1), end_offset_token="1")
    channel.wait_for_flush(60)
    session.sql(f"alter table {table} set tblproperties ('delta.appendOnly' = 'false')")
    channel.append_rows(some(2), end_offset_token="2")
    channel.wait_for_flush(60)
    channel.append_rows(some(3), end_offset_token="3")
    session.sql(f"alter table {table} add columns (extra int)")
    with pytest.raises(StreamingIngestError, match=r"channel a: table .* has another schema since its version"):
        channel.wait_for_flush(60)
    again, status = client.open_channel("a")
    assert status.latest_committed_offset_token == "2"
    again.append_rows([{"id": 3, "extra": 7}], end_offset_token="3")
    client.close()
    assert rows(session, table) == [(1, "r1", None), (2, "r2", None), (3, None, 7)]


def test_restore_takes_the_token_back(session: SparkSession, table: str, make_client: Clients) -> None:
    client = make_client()
    channel, _ = client.open_channel("a")
    for number in (1, 2):
        channel.append_rows(some(number), end_offset_token=str(number))
        channel.wait_for_flush(60)
    session.sql(f"restore table {table} to version as of {newest(session, table) - 1}")
    channel.append_rows(some(3), end_offset_token="3")
    with pytest.raises(StreamingIngestError, match=r"was taken to another state \(RESTORE"):
        channel.wait_for_flush(60)
    again, status = client.open_channel("a")
    assert status.latest_committed_offset_token == "1"
    again.append_rows(some(2), end_offset_token="2")
    client.close()
    assert ids(session, table) == [1, 2]
    assert make_client("later").open_channel("a")[1].latest_committed_offset_token == "2"


def test_a_replaced_table_has_new_channels(session: SparkSession, make_client: Clients) -> None:
    session.sql("create or replace table replaced_events (id bigint, v string) using delta")
    client = make_client(table="replaced_events")
    channel, _ = client.open_channel("a")
    channel.append_rows(some(1), end_offset_token="1")
    channel.wait_for_flush(60)
    session.sql("create or replace table replaced_events (id bigint, v string) using delta")
    channel.append_rows(some(2), end_offset_token="2")
    with pytest.raises(StreamingIngestError, match="channel a: table replaced_events was"):
        channel.wait_for_flush(60)
    assert client.open_channel("a")[1].latest_committed_offset_token is None
    client.close()
    session.sql("drop table replaced_events")


def test_dropping(session: SparkSession, table: str, make_client: Clients) -> None:
    client = make_client()
    channel, _ = client.open_channel("a")
    channel.append_rows(some(1), end_offset_token="1")
    channel.close(drop=True)
    assert ids(session, table) == [1]
    with pytest.raises(StreamingIngestError, match="has no channel a"):
        client.drop_channel("a")
    channel, status = client.open_channel("a")
    assert status.latest_committed_offset_token is None
    make_client("other").drop_channel("a")
    channel.append_rows(some(2))
    with pytest.raises(StreamingIngestError, match=r"channel a of table .* was dropped"):
        channel.wait_for_flush(60)
    assert ids(session, table) == [1]


def test_lag_and_waiting_for_a_token(session: SparkSession, table: str, make_client: Clients) -> None:
    channel, _ = make_client(max_client_lag=0.5).open_channel("a")
    for number in range(3):
        channel.append_row(some(number)[0], str(number))
    channel.wait_for_commit(lambda token: token is not None and int(token) >= 2, 60)
    assert ids(session, table) == [0, 1, 2]
    with pytest.raises(TimeoutError, match="the committed token is '2'"):
        channel.wait_for_commit(lambda token: token == "9", 0.2)
    status = channel.get_channel_status()
    assert (status.rows_inserted_count, status.rows_parsed_count, status.rows_error_count) == (3, 3, 0)
    assert status.server_avg_processing_latency is not None and status.server_avg_processing_latency >= 0.4


def test_flush_by_bytes(session: SparkSession, table: str, make_client: Clients) -> None:
    """Soon, however long rows may wait for others."""
    channel, _ = make_client(flush_bytes=1000).open_channel("a")
    channel.append_rows(some(*range(100)), end_offset_token="99")
    channel.wait_for_commit(lambda token: token == "99", 25)
    assert ids(session, table) == list(range(100))


@pytest.mark.parametrize("kind", ["table", "batch", "frame"])
def test_kinds_of_rows(session: SparkSession, table: str, make_client: Clients, kind: str) -> None:
    client = make_client()
    channel, _ = client.open_channel("a")
    data = pa.table({"ID": pa.array([1, 2], pa.int32()), "v": pa.array(["a", None], pa.large_string())})
    given = {"table": data, "batch": data.to_batches()[0], "frame": pd.DataFrame({"id": [1, 2], "v": ["a", None]})}
    channel.append_rows(given[kind], end_offset_token="2")
    client.close()
    assert rows(session, table) == [(1, "a"), (2, None)]


def test_tokens_go_backwards_as_they_are_told(session: SparkSession, table: str, make_client: Clients) -> None:
    """A token is the application's own text (document 004): it is not compared, and the last one counts."""
    client = make_client()
    channel, _ = client.open_channel("a")
    channel.append_rows(some(1), end_offset_token="9")
    channel.append_rows(some(2), end_offset_token="3")
    channel.append_rows(some(3))
    channel.wait_for_flush(60)
    assert channel.get_latest_committed_offset_token() == "3"
    assert client.open_channel("a", offset_token="7")[1].latest_committed_offset_token == "7"
    assert make_client("other").get_latest_committed_offset_tokens(["a"]) == {"a": "7"}


def test_order_is_kept_within_a_channel(session: SparkSession, tmp_path: Any, make_client: Clients) -> None:
    name = f"delta.`{tmp_path / 'tracked'}`"
    session.sql(
        f"create table {name} (channel string, n int) using delta tblproperties ('delta.enableRowTracking' = 'true')"
    )
    client = make_client(table=name)
    channels = client.open_channels(["a", "b"])
    for number in range(40):
        for key, channel in channels.items():
            channel.append_rows([{"channel": key, "n": number * 2}, {"channel": key, "n": number * 2 + 1}])
        if number % 15 == 0:
            client.wait_for_flush(60)
    client.close()
    for key in channels:
        found = session.sql(f"select n from {name} where channel = '{key}' order by _metadata.row_id").collect()
        assert [row[0] for row in found] == list(range(80))


def test_joining_small_files_leaves_streams_unmoved(session: SparkSession, table: str) -> None:
    """By OPTIMIZE, and by Delta itself after a flush, whose settings are those of the application's session."""
    session.sql(f"alter table {table} set tblproperties ('delta.enableRowTracking' = 'true')")
    session.conf.set("spark.databricks.delta.autoCompact.minNumFiles", "3")
    with StreamingIngestClient(session, "client", table, max_client_lag=600) as client:
        channel, _ = client.open_channel("a")
        send(channel, 0, 1, 2)
        start = newest(session, table)
        session.sql(f"optimize {table}")
        send(channel, 3)
        assert joined_and_read(session, table, start) == [3]
        session.sql(f"alter table {table} set tblproperties ('delta.autoOptimize.autoCompact' = 'true')")
        start = newest(session, table)
        send(channel, 4, 5, 6)
        assert joined_and_read(session, table, start) == [4, 5, 6]


def send(channel: StreamingIngestChannel, *numbers: int) -> None:
    """A flush for each row."""
    for number in numbers:
        channel.append_rows(some(number), end_offset_token=str(number))
        channel.wait_for_flush(60)


def joined_and_read(session: SparkSession, table: str, start: int) -> list[int]:
    """The ids that streams of both modes give since `start`, of a table whose files were joined meanwhile."""
    log = TableLog(session, table)
    assert "OPTIMIZE" in [log.commit(version).operation for version in range(start + 1, log.version + 1)]
    found = {mode: changes_since(session, log, start, mode) for mode in ("standard", "append_only")}
    assert found["standard"] == found["append_only"]
    return found["standard"]


def changes_since(session: SparkSession, log: TableLog, start: int, mode: str) -> list[int]:
    rows = read_interval(session, log, start, log.version, mode=mode).dataframe.collect()
    assert {row["_change_type"] for row in rows} == {"insert"}
    return sorted(row["id"] for row in rows)
