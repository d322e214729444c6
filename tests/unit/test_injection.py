"""What others chose, a name, a comment, a value, stays that in the SQL made of it: parsed by another parser, and compared."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from types import SimpleNamespace
from typing import Any

import pytest
from sqlglot import exp, parse

from dbt.adapters.streamspark.changes.frontier import Frontier, TableVersion
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.consume.changes_applied import changes_applied
from dbt.adapters.streamspark.consume.columns import Column
from dbt.adapters.streamspark.consume.consumption import Consumption, StreamRead
from dbt.adapters.streamspark.consume.planner import view_name
from dbt.adapters.streamspark.consume.scd_config import ScdConfig
from dbt.adapters.streamspark.errors import StreamsparkError
from dbt.adapters.streamspark.literals import bind, in_comment, literal
from dbt.adapters.streamspark.operate.stale_offsets import StaleOffset, rows_sql
from dbt.adapters.streamspark.streams.base_query import parse_base_query
from dbt.adapters.streamspark.streams.changes_clause import ChangesClause
from dbt.adapters.streamspark.streams.config import StreamConfig
from dbt.adapters.streamspark.streams.definition import from_properties, new_definition
from dbt.adapters.streamspark.streams.names import table_name, table_sql

NOW = datetime(2026, 11, 22, tzinfo=timezone.utc)
POINT = Frontier.of(TableVersion("id", "db.t", 3, "c"), timestamp=NOW)
NASTY = [
    "it's",
    'a"b',
    "a`b",
    "a``b",
    "x; drop table t",
    "x -- y",
    "x /* y",
    "x */ y",
    "a\nb",
    "back\\",
    "back\\'; drop table t; --",
    "${env:HOME}",
    "${spark.app.id}",
    "{{ env_var('HOME') }}",
    "%s",
    "ünï\u2028cødé",
]
nasty = pytest.mark.parametrize("text", NASTY)


def one(sql: str) -> Any:
    """The one statement that `sql` is."""
    statements = parse(sql, dialect="spark")
    assert len(statements) == 1
    return statements[0]


@nasty
def test_a_value_is_one_literal(text: str) -> None:
    found = one(f"select {literal(text)}, 1").expressions
    assert len(found) == 2 and isinstance(found[0], exp.Literal)
    assert found[0].this.replace("$\\{", "${") == text
    assert "${" not in literal(text)


@nasty
def test_a_bound_value_is_one_literal(text: str) -> None:
    assert bind("select %s, '%s', 1", [text]) == f"select {literal(text)}, '%s', 1"


@nasty
def test_a_name_is_one_identifier(text: str) -> None:
    (column,) = one(f"select {quoted(text)}").expressions
    assert column.name == text
    (table,) = one(f"select * from {table_name(['db', text])}").find_all(exp.Table)
    assert (table.db, table.name) == ("db", text)


@nasty
def test_a_name_from_the_command_line_is_names_alone(text: str) -> None:
    """`dbt run-operation … --args`: whatever it is, only identifiers come of it."""
    tokens = one(f"select * from {table_sql(f'db.{text}')}")
    (table,) = tokens.find_all(exp.Table)
    assert tokens.sql("spark") == f"SELECT * FROM {table.sql('spark')}"
    assert all(part.args["quoted"] for part in table.parts)


@nasty
def test_a_note_ends_where_it_ends(text: str) -> None:
    """Spark's comments nest, so an opening one must not stand in it either."""
    assert not {"/*", "*/"} & {in_comment(text)[i : i + 2] for i in range(len(text) + 2)}
    assert one(f"select 1 /* {in_comment(text)} */, 2").expressions[1].this == "2"


@nasty
def test_a_stream_s_name_gives_a_plain_view(text: str) -> None:
    stream: Any = SimpleNamespace(name=f"db.{text}", definition=SimpleNamespace(id="1234567890"))
    name = view_name(stream, POINT, POINT)
    assert name.replace("_", "a").isalnum()


@nasty
def test_the_arguments_of_changes_make_no_sql(text: str) -> None:
    clause = ChangesClause("select 1 as a", text, text, {"format": text})
    (table,) = one(f"select * from {clause.relation}").find_all(exp.Table)
    assert table.name.startswith("streamspark_changes__")


@nasty
def test_names_in_a_stream_s_query_come_through(text: str) -> None:
    query = parse_base_query(f"select {quoted(text)} as {quoted('n' + text)} from {table_name(['db', text])}")
    assert query.table == table_name(["db", text])
    assert [item.name for item in query.items] == ["n" + text]  # type: ignore[union-attr]
    assert parse_base_query(query.text) == query


@pytest.mark.parametrize("text", ["select 1 from t; drop table t", "drop table t", "select * from t where a = 'x"])
def test_a_stream_s_query_is_one_query(text: str) -> None:
    with pytest.raises(StreamsparkError):
        parse_base_query(text)


@nasty
def test_properties_hold_what_was_given(text: str) -> None:
    query = parse_base_query(f"select * from db.t where v = {literal(text)}")
    definition = new_definition(StreamConfig(unique_key=(text,)), query, POINT)
    properties = definition.to_properties()
    assert from_properties(properties, "db.s") == definition
    pairs = ", ".join(f"{literal(key)} = {literal(value)}" for key, value in properties.items())
    view = one(f"create view v tblproperties ({pairs}) as select 1")
    assert isinstance(view, exp.Create) and len(list(view.find_all(exp.Property))) == len(properties)


@nasty
def test_metadata_is_json_that_spark_leaves_alone(text: str) -> None:
    read = StreamRead(text, text, POINT, POINT, "x", query=f"select {literal(text)}, '{text}'")
    written = Consumption(f"streamspark/{text}", "db.t", 1, text, (read,)).user_metadata()
    assert "${" not in written
    body = json.loads(written)["streamspark"]
    assert (body["consumer"], body["invocation"], body["streams"][text]["name"]) == (f"streamspark/{text}", text, text)
    assert body["streams"][text]["query"] == read.query


@nasty
def test_what_an_error_says_is_a_value_in_a_test_s_sql(text: str) -> None:
    found = one(rows_sql([StaleOffset(text, None, text)]))
    assert [literal_.this.replace("$\\{", "${") for literal_ in found.find_all(exp.Literal)] == [text, "None", text]


@nasty
@pytest.mark.parametrize("scd_type", [None, 1, 2])
def test_columns_of_a_history_are_columns(text: str, scd_type: int | None) -> None:
    config = {} if scd_type is None else {"scd_type": scd_type, "sequence_by": text, "soft_deletes": True}
    columns = (Column("id", "int"), Column(text, "int"), Column("_change_type", "string"))
    made: Any = changes_applied(f"model.{text}", "`rows`", columns, ScdConfig(unique_key=("id",), **config))  # type: ignore[arg-type]
    target = list(columns[:2]) if scd_type is None else [*columns[:2], *made.scd.extra]
    merge = one(made.merge("`db`.`t`", target).sql())
    assert isinstance(merge, exp.Merge)
    assert text in {column.name for column in merge.find_all(exp.Column, exp.Dot, exp.Identifier)}
