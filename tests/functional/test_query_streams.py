"""Streams on queries: joins, aggregates and views, consumed from several base tables in one commit."""

from __future__ import annotations

import pytest

from tests.functional.projects import SOURCES, World, operations, run, run_logged
from tests.spark.jobs import jobs_so_far

TABLES = (
    "create table {raw}.people (id int, name string, city string) using delta",
    "create table {raw}.orders (id int, person int, amount int) using delta",
    "insert into {raw}.people values (1, 'ann', 'Ulm'), (2, 'bob', 'Bonn')",
    "insert into {raw}.orders values (10, 1, 5), (11, 1, 7), (12, 2, 9)",
)
VIEW = "{{ config(materialized='view') }} select id as person, name as who from {{ source('raw', 'people') }}"
JOIN = "select o.id, v.who, o.amount from {{ ref('people_v') }} v join {{ source('raw', 'orders') }} o using (person)"
TOTALS = (
    "select p.name, count(*) as n, sum(o.amount) as total from {{ source('raw', 'people') }} p "
    "join {{ source('raw', 'orders') }} o on o.person = p.id group by p.name"
)
CHANGED = "{{ config(materialized='incremental', incremental_strategy='append') }} "


def stream(config: str = "", query: str = JOIN) -> str:
    return f"{{{{ config(materialized='stream'{', ' if config else ''}{config}) }}}}\n{query}"


class TestLife:
    """Streams on a join and an aggregate, from their making to a changed definition."""

    prepare = TABLES

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "sources.yml": SOURCES,
            "people_v.sql": VIEW,
            "joined.sql": stream(),
            "joined_log.sql": CHANGED + "select id, who, amount, _change_type, _row_id from {{ stream('joined') }}",
            "inserted.sql": stream("mode='append_only', show_initial_rows=true, metadata_columns='snowflake'"),
            "inserted_log.sql": CHANGED + "select id, who, amount, `METADATA$ACTION` a from {{ stream('inserted') }}",
            "totals.sql": stream("show_initial_rows=true", TOTALS),
            "totals_now.sql": "{{ config(materialized='incremental', incremental_strategy='apply_changes', "
            "unique_key='name') }} select * from {{ stream('totals') }}",
            "like_joined.sql": "-- depends_on: {{ ref('joined') }}\n" + stream("at={'stream': 'joined'}", TOTALS),
        }

    def versions(self, world: World, stream: str = "joined") -> dict[str, int]:
        return {table.name.split(".")[-1]: table.version for table in world.stream(stream).start.tables}

    def test_made_at_now_in_every_base_table(self, world: World) -> None:
        _results, log = run_logged("run")
        logs = {name: world.log(f"{world.raw}.{name}") for name in ("people", "orders")}
        assert all(table.properties["delta.enableRowTracking"] == "true" for table in logs.values())
        assert self.versions(world) == {name: table.version for name, table in logs.items()}
        assert world.stream("like_joined").start == world.stream("joined").start
        assert "the rows that its query had before are left out" in log
        assert world.rows("joined_log") == world.rows("joined") == []
        assert world.rows("totals_now") == [("ann", 2, 12), ("bob", 1, 9)]
        assert len(world.rows("inserted_log")) == 3

    def test_changes_of_both_tables_come_in_one_commit(self, world: World) -> None:
        world.sql(
            "insert into {raw}.orders values (13, 2, 1), (14, 2, 2)",
            "delete from {raw}.orders where id in (10, 14)",
            "update {raw}.people set name = 'bert' where id = 2",
        )
        pending = [
            (10, "ann", 5, "delete"),
            (12, "bert", 9, "insert"),
            (12, "bob", 9, "delete"),
            (13, "bert", 1, "insert"),
        ]
        assert world.rows("select id, who, amount, _change_type from {dbt}.joined") == pending
        results = run("run")
        assert [row[:4] for row in world.rows("joined_log")] == [
            (10, "ann", 5, "delete"),
            (12, "bert", 9, "update_postimage"),
            (12, "bob", 9, "update_preimage"),
            (13, "bert", 1, "insert"),
        ]
        assert world.rows("totals_now") == [("ann", 1, 7), ("bert", 2, 10)]
        # an insert that was deleted again was inserted; what a join gives anew by an update is no insert
        assert sorted(row[0] for row in world.rows("inserted_log")) == [10, 11, 12, 13, 14]
        assert operations(world.commits("joined_log")) == ["CREATE OR REPLACE TABLE AS SELECT", "WRITE"]
        (read,) = results["joined_log"].adapter_response["streams"]
        assert sorted(name.split(".")[-1] for name in read["table"]) == ["orders", "people"]

    def test_nothing_new_writes_nothing_and_runs_no_job(self, world: World) -> None:
        before, jobs = (
            {name: world.log(name).version for name in ("joined_log", "totals_now")},
            jobs_so_far(world.spark),
        )
        results = run("run", "--select", "joined_log", "totals_now", "inserted_log")
        assert jobs_so_far(world.spark) == jobs
        assert {result.message for result in results.values()} == {"OK nothing new"}
        assert {name: world.log(name).version for name in before} == before

    def test_empty_consumes_nothing(self, world: World) -> None:
        world.sql("insert into {raw}.orders values (15, 1, 3)")
        run("run", "--empty")
        assert len(world.rows("joined_log")) == 4
        shown = run("show", "--inline", "select * from {{ stream('joined') }}")
        assert len(shown["inline_query"].agate_table.rows) == 5
        run("run", "--select", "joined_log")
        assert len(world.rows("joined_log")) == 5

    def test_a_view_that_is_made_again_keeps_its_streams(self, world: World) -> None:
        before = world.stream("joined")
        world.model("people_v.sql", VIEW.replace("as who", "as   who /* said again */"))
        results, _log = run_logged("run", "--select", "people_v", "joined")
        assert "kept at version" in results["joined"].message
        assert world.stream("joined") == before

    def test_a_renamed_table_is_the_same_table(self, world: World) -> None:
        before = world.stream("joined")
        world.sql("alter table {raw}.orders rename to {raw}.sales", "insert into {raw}.sales values (16, 1, 4)")
        world.model("sources.yml", SOURCES.replace("{name: orders}", "{name: orders, identifier: sales}"))
        run("run", "--select", "joined", "joined_log")
        assert (world.stream("joined").id, len(world.rows("joined_log"))) == (before.id, 6)

    @pytest.mark.parametrize(("reaction", "passes"), [("continue", True), ("fail", False)])
    def test_other_reactions_to_a_changed_view(self, world: World, reaction: str, passes: bool) -> None:
        before = world.stream("joined")
        world.model("people_v.sql", VIEW.replace("name as who", "upper(name) as who"))
        world.model("joined.sql", stream(f"on_configuration_change='{reaction}'"))
        _results, log = run_logged("run", "--select", "people_v", "joined", passes=passes)
        assert world.stream("joined") == before
        assert ("stays as it was" in log) == passes
        assert ("on_configuration_change is 'fail'" in log) != passes

    def test_a_changed_query_leads_from_the_old_rows_to_the_new(self, world: World) -> None:
        world.model("joined.sql", stream("", JOIN + " where o.amount > 3"))
        world.sql("insert into {raw}.sales values (17, 1, 8)")
        result, _log = run_logged("run", "--select", "joined")
        assert "altered" in result["joined"].message
        seen = len(world.rows("joined_log"))
        for _ in range(2):
            run("run", "--select", "joined_log")
        rows = world.rows(
            "select id, who, amount, sum(if(_change_type in ('delete', 'update_preimage'), -1, 1)) "
            "from {dbt}.joined_log group by all having sum(if(_change_type in "
            "('delete', 'update_preimage'), -1, 1)) <> 0"
        )
        # the log tells what changed since the stream was made: 11 and 12 were there before, 10 is gone, 13 and 15 are
        # too small for the query that the model has now
        assert rows == [
            (10, "ann", 5, -1),
            (11, "ANN", 7, 1),
            (11, "ann", 7, -1),
            (12, "BERT", 9, 1),
            (12, "bob", 9, -1),
            (16, "ANN", 4, 1),
            (17, "ANN", 8, 1),
        ]
        assert len(world.rows("joined_log")) > seen

    def test_replaced_tables_are_the_same_tables(self, world: World) -> None:
        """CREATE OR REPLACE gives a table another id; every row of it is new."""
        world.sql(
            "create or replace table {raw}.people using delta tblproperties ('delta.enableRowTracking' = 'true') "
            "as select * from {raw}.people"
        )
        run("run", "--select", "totals_now", "joined")
        assert world.rows("totals_now") == world.rows(
            "select name, count(*), sum(amount) from {raw}.people p join {raw}.sales s on s.person = p.id group by name"
        )


class TestRefusals:
    """What cannot be a stream on a query says why when it is made."""

    prepare = (
        *TABLES,
        "create table {raw}.landed using parquet as select 1 as person",
        "create function {raw}.aged(x int) returns int return x + year(current_date())",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        orders = "select * from {{ source('raw', 'orders') }}"
        return {
            "sources.yml": SOURCES,
            "people_v.sql": VIEW,
            "joined.sql": stream(),
            "counted.sql": stream("mode='append_only'", TOTALS),
            "random.sql": stream("", f"select *, rand() as r from ({orders})"),
            "aged.sql": stream("", "select {{ target.schema }}_raw.aged(id) as age from {{ source('raw', 'orders') }}"),
            "landed.sql": stream("", f"{orders} join {{{{ target.schema }}}}_raw.landed using (person)"),
            "by_file.sql": stream("mode='insert_only'"),
            "by_key.sql": stream("unique_key='id'"),
            "by_version.sql": stream("at={'version': 1}"),
            "of_stream.sql": stream("", "select id, count(*) as n from {{ ref('joined') }} group by id"),
            "hidden.sql": stream(
                "", "select id as _row_id, count(*) as n from {{ source('raw', 'orders') }} group by id"
            ),
            "nowhere.sql": stream("", "select count(*) as n from {{ target.schema }}_raw.nothing"),
            "clock.sql": stream("show_initial_rows=true", f"select *, current_date() as today from ({orders})"),
        }

    def test_each_says_why(self, world: World) -> None:
        results = run("run", passes=False)
        said = {name: str(result.message) for name, result in results.items() if result.status == "error"}
        for name, text in {
            "counted": "append_only takes queries whose rows only ever come",
            "random": "rand() gives another value each time it is asked",
            "aged": "_raw.aged() is a user-defined function that tells the time",
            "landed": "landed is no Delta table",
            "by_file": "mode = 'insert_only' is for columns and rows of one table, but its query has JOIN",
            "by_key": "unique_key is for columns and rows of one table",
            "by_version": "a version means nothing for a query on 2 tables",
            "of_stream": "which has no history of its own to follow",
            "hidden": "columns that the metadata columns would hide: _row_id",
            "nowhere": "does not exist",
        }.items():
            assert text in said.pop(name), (name, results[name].message)
        assert said == {}

    def test_a_view_that_cannot_tell_raises(self, world: World) -> None:
        with pytest.raises(Exception, match="the stream's query tells the time"):
            world.rows("clock")
