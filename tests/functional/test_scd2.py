"""Histories and ordered changes through streams: each run one commit, late rows right, a full refresh gives the same."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.consume.held_source import HeldSource, held_source
from dbt.adapters.streamspark.consume.merge import Merge
from tests.functional.projects import READY, TRACKED, World, operations, run

SOURCES = """
version: 2
sources:
  - name: raw
    schema: "{{ target.schema }}_raw"
    tables: [{name: people}, {name: landing}, {name: facts}]
"""


def stream(table: str, config: str = "") -> str:
    config = f"materialized='stream', show_initial_rows=true{', ' if config else ''}{config}"
    return f"{{{{ config({config}) }}}} select * from {{{{ source('raw', '{table}') }}}}"


def applied(name: str, config: str, columns: str = "*") -> str:
    begin = "materialized='incremental', incremental_strategy='apply_changes'"
    return f"{{{{ config({begin}, {config}) }}}} select {columns} from {{{{ stream('{name}') }}}}"


def check_one_commit_per_run(world: World, table: str, merges: int) -> None:
    commits = world.commits(table)
    assert all(commit.txns for commit in commits), table
    assert operations(commits) == ["CREATE OR REPLACE TABLE AS SELECT", *["MERGE"] * merges], table


class TestHistoryOfATable:
    """A standard stream: inserts, updates, deletes, keys that change, a table made again."""

    prepare = (
        "create table {raw}.people (`key id` int, name string, updated timestamp) using delta "
        + READY.replace(")", ", 'delta.columnMapping.mode' = 'name')"),
        "insert into {raw}.people values (1, 'a', timestamp'2026-01-01'), (2, 'b', timestamp'2026-01-02'), (null, 'c', "
        "timestamp'2026-01-03')",
        "create table {raw}.facts (id int, v string) using delta",
        "insert into {raw}.facts values (1, 'a'), (2, 'b')",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        mapped = "unique_key='key id', tblproperties={'delta.columnMapping.mode': 'name'}"
        return {
            "sources.yml": SOURCES,
            "people_stream.sql": stream("people"),
            "people_snow.sql": stream("people", "metadata_columns='snowflake'"),
            "base.sql": "{{ config(materialized='table') }} select * from {{ source('raw', 'facts') }}",
            "base_stream.sql": "{{ config(materialized='stream', show_initial_rows=true, unique_key='id') }} "
            "select * from {{ ref('base') }}",
            "history.sql": applied("people_stream", f"{mapped}, scd_type=2"),
            "by_updated.sql": applied("people_stream", f"{mapped}, scd_type=2, sequence_by='updated'"),
            "named.sql": applied(
                "people_snow",
                f"{mapped}, scd_type='2', sequence_by='updated', soft_deletes=true, valid_from='begins', valid_to='ends', "
                "is_current='live', is_deleted='gone', except_columns=['updated']",
            ),
            "kept.sql": applied("people_stream", f"{mapped}, soft_deletes=true"),
            "base_history.sql": applied("base_stream", "unique_key='id', scd_type=2"),
        }

    def at(self, world: World, version: int) -> str:
        """The time of a commit of the source, as the history shows it."""
        micros = round(world.log(f"{world.raw}.people").commit(version).timestamp.timestamp() * 1000) * 1000
        return str(world.spark.sql(f"select string(timestamp_micros({micros}))").head()[0])

    def history(self, world: World, table: str = "history") -> list[tuple[object, ...]]:
        columns = "`key id`, name, string(valid_from), string(valid_to), is_current"
        return world.rows(f"select {columns} from {{dbt}}.{table}")

    def test_first_run(self, world: World) -> None:
        run("run")
        begin = self.at(world, 1)
        assert self.history(world) == [
            (1, "a", begin, None, True),
            (2, "b", begin, None, True),
            (None, "c", begin, None, True),
        ]
        assert world.columns("history") == ["key id", "name", "updated", "valid_from", "valid_to", "is_current"]
        assert world.columns("named") == ["key id", "name", "begins", "ends", "live", "gone", "__history"]
        assert world.rows("select `key id`, begins, ends, live, gone from {dbt}.named where name = 'a'") == world.rows(
            "select 1, timestamp'2026-01-01', timestamp(null), true, false"
        )

    def test_changes(self, world: World) -> None:
        world.sql(
            "update {raw}.people set name = 'A', updated = timestamp'2026-02-01' where `key id` = 1",
            "update {raw}.people set `key id` = 3, updated = timestamp'2026-02-02' where `key id` = 2",
            "delete from {raw}.people where `key id` is null",
            "insert into {raw}.people values (4, 'd', timestamp'2026-02-04')",
        )
        run("run")
        times = [self.at(world, version) for version in range(6)]
        assert self.history(world) == [
            (1, "A", times[2], None, True),
            (1, "a", times[1], times[2], False),
            (2, "b", times[1], times[3], False),
            (3, "b", times[3], None, True),
            (4, "d", times[5], None, True),
            (None, "c", times[1], times[4], False),
        ]
        assert self.history(world, "by_updated") == [
            (1, "A", "2026-02-01 00:00:00", None, True),
            (1, "a", "2026-01-01 00:00:00", "2026-02-01 00:00:00", False),
            (2, "b", "2026-01-02 00:00:00", times[3], False),
            (3, "b", "2026-02-02 00:00:00", None, True),
            (4, "d", "2026-02-04 00:00:00", None, True),
            (None, "c", "2026-01-03 00:00:00", times[4], False),
        ]
        assert world.rows("select `key id`, name, live, gone from {dbt}.named where live") == [
            (1, "A", True, False), (2, "b", True, True), (3, "b", True, False), (4, "d", True, False), (None, "c", True, True),
        ]  # fmt: skip
        assert world.rows("select `key id`, name, is_deleted from {dbt}.kept") == [
            (1, "A", False), (2, "b", True), (3, "b", False), (4, "d", False), (None, "c", True),
        ]  # fmt: skip

    def test_a_key_that_comes_back_and_rows_that_stay(self, world: World) -> None:
        world.sql(
            "insert into {raw}.people values (null, 'c', timestamp'2026-03-01')",
            "update {raw}.people set name = 'D', updated = timestamp'2026-02-01' where `key id` = 4",
        )
        run("run")
        assert [row[1:] for row in self.history(world) if row[0] is None] == [
            ("c", self.at(world, 1), self.at(world, 4), False),
            ("c", self.at(world, 6), None, True),
        ]
        # what was written last is older: history gets it, and what is current stays
        assert [row[1:] for row in self.history(world, "by_updated") if row[0] == 4] == [
            ("D", "2026-02-01 00:00:00", "2026-02-04 00:00:00", False),
            ("d", "2026-02-04 00:00:00", None, True),
        ]
        newest = world.commits("history")[-1]
        assert newest.info["operationMetrics"]["numTargetRowsInserted"] == "2"
        assert newest.info["operationMetrics"]["numTargetRowsUpdated"] == "1"

    def test_a_table_made_again_begins_no_versions(self, world: World) -> None:
        before = world.rows("base_history")
        run("run")
        assert world.rows("base_history") == before
        world.sql("update {raw}.facts set v = 'B' where id = 2", "delete from {raw}.facts where id = 1")
        run("run")
        assert world.rows("select id, v, is_current from {dbt}.base_history") == [
            (1, "a", False), (2, "B", True), (2, "b", False),
        ]  # fmt: skip

    def test_commits(self, world: World) -> None:
        for table in ("history", "by_updated", "named", "kept"):
            check_one_commit_per_run(world, table, 2)

    def test_whether_many_rows_come_is_told_by_the_log(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        told: list[bool] = []

        def held(spark: SparkSession, merge: Merge, many: bool, *others: Any) -> HeldSource | None:
            told.append(many)
            return held_source(spark, merge, many, *others)

        monkeypatch.setattr("dbt.adapters.streamspark.consume.merge_by_position.held_source", held)
        monkeypatch.setattr("dbt.adapters.streamspark.changes.differentiate.local_rows.MOST_ROWS", 20)
        people = ", ".join(f"({n}, 'n', timestamp'2026-03-01')" for n in range(10, 40))
        for statement in (
            "update {raw}.people set name = 'E' where `key id` = 4",
            f"insert into {{raw}}.people values {people}",
        ):
            world.sql(statement)
            run("run", "--select", "people_stream", "history")
        assert told == [False, True]
        current = world.rows("select `key id`, name from {dbt}.history where is_current")
        assert current == world.rows("select `key id`, name from {raw}.people")


class TestEvents:
    """A landing table, to which rows are only added: an event each, late ones among them."""

    prepare = (
        f"create table {{raw}}.landing (id int, name string, city string, op string, ts int) using delta {TRACKED}",
        "insert into {raw}.landing values (1, 'a', 'Ulm', 'U', 10), (2, 'b', 'Bonn', 'U', 10), (1, 'aa', 'Ulm', 'U', 20)",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        order = "unique_key='id', sequence_by='ts', apply_as_deletes=\"op = 'D'\""
        config = f"{order}, except_columns=['op', 'ts']"
        return {
            "sources.yml": SOURCES,
            "landing_stream.sql": stream("landing", "mode='append_only'"),
            "history.sql": applied("landing_stream", f"{config}, scd_type=2"),
            "by_name.sql": applied(
                "landing_stream", f"{order}, columns=['name', 'city'], scd_type=2, track_history_columns=['name']"
            ),
            "partial.sql": applied("landing_stream", f"{config}, ignore_null_updates=true"),
            "current.sql": applied("landing_stream", config),
            "soft.sql": applied("landing_stream", f"{config}, soft_deletes=true"),
        }

    HISTORY = "select id, name, city, valid_from, valid_to from {dbt}.history"

    def test_first_run(self, world: World) -> None:
        run("run")
        assert world.rows(self.HISTORY) == [
            (1, "a", "Ulm", 10, 20), (1, "aa", "Ulm", 20, None), (2, "b", "Bonn", 10, None),
        ]  # fmt: skip
        assert world.rows("select id, name, city, __sequence from {dbt}.current") == [
            (1, "aa", "Ulm", 20),
            (2, "b", "Bonn", 10),
        ]

    def test_events_in_any_order(self, world: World) -> None:
        """Several of one key in a run, late ones, a delete before the row that it deletes, one event twice."""
        world.sql(
            "insert into {raw}.landing values (1, 'late', 'Ulm', 'U', 15), (1, 'c', 'Kiel', 'U', 40), (1, null, null, 'D', 30)",
            "insert into {raw}.landing values (2, null, 'Jena', 'U', 20), (3, null, null, 'D', 50), (2, 'b', 'Bonn', 'U', 10)",
        )
        run("run")
        assert world.rows(self.HISTORY + " where valid_from <> valid_to or valid_to is null") == [
            (1, "a", "Ulm", 10, 15), (1, "aa", "Ulm", 20, 30), (1, "c", "Kiel", 40, None), (1, "late", "Ulm", 15, 20),
            (2, "b", "Bonn", 10, 20), (2, None, "Jena", 20, None),
        ]  # fmt: skip
        world.sql("insert into {raw}.landing values (3, 'x', 'Ulm', 'U', 45), (1, 'after', 'Ulm', 'U', 35)")
        run("run")
        assert world.rows("select name, valid_from, valid_to from {dbt}.history where id = 3") == [("x", 45, 50)]
        assert world.rows("select name, city, valid_from, valid_to from {dbt}.by_name where id = 1") == world.rows(
            "select name, city, valid_from, valid_to from {dbt}.history where id = 1"
        )
        assert world.rows("select id, name, city from {dbt}.partial where id < 3") == [
            (1, "c", "Kiel"),
            (2, "b", "Jena"),
        ]
        # that 3 was deleted at 50 is known only to the targets that remember
        assert world.rows("select id, name, city from {dbt}.current") == [
            (1, "c", "Kiel"), (2, None, "Jena"), (3, "x", "Ulm"),
        ]  # fmt: skip
        assert world.rows("select id, name, city, is_deleted from {dbt}.soft") == [
            (1, "c", "Kiel", False), (2, None, "Jena", False), (3, "x", "Ulm", True),
        ]  # fmt: skip
        for table in ("history", "by_name", "partial", "current", "soft"):
            check_one_commit_per_run(world, table, 2)

    def test_a_full_refresh_gives_the_same(self, world: World) -> None:
        tables = ("history", "by_name", "soft")
        before = {table: world.rows(table) for table in tables}
        run("run", "--full-refresh", "--select", *tables)
        assert {table: world.rows(table) for table in tables} == before

    def test_new_columns(self, world: World) -> None:
        """on_schema_change knows which columns are apply_changes' own; what is remembered outlives it."""
        config = "unique_key='id', sequence_by='ts', except_columns=['op', 'ts'], scd_type=2"
        for change in ("append_new_columns", "sync_all_columns"):
            world.model(
                f"{change}.sql", applied("landing_stream", f"{config}, on_schema_change='{change}'", "* except (city)")
            )
        run("run", "--select", "append_new_columns", "sync_all_columns")
        world.sql("insert into {raw}.landing values (9, 'n', 'Ulm', 'U', 5), (9, 'n', 'Ulm', 'U', 7)")
        run("run", "--select", "append_new_columns", "sync_all_columns")
        for change in ("append_new_columns", "sync_all_columns"):
            world.model(
                f"{change}.sql", applied("landing_stream", f"{config}, on_schema_change='{change}'", "* except (name)")
            )
        world.sql("insert into {raw}.landing values (9, 'm', 'Kiel', 'U', 6)")
        run("run", "--select", "append_new_columns", "sync_all_columns")
        own = ["valid_from", "valid_to", "is_current", "__history"]
        assert sorted(world.columns("append_new_columns")) == sorted(["id", "name", "city", *own])
        assert sorted(world.columns("sync_all_columns")) == sorted(["id", "city", *own])
        for change in ("append_new_columns", "sync_all_columns"):
            found = world.rows(f"select city, valid_from, valid_to from {{dbt}}.{change} where id = 9")
            assert found == [("Kiel", 6, 7), (None, 5, 6), (None, 7, None)]

    def test_two_truths_consume_nothing(self, world: World) -> None:
        before, version = world.rows("current"), world.log("current").version
        world.sql("insert into {raw}.landing values (2, 'p', null, 'U', 90), (2, 'q', null, 'U', 90)")
        results = run("run", "--select", "current", passes=False)
        assert "model.test.current: two different changes of one unique_key (id)" in str(results["current"].message)
        assert (world.rows("current"), world.log("current").version) == (before, version)


class TestRefusals:
    prepare = (f"create table {{raw}}.landing (id int, op string, ts int) using delta {TRACKED}",)

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "sources.yml": SOURCES,
            "landing_stream.sql": stream("landing"),
            "landing_snow.sql": stream("landing", "metadata_columns='snowflake'"),
            "unknown.sql": applied("landing_stream", "unique_key='id', scd_type=3"),
            "cut.sql": applied("landing_stream", "unique_key='id', scd_type=2, apply_as_truncates=\"op = 'T'\""),
            "no_history.sql": applied("landing_stream", "unique_key='id', track_history_columns=['op']"),
            "slip.sql": applied("landing_stream", "unique_key='id', apply_as_delete=\"op = 'D'\""),
            "absent.sql": applied("landing_stream", "unique_key='id', sequence_by='when'"),
            "unordered.sql": applied("landing_snow", "unique_key='id', scd_type=2"),
            "twice.sql": applied("landing_stream", "unique_key='id', scd_type=2", "*, true as is_current"),
        }

    def test_each_says_what_to_do(self, world: World) -> None:
        said = {name: str(result.message) for name, result in run("run", passes=False).items()}
        assert said.pop("landing_stream") and said.pop("landing_snow")
        for name, text in {
            "unknown": "scd_type = 3 is not known. Allowed: 1, 2",
            "cut": "apply_as_truncates = \"op = 'T'\" contradicts scd_type = 2",
            "no_history": "track_history_columns = ['op'] contradicts scd_type = 1",
            "slip": "apply_as_delete is no configuration of an apply_changes model. Did you mean apply_as_deletes?",
            "absent": "its sequence_by has when, which its SELECT has not",
            "unordered": "scd_type 2 needs sequence_by",
            "twice": "its SELECT has is_current, and apply_changes adds a column of that name",
        }.items():
            assert text in said.pop(name)
        assert said == {}
