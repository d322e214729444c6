"""The worked examples of documents 001 and 003, and Listings 4, 5 and 9 of 002, values compared row by row. Those of 002
on queries are in tests/spark/queries/test_documents.py; 000 has none."""

from __future__ import annotations

from typing import ClassVar

import pytest

from tests.functional.projects import READY, SOURCES, World, run

# what a stream asks for is there already: its making is no version of theirs
STREAM = "{{{{ config(materialized='stream', {config}) }}}} select * from {{{{ source('raw', '{table}') }}}}"
PEOPLE = [(1, "Alice", 20), (2, "Bob", 25), (3, "Charlie", 30), (4, "David", 35), (5, "Eve", 40)]
INSERT_PEOPLE = "insert into {raw}.people values " + ", ".join(str(row) for row in PEOPLE)


class TestTableStreams:
    """Document 001: the append-only case and the standard case, with its hand-written MERGE consuming the stream."""

    prepare = (
        "create table {raw}.people (id int, name string, age int) using delta",
        "create table {raw}.orders using delta as select 1 as unused",
    )

    @pytest.fixture(scope="class")
    def macros(self) -> dict[str, str]:
        merge = """
{% macro get_incremental_documented_sql(arg_dict) %}
  merge into {{ arg_dict.target_relation }} target
  using {{ arg_dict.temp_relation }} source_stream on target.id = source_stream.id
  when matched and source_stream.__change_type = 'UPDATE_AFTER' then update set target.age = source_stream.age
  when matched and source_stream.__change_type = 'DELETE' then delete
  when not matched and source_stream.__change_type = 'INSERT' then
    insert (id, name, age) values (source_stream.id, source_stream.name, source_stream.age)
{% endmacro %}
"""
        return {"documented.sql": merge}

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "sources.yml": SOURCES,
            "appended.sql": STREAM.format(config="mode='append_only', metadata_columns='singdata'", table="people"),
            "standard.sql": STREAM.format(config="metadata_columns='singdata'", table="people"),
            "consume.sql": """
{{ config(materialized='incremental', incremental_strategy='documented') }}
select id, name, age {% if is_incremental() %}, __change_type{% endif %} from {{ stream('standard') }}
where __change_type <> 'UPDATE_BEFORE'
""",
            "log.sql": """
{{ config(materialized='table') }}
select __change_type, __commit_version - {{ var('zero') }} as v, __commit_timestamp, id, name, age
from {{ stream('standard') }}
""",
        }

    appended: ClassVar[str] = "select __change_type, __commit_version - {} as v, id, name, age from {{dbt}}.appended"
    zero: ClassVar[int] = 0

    def build(self, world: World) -> None:
        run("run", "--vars", f"{{zero: {self.zero}}}")

    def seen(self, world: World) -> list[tuple[object, ...]]:
        return world.rows("select __change_type, v, id, name, age from {dbt}.log order by id")

    def test_the_streams_are_made(self, world: World) -> None:
        self.build(world)
        type(self).zero = world.stream("standard").base_table.version
        assert world.rows("consume") == []

    def test_inserts_are_in_both(self, world: World) -> None:
        world.sql(INSERT_PEOPLE)
        inserted = [("INSERT", 1, *row) for row in PEOPLE]
        assert world.rows(self.appended.format(self.zero)) == inserted
        self.build(world)
        assert self.seen(world) == inserted
        assert world.rows("consume") == PEOPLE

    def test_an_update_is_two_rows_in_the_standard_stream_only(self, world: World) -> None:
        world.sql("update {raw}.people set age = age + 5 where id = 1 or id = 3")
        self.build(world)
        assert self.seen(world) == [
            ("UPDATE_AFTER", 2, 1, "Alice", 25),
            ("UPDATE_AFTER", 2, 3, "Charlie", 35),
            ("UPDATE_BEFORE", 1, 1, "Alice", 20),
            ("UPDATE_BEFORE", 1, 3, "Charlie", 30),
        ]
        times = "select count(distinct __commit_timestamp) from {dbt}.log where __change_type = 'UPDATE_BEFORE'"
        assert world.rows(times) == [(1,)]
        assert world.rows("consume") == [
            (1, "Alice", 25), (2, "Bob", 25), (3, "Charlie", 35), (4, "David", 35), (5, "Eve", 40),
        ]  # fmt: skip

    def test_deletes_carry_the_old_row_and_its_version(self, world: World) -> None:
        world.sql("delete from {raw}.people where id = 2 or id = 4")
        self.build(world)
        assert self.seen(world) == [("DELETE", 1, 2, "Bob", 25), ("DELETE", 1, 4, "David", 35)]
        assert world.rows("consume") == [(1, "Alice", 25), (3, "Charlie", 35), (5, "Eve", 40)]

    def test_when_all_is_deleted_the_append_only_stream_still_has_every_insert(self, world: World) -> None:
        world.sql("delete from {raw}.people")
        assert world.rows(self.appended.format(self.zero)) == [("INSERT", 1, *row) for row in PEOPLE]
        self.build(world)
        assert world.rows("consume") == []
        self.build(world)
        assert self.seen(world) == []


class TestChangeCapture:
    """Document 003: net changes, SHOW_INITIAL_ROWS, the documented MERGE, and append-only against standard."""

    prepare = (
        f"create table {{raw}}.people (id int, val int) using delta {READY}",
        "insert into {raw}.people values (1, 100), (2, 200)",
        f"create table {{raw}}.orders (id int, name string) using delta {READY}",
        "insert into {raw}.orders values (1, 'apple')",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        singdata = "metadata_columns='singdata'"
        return {
            "sources.yml": SOURCES,
            "changes.sql": STREAM.format(config=singdata, table="people"),
            "initial.sql": STREAM.format(config=f"show_initial_rows=true, {singdata}", table="people"),
            "fruit.sql": STREAM.format(config=f"mode='append_only', {singdata}", table="orders"),
            "target.sql": """
{{ config(materialized='incremental', incremental_strategy='apply_changes', unique_key='id') }}
select * from {{ stream('initial') }}
""",
            "eaten.sql": "{{ config(materialized='incremental') }} select id, name from {{ stream('fruit') }}",
        }

    pending = "select __change_type, __commit_version, id, val from {dbt}.changes"

    def test_existing_rows_are_inserts_of_the_first_consumption_only_where_asked_for(self, world: World) -> None:
        run("run")
        assert world.rows(self.pending) == []
        assert world.rows("select __change_type, id, val from {dbt}.initial") == [
            ("INSERT", 1, 100),
            ("INSERT", 2, 200),
        ]
        assert world.rows("target") == [(1, 100), (2, 200)]
        assert world.rows("eaten") == []

    def test_update_and_delete(self, world: World) -> None:
        world.sql("update {raw}.people set val = 999 where id = 1", "delete from {raw}.people where id = 2")
        assert world.rows(self.pending) == [
            ("DELETE", 1, 2, 200),
            ("UPDATE_AFTER", 2, 1, 999),
            ("UPDATE_BEFORE", 1, 1, 100),
        ]
        run("run", "--select", "target")
        assert world.rows("target") == [(1, 999)]

    def test_net_changes(self, world: World) -> None:
        world.sql(
            "insert into {raw}.people values (3, 300), (4, 400)",
            "update {raw}.people set val = 301 where id = 3",
            "delete from {raw}.people where id = 4",
        )
        assert [row for row in world.rows(self.pending) if row[2] > 2] == [("INSERT", 5, 3, 301)]
        run("run", "--select", "target")
        assert world.rows("target") == [(1, 999), (3, 301)]

    def test_consuming_an_append_only_stream(self, world: World) -> None:
        world.sql("insert into {raw}.orders values (2, 'banana')")
        assert world.rows("select id, name from {dbt}.fruit") == [(2, "banana")]
        for _ in range(2):
            run("run", "--select", "eaten")
            assert world.rows("eaten") == [(2, "banana")]


class TestListings:
    """The paper's people: Listings 4 and 5, in all three dialects, and the three consumptions of Listing 9."""

    prepare = (
        f"create table {{raw}}.people (id int, name string) using delta {READY}",
        "insert into {raw}.people values (1, 'Jeff'), (2, 'Donny')",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        streams = {
            f"{mode}_{dialect}.sql": STREAM.format(config=f"mode='{mode}', metadata_columns='{dialect}'", table="people")
            for mode, dialect in [
                ("standard", "delta"), ("standard", "snowflake"), ("standard", "singdata"),
                ("append_only", "delta"), ("append_only", "snowflake"), ("append_only", "singdata"),
            ]
        }  # fmt: skip
        people_stream = STREAM.format(config="show_initial_rows=true, metadata_columns='snowflake'", table="people")
        people_changes = """
{{ config(materialized='table') }}
select name, `METADATA$ACTION` as action, `METADATA$ISUPDATE` as is_update from {{ stream('people_stream') }}
"""
        return {
            "sources.yml": SOURCES,
            **streams,
            "people_stream.sql": people_stream,
            "people_changes.sql": people_changes,
        }

    def consume(self, world: World) -> list[tuple[object, ...]]:
        run("run", "--select", "people_changes")
        return world.rows("people_changes")

    def test_listing_9_three_consumptions(self, world: World) -> None:
        run("run", "--exclude", "people_changes")
        assert self.consume(world) == [("Donny", "INSERT", False), ("Jeff", "INSERT", False)]
        world.sql("insert into {raw}.people values (3, 'Walter'), (4, 'Maud'), (5, 'Uli')")
        assert self.consume(world) == [("Maud", "INSERT", False), ("Uli", "INSERT", False), ("Walter", "INSERT", False)]
        world.sql(
            "update {raw}.people set name = 'Jeffrey' where id = 1",
            "update {raw}.people set name = 'Maude' where id = 4",
        )
        assert self.consume(world) == [
            ("Jeff", "DELETE", True), ("Jeffrey", "INSERT", True), ("Maud", "DELETE", True), ("Maude", "INSERT", True),
        ]  # fmt: skip
        world.sql("delete from {raw}.people where id in (2, 5)")
        assert world.rows("select * from {raw}.people") == [(1, "Jeffrey"), (3, "Walter"), (4, "Maude")]

    def test_listing_4_append_only(self, world: World) -> None:
        inserted = [(3, "Walter"), (4, "Maud"), (5, "Uli")]
        actions = "`METADATA$ACTION`, `METADATA$ISUPDATE`"
        assert world.rows(f"select id, name, {actions} from {{dbt}}.append_only_snowflake") == [
            (*row, "INSERT", False) for row in inserted
        ]
        versions = "select id, name, {} from {{dbt}}.append_only_{}"
        assert world.rows(versions.format("_change_type, _commit_version", "delta")) == [
            (*row, "insert", 2) for row in inserted
        ]
        assert world.rows(versions.format("__change_type, __commit_version", "singdata")) == [
            (*row, "INSERT", 2) for row in inserted
        ]

    def test_listing_5_minimum_delta(self, world: World) -> None:
        actions = "`METADATA$ACTION`, `METADATA$ISUPDATE`"
        assert world.rows(f"select id, name, {actions} from {{dbt}}.standard_snowflake") == [
            (1, "Jeff", "DELETE", True),
            (1, "Jeffrey", "INSERT", True),
            (2, "Donny", "DELETE", False),
            (3, "Walter", "INSERT", False),
            (4, "Maude", "INSERT", False),
        ]
        assert world.rows("select id, name, _change_type, _commit_version from {dbt}.standard_delta") == [
            (1, "Jeff", "update_preimage", 3),
            (1, "Jeffrey", "update_postimage", 3),
            (2, "Donny", "delete", 5),
            (3, "Walter", "insert", 2),
            (4, "Maude", "insert", 4),
        ]
        assert world.rows("select id, name, __change_type, __commit_version from {dbt}.standard_singdata") == [
            (1, "Jeff", "UPDATE_BEFORE", 1),
            (1, "Jeffrey", "UPDATE_AFTER", 3),
            (2, "Donny", "DELETE", 1),
            (3, "Walter", "INSERT", 2),
            (4, "Maude", "INSERT", 4),
        ]

    def test_row_ids_pair_the_halves_of_an_update_and_are_the_same_in_every_stream(self, world: World) -> None:
        ids = "select id, `METADATA$ROW_ID` from {dbt}.standard_snowflake"
        found = world.rows(ids)
        assert found == world.rows("select id, _row_id from {dbt}.standard_delta")
        assert found[0] == found[1]
        assert len(set(found)) == 4
        appended = dict(world.rows("select id, `METADATA$ROW_ID` from {dbt}.append_only_snowflake"))
        assert appended[3] == dict(found)[3] and appended[4] == dict(found)[4]
