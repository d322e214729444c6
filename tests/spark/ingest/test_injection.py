"""Text that a sender chose, a channel's name, a client's, a token, a value, a column, is kept as it is and names nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError
from dbt.adapters.streamspark.streams.names import table_name
from tests.consuming import path_table, rows
from tests.spark.ingest.conftest import Clients
from tests.unit.test_injection import NASTY

SECRET = "s3cret-value-of-a-row"


def test_names_tokens_and_values_come_back_as_they_were(
    session: SparkSession, table: str, make_client: Clients
) -> None:
    for number, text in enumerate(NASTY):
        with make_client(text) as client:
            channel, _ = client.open_channel(text)
            channel.insert_row({"id": number, "v": text}, text)
            channel.wait_for_flush(60)
    assert rows(session, table) == list(enumerate(NASTY))
    other = make_client("other")
    assert other.get_latest_committed_offset_tokens(NASTY) == {text: text for text in NASTY}
    for text in NASTY[::2]:
        other.drop_channel(text)
    assert set(other.get_latest_committed_offset_tokens(NASTY[1::2])) == set(NASTY[1::2])
    assert session.table(table).count() == len(NASTY)


def test_columns_are_columns(session: SparkSession, tmp_path: Path, make_client: Clients) -> None:
    names = [text for text in NASTY if text.isprintable()]
    target = path_table(tmp_path, "odd")
    session.conf.set("spark.sql.variable.substitute", "false")  # Spark would put the environment into the names
    listed = ", ".join(f"{quoted(name)} int" for name in names)
    session.sql(f"create table {target} ({listed}) using delta tblproperties ('delta.columnMapping.mode' = 'name')")
    channel, _ = make_client(table=target).open_channel("a")
    channel.insert_row({name: place for place, name in enumerate(names)}, "1")
    channel.wait_for_flush(60)
    assert session.table(target).columns == names
    assert rows(session, target) == [tuple(range(len(names)))]


@pytest.mark.parametrize("text", NASTY)
def test_a_table_s_name_is_a_name(session: SparkSession, make_client: Clients, text: str) -> None:
    before = session.sql("show tables in default").count()
    for name in (text, table_name(["default", text])):
        with pytest.raises(StreamingIngestError):
            make_client(table=None).open_channel("a", table=name)
    assert session.sql("show tables in default").count() == before


def test_no_value_of_a_row_is_in_the_log_s_commit_information(
    session: SparkSession, table: str, tmp_path: Path, make_client: Clients
) -> None:
    channel, _ = make_client().open_channel("a", on_error="continue")
    channel.insert_rows([{"id": 1, "v": "a"}, {"id": SECRET}], end_offset_token="2")
    channel.wait_for_flush(60)
    written = "".join(file.read_text() for file in (tmp_path / "events" / "_delta_log").glob("*.json"))
    assert '"id"' in written and SECRET not in written
