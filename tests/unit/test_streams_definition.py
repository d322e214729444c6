"""A stream's definition in its view's properties. No Spark."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from dbt.adapters.streamspark.changes.frontier import Frontier, TableVersion
from dbt.adapters.streamspark.errors import BrokenSource
from dbt.adapters.streamspark.streams.base_query import parse_base_query
from dbt.adapters.streamspark.streams.config import StreamConfig
from dbt.adapters.streamspark.streams.definition import (
    StreamDefinition,
    altered,
    differences,
    from_properties,
    new_definition,
)
from dbt.adapters.streamspark.streams.stored_query import text_of

START = Frontier.of(TableVersion("id-1", "db.orders", 4, "c4"), timestamp=datetime(2026, 1, 1, tzinfo=timezone.utc))


def made(sql: str = "select * from db.orders", **config: object) -> StreamDefinition:
    return new_definition(StreamConfig(**config), parse_base_query(sql), START)  # type: ignore[arg-type]


def test_properties_round_trip() -> None:
    stream = made("select id, it's from db.orders".replace("it's", "`it's`"), unique_key=("id",))
    properties = stream.to_properties()
    assert from_properties(properties, "db.s") == stream
    assert properties["streamspark.kind"] == "stream"
    assert properties["streamspark.base_table"] == "db.orders"
    assert properties["streamspark.start_version"] == "4"


def test_a_long_query_is_kept_in_parts() -> None:
    names = ", ".join(f"a_rather_long_column_name_{i}" for i in range(300))
    stream = made(f"select {names} from db.orders")
    properties = stream.to_properties()
    assert max(len(value) for value in properties.values()) < 4000
    assert from_properties(properties, "db.s") == stream


def test_each_stream_has_an_id_of_its_own() -> None:
    assert made().id != made().id


def test_other_views_are_no_streams() -> None:
    assert from_properties({"comment": "x"}, "db.v") is None


def test_a_damaged_definition_is_an_error() -> None:
    with pytest.raises(BrokenSource, match=r"db\.s: its definition .* is damaged"):
        from_properties({"streamspark.kind": "stream", "streamspark.definition": "{"}, "db.s")


def test_a_definition_of_a_later_release_is_an_error() -> None:
    text = made().to_properties()["streamspark.definition"].replace('"v": 1', '"v": 2')
    with pytest.raises(BrokenSource, match="later release"):
        from_properties({"streamspark.kind": "stream", "streamspark.definition": text}, "db.s")


def test_spelling_and_the_tables_name_make_no_other_stream() -> None:
    one = made("select o.id, o.v from db.orders o -- all of them")
    other = made("SELECT id, v FROM db.renamed")
    assert one.fingerprint == other.fingerprint
    assert differences(one, other) == {}


def test_what_differs_is_told() -> None:
    old = made()
    new = altered(old, StreamConfig(mode="append_only"), parse_base_query("select id from db.orders"))
    assert (new.id, new.start, new.created_on) == (old.id, old.start, old.created_on)
    assert set(differences(old, new)) == {"mode", "query"}
    assert differences(old, replace(old, unique_key=("ID",))) == {"unique_key": ([], ["id"])}


def test_a_stream_on_a_query_keeps_its_text_and_all_tables() -> None:
    both = Frontier.of(*START.tables, TableVersion("id-0", "db.people", 2, "c2"), timestamp=START.timestamp)
    stream = new_definition(StreamConfig(), "select count(*) as n from {table:id-1} o, {table:id-0} p", both)
    properties = stream.to_properties()
    found = from_properties(properties, "db.s")
    assert found is not None and found.on_query
    assert (found.query, dict(found.start)) == (stream.query, {"id-1": 4, "id-0": 2})
    assert properties["streamspark.base_table"] == "db.orders, db.people"
    assert properties["streamspark.start_version"] == "4, 2"
    assert stream.position == "version 4 of db.orders, version 2 of db.people"
    other = replace(stream, query="select 1 from {table:id-1}")
    assert other.fingerprint != stream.fingerprint


def test_a_table_in_a_stored_text_is_told_by_its_id() -> None:
    text = text_of(made("select id from db.orders where id > 1"))
    assert text == "select `id` as `id` from `{table:id-1}` where id > 1"
