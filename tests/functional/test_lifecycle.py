"""Streams are made, kept, altered and made anew; what cannot be a stream says why."""

from __future__ import annotations

import pytest

from tests.functional.projects import SOURCES, World, operations, run, run_logged

PEOPLE = (
    "create table {raw}.people (id int, name string) using delta",  # 0
    "insert into {raw}.people values (1, 'a'), (2, 'b')",  # 1
)


def stream(config: str = "", query: str = "select * from {{ source('raw', 'people') }}") -> str:
    return f"{{{{ config(materialized='stream'{', ' if config else ''}{config}) }}}}\n{query}"


class TestLife:
    """One stream's life: from its making to the end of its table."""

    prepare = PEOPLE

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        docs = """
models:
  - name: s
    description: It's "what" happened \\ to people
    config: {persist_docs: {relation: true, columns: true}, tags: [cdc]}
    columns: [{name: name, description: What they're called}]
"""
        return {"sources.yml": SOURCES + docs, "s.sql": stream()}

    def test_made_at_now_after_tracking_is_switched_on(self, world: World) -> None:
        run("run", "--select", "tag:cdc")
        log = world.log(f"{world.raw}.people")
        assert log.properties["delta.enableRowTracking"] == "true"
        assert log.properties["delta.deletedFileRetentionDuration"] == "interval 14 days"
        assert operations(world.commits(log.name)).count("SET TBLPROPERTIES") == 1
        assert world.stream("s").base_table.version == log.version
        assert world.rows("s") == []

    def test_docs_are_in_the_catalog(self, world: World) -> None:
        assert world.rows("show views in {dbt}")[0][1] == "s"
        described = world.spark.sql(f"describe extended {world.schema}.s").collect()
        found = {row["col_name"]: (row["data_type"], row["comment"]) for row in described}
        assert found["name"] == ("string", "What they're called")
        assert found["Comment"][0] == 'It\'s "what" happened \\ to people'

    def test_selecting_shows_what_is_pending_and_moves_nothing(self, world: World) -> None:
        world.sql("update {raw}.people set name = 'aa' where id = 1", "insert into {raw}.people values (3, 'c')")
        seen = "select id, name, _change_type from {dbt}.s"
        pending = [(1, "a", "update_preimage"), (1, "aa", "update_postimage"), (3, "c", "insert")]
        assert world.rows(seen) == world.rows(seen) == pending

    def test_kept_by_another_run(self, world: World) -> None:
        before = world.stream("s")
        result, _log = run_logged("run")
        assert "kept at version" in result["s"].message
        assert world.stream("s") == before

    def test_renamed_table_is_the_same_table(self, world: World) -> None:
        before = world.stream("s")
        world.sql("alter table {raw}.people rename to {raw}.persons")
        world.model("sources.yml", SOURCES.replace("{name: people}", "{name: people, identifier: persons}"))
        result = run("run")
        assert "view renewed" in result["s"].message
        assert world.stream("s") == before
        assert len(world.rows("s")) == 3

    def test_altered_query_keeps_offset_and_id(self, world: World) -> None:
        before = world.stream("s")
        world.model("s.sql", stream("mode='append_only'", "select id from {{ source('raw', 'people') }} where id > 2"))
        result, log = run_logged("run")
        assert "altered" in result["s"].message
        assert "offset kept: query: " in log
        after = world.stream("s")
        assert (after.id, after.start, after.mode) == (before.id, before.start, "append_only")
        assert world.rows("select id, _change_type from {dbt}.s") == [(3, "insert")]

    @pytest.mark.parametrize(("reaction", "passes"), [("continue", True), ("fail", False)])
    def test_other_reactions_to_a_change(self, world: World, reaction: str, passes: bool) -> None:
        before = world.stream("s")
        world.model("s.sql", stream(f"on_configuration_change='{reaction}'"))
        _results, log = run_logged("run", passes=passes)
        assert world.stream("s") == before
        assert ("stays as it was" in log) == passes
        assert ("on_configuration_change is 'fail'" in log) != passes

    def test_full_refresh_starts_at_now(self, world: World) -> None:
        before = world.stream("s")
        world.model("s.sql", stream())
        assert "created anew" in run("run", "--full-refresh")["s"].message
        after = world.stream("s")
        assert after.id != before.id
        assert after.base_table.version == world.log(f"{world.raw}.persons").version
        assert world.rows("s") == []

    def test_table_made_again_under_the_same_name_is_another_table(self, world: World) -> None:
        world.sql("drop table {raw}.persons", *(text.replace("people", "persons") for text in PEOPLE))
        world.sql(*["insert into {raw}.persons values (9, 'z')"] * 8)
        results = run("run", passes=False)
        assert "was dropped and made again, and is another table now" in results["s"].message
        assert "--full-refresh" in results["s"].message


class TestStarts:
    """at and before, by version, time and another stream; show_initial_rows; what the log does not reach."""

    prepare = (
        PEOPLE[0] + " tblproperties ('delta.enableRowTracking' = 'true', 'delta.deletedFileRetentionDuration' = "
        "'interval 14 days')",
        PEOPLE[1],
        "update {raw}.people set name = 'bb' where id = 2",  # 2
        "insert into {raw}.people values (3, 'c')",  # 3
        "create table {raw}.orders (id int) using delta",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        on_orders = "select * from {{ source('raw', 'orders') }}"
        return {
            "sources.yml": SOURCES,
            "at_two.sql": stream("at={'version': 2}"),
            "before_two.sql": stream("before={'version': 2}"),
            "like_other.sql": "-- depends_on: {{ ref('at_two') }}\n" + stream("at={'stream': 'at_two'}"),
            "before_other.sql": "-- depends_on: {{ ref('at_two') }}\n" + stream("before={'stream': 'at_two'}"),
            "in_time.sql": stream("before={'timestamp': var('then')}"),
            "at_time.sql": stream("at={'timestamp': var('then')}"),
            "initial.sql": stream("show_initial_rows=true"),
            "initial_inserts.sql": stream("show_initial_rows=true, mode='append_only', at={'version': 2}"),
            "bad_future.sql": stream("at={'timestamp': '2999-01-01'}"),
            "bad_past.sql": stream("at={'timestamp': '1999-01-01'}"),
            "bad_time.sql": stream("at={'timestamp': 'yesterday-ish'}"),
            "bad_version.sql": stream("at={'version': 99}"),
            "bad_zero.sql": stream("before={'version': 0}"),
            "bad_stream.sql": stream("at={'stream': 'nowhere'}"),
            "bad_table.sql": "-- depends_on: {{ ref('at_two') }}\n" + stream("at={'stream': 'at_two'}", on_orders),
            "bad_untracked.sql": stream("at={'version': 0}", on_orders),
        }

    def test_all(self, world: World) -> None:
        log = world.log(f"{world.raw}.people")
        then = log.commit(2).timestamp.strftime("%Y-%m-%d %H:%M:%S.%f")
        results = run("run", "--vars", f"{{then: '{then}'}}", passes=False)
        said = {name: str(result.message) for name, result in results.items() if result.status == "error"}
        for name, text in {
            "bad_future": "that time has not come yet",
            "bad_past": f"the log of table {log.name} begins later, with version 0 at ",
            "bad_time": "timestamp = 'yesterday-ish' is no time",
            "bad_version": f"table {log.name} has no version 99; its newest is 3",
            "bad_zero": "begins with version 0. To get the rows of its beginning, set show_initial_rows",
            "bad_stream": f"stream {world.schema}.nowhere does not exist",
            "bad_table": f"that stream is on table {log.name}, this one on {world.raw}.orders",
            "bad_untracked": "has no row tracking at version 0; it is on since version",
        }.items():
            assert text in said.pop(name)
        assert said == {}

        two, one = ("at_two", "like_other", "at_time"), ("before_two", "before_other", "in_time")
        assert {name: world.stream(name).base_table.version for name in two} == dict.fromkeys(two, 2)
        assert {name: world.stream(name).base_table.version for name in one} == dict.fromkeys(one, 1)
        rows = "select id, name, _change_type from {{dbt}}.{}"
        assert world.rows(rows.format("at_two")) == [(3, "c", "insert")]
        assert [row[2] for row in world.rows(rows.format("before_two"))] == [
            "update_preimage",
            "update_postimage",
            "insert",
        ]
        everybody = [(1, "a", "insert"), (2, "bb", "insert"), (3, "c", "insert")]
        assert world.rows(rows.format("initial")) == everybody
        world.sql("delete from {raw}.people where id in (1, 3)")
        assert world.rows(rows.format("initial")) == [(2, "bb", "insert")]
        assert world.rows(rows.format("initial_inserts")) == everybody


class TestRefusals:
    """Each wrong model fails alone, with an error that says what to do; Spark's own come through."""

    prepare = (
        *PEOPLE,
        "alter table {raw}.people set tblproperties ('delta.enableRowTracking' = 'false')",
        "create table {raw}.orders using parquet as select 1 as id",
        "create view {raw}.a_view as select * from {raw}.people",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        people = "select {} from {{{{ source('raw', 'people') }}}}"
        return {
            "sources.yml": SOURCES,
            "a_table.sql": "{{ config(materialized='table') }} select 1 as id",
            "untracked.sql": stream("enable_tracking=false", "select * from {{ ref('a_table') }}"),
            "said_no.sql": stream(),
            "mode.sql": stream("mode='append'"),
            "both.sql": stream("at={'version': 1}, before={'version': 1}"),
            "counted.sql": stream("mode='insert_only'", people.format("count(*) as n")),
            "parquet.sql": stream("", "select * from {{ source('raw', 'orders') }}"),
            "on_view.sql": stream("unique_key='id'", "select * from {{ target.schema }}_raw.a_view"),
            "nowhere.sql": stream("", "select * from {{ target.schema }}_raw.nothing"),
            "no_column.sql": stream("mode='insert_only'", people.format("nothing as x")),
            "is_view.sql": "{{ config(materialized='view') }} select * from {{ stream('landed') }}",
            "is_ephemeral.sql": "{{ config(materialized='ephemeral') }} select * from {{ stream('landed') }}",
            "uses_ephemeral.sql": "select * from {{ ref('is_ephemeral') }}",
            "no_stream.sql": "{{ config(materialized='table') }} select * from {{ stream('a_table') }}",
            "micro.sql": "{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='id', "
            "begin='2026-11-01', batch_size='month', partition_by='id') }} select * from {{ stream('landed') }}",
            "two_commits.sql": "{{ config(materialized='incremental', incremental_strategy='delete+insert', "
            "unique_key='id') }} select * from {{ stream('landed') }}",
            "landed.sql": stream("mode='insert_only'"),
        }

    def test_each_says_why(self, world: World) -> None:
        results, log = run_logged("run", passes=False)
        said = {name: str(result.message) for name, result in results.items() if result.status == "error"}
        for name, text in {
            "untracked": "a_table has no row tracking and enable_tracking = False",
            "said_no": "the table says delta.enableRowTracking = false",
            "mode": "mode = 'append' is not known. Did you mean append_only?",
            "both": "a stream starts at one point",
            "counted": "mode = 'insert_only' is for columns and rows of one table, but its query has an aggregate",
            "parquet": "is no Delta table; streams read Delta's log",
            "on_view": "unique_key is for columns and rows of one table, but its query has a view",
            "nowhere": "[TABLE_OR_VIEW_NOT_FOUND]",
            "no_column": "[UNRESOLVED_COLUMN.WITH_SUGGESTION]",
            "is_view": "is materialized as view and cannot consume a stream",
            "no_stream": "a_table is no stream: stream() reads a model with materialized='stream'",
            "two_commits": "incremental_strategy='delete+insert': it takes two commits",
        }.items():
            assert text in said.pop(name), name
        assert set(said) == {"micro"}
        assert "incremental_strategy='microbatch': it reads its input once per batch" in log
        assert results["uses_ephemeral"].status == "skipped"
        assert "is_ephemeral is materialized as ephemeral and cannot consume a stream" in log
        assert results["landed"].status == "success"
