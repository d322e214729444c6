"""`materialized='changes'`: the changes of a model's own query, run by run; and `changes()` inside other models."""

from __future__ import annotations

import pytest

from tests.functional.projects import SOURCES, World, operations, run
from tests.functional.test_query_streams import JOIN, TABLES, TOTALS, VIEW

SNOWFLAKE = ("METADATA$ACTION", "METADATA$ISUPDATE", "METADATA$ROW_ID")
CREATE = "CREATE OR REPLACE TABLE AS SELECT"
BEST = "select id, person, rank() over (partition by person order by amount desc) as place from {{ source('raw', 'orders') }}"


def model(query: str, config: str = "") -> str:
    return f"{{{{ config(materialized='changes'{', ' if config else ''}{config}) }}}}\n{query}"


class TestLife:
    prepare = TABLES

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        docs = """
models:
  - name: totals_changes
    description: What happened to the totals
    config:
      persist_docs: {relation: true, columns: true}
      contract: {enforced: true}
    columns:
      - {name: name, data_type: string, description: Whose}
      - {name: n, data_type: bigint}
      - {name: total, data_type: bigint}
      - {name: _change_type, data_type: string}
      - {name: _commit_version, data_type: bigint}
      - {name: _commit_timestamp, data_type: timestamp}
      - {name: _row_id, data_type: string}
"""
        return {
            "sources.yml": SOURCES + docs,
            "people_v.sql": VIEW,
            "totals_changes.sql": model(TOTALS, "initial_rows=true, partition_by='name', tags=['cdc']"),
            "joined_changes.sql": model(JOIN, "format='append_only', metadata_columns='snowflake'"),
            "best_changes.sql": model(BEST, "format='redo_log', mode='strict', on_schema_change='append_new_columns'"),
        }

    def rows(self, world: World, name: str = "totals_changes") -> list[tuple[object, ...]]:
        metadata = {column for column in world.columns(name) if column[0] == "_"} - {"_change_type"}
        columns = ", ".join(f"`{column}`" for column in world.columns(name) if column not in metadata)
        return world.rows(f"select {columns} from {{dbt}}.{name}")

    def test_empty_comes_first(self, world: World) -> None:
        run("run", "--empty")
        assert world.rows("totals_changes") == []
        assert all(commit.txns == {} for commit in world.commits("totals_changes"))

    def test_the_first_run_begins(self, world: World) -> None:
        run("run")
        assert self.rows(world) == [("ann", 2, 12, "insert"), ("bob", 1, 9, "insert")]
        assert world.rows("joined_changes") == world.rows("best_changes") == []
        assert world.columns("joined_changes")[-3:] == ["METADATA$ACTION", "METADATA$ISUPDATE", "METADATA$ROW_ID"]
        for name in ("totals_changes", "joined_changes", "best_changes"):
            made = [commit for commit in world.commits(name) if commit.txns]
            assert [(commit.operation, list(commit.txns.values())) for commit in made] == [(CREATE, [1])], name

    def test_each_run_appends_in_one_commit(self, world: World) -> None:
        world.sql(
            "insert into {raw}.orders values (13, 2, 1), (14, 2, 2)",
            "delete from {raw}.orders where id in (10, 14)",
            "update {raw}.people set name = 'bert' where id = 2",
        )
        before = {name: world.log(name).version for name in ("totals_changes", "joined_changes", "best_changes")}
        run("run", "--select", "people_v", "tag:cdc", "joined_changes", "best_changes")
        assert self.rows(world) == [
            ("ann", 1, 7, "update_postimage"),
            ("ann", 2, 12, "insert"),
            ("ann", 2, 12, "update_preimage"),
            ("bert", 2, 10, "insert"),
            ("bob", 1, 9, "delete"),
            ("bob", 1, 9, "insert"),
        ]
        assert world.rows("select id, amount, `METADATA$ACTION` from {dbt}.joined_changes") == [
            (13, 1, "INSERT"),
            (14, 2, "INSERT"),
        ]
        assert self.rows(world, "best_changes") == [
            (10, 1, 2, "delete"),
            (13, 2, 2, "update_postimage"),
            (13, 2, 3, "insert"),
            (13, 2, 3, "update_preimage"),
            (14, 2, 2, "delete"),
            (14, 2, 2, "insert"),
        ]
        for name, version in before.items():
            made = world.commits(name)[version + 1 :]
            assert (operations(made), [list(commit.txns.values()) for commit in made]) == (["WRITE"], [[2]]), name

    def test_nothing_new_writes_nothing(self, world: World) -> None:
        before = {name: world.log(name).version for name in ("totals_changes", "joined_changes", "best_changes")}
        results = run("run")
        assert {results[name].message for name in before} == {"OK nothing new"}
        run("run", "--empty")
        assert {name: world.log(name).version for name in before} == before

    def test_another_query_leads_from_the_old_rows_to_the_new(self, world: World) -> None:
        wider = BEST.replace("select id", "select id, amount")
        world.model("best_changes.sql", model(wider, "format='redo_log', on_schema_change='append_new_columns'"))
        before = world.rows("select count(*) from {dbt}.best_changes")[0][0]
        results = run("run", "--select", "best_changes")
        assert results["best_changes"].adapter_response["streams"][0]["shape"] == "REDEFINED"
        assert "amount" in world.columns("best_changes")
        added = world.rows(
            "select id, place, amount from {dbt}.best_changes where _change_type = 'insert' and amount > 0"
        )
        assert added == [(11, 1, 7), (12, 1, 9), (13, 2, 1)]
        assert world.rows("select count(*) from {dbt}.best_changes")[0][0] == before + 6
        assert run("run", "--select", "best_changes")["best_changes"].message == "OK nothing new"

    def test_full_refresh_begins_again(self, world: World) -> None:
        run("run", "--full-refresh", "--select", "totals_changes")
        assert self.rows(world) == [("ann", 1, 7, "insert"), ("bert", 2, 10, "insert")]
        described = world.rows("describe extended {dbt}.totals_changes")
        assert ("Comment", "What happened to the totals", "") in described


class TestConfigs:
    """Contracts, grants and hooks, which never run under the confs of the commit. Spark alone grants nothing: what dbt
    asks for is noted down by a macro in place of its own."""

    prepare = (*TABLES, "create table {raw}.said (n int, what string) using delta")

    @pytest.fixture(scope="class")
    def macros(self) -> dict[str, str]:
        note = """
{% macro note(what) %}
  {% do run_query("insert into " ~ target.schema ~ "_raw.said select count(*), '" ~ what ~ "' from " ~ target.schema ~ "_raw.said") %}
{% endmacro %}
{% macro streamspark__apply_grants(relation, grant_config, should_revoke) %}
  {% if grant_config %}{% do note('grant ' ~ relation.name ~ ' ' ~ grant_config['select'] | join(', ')) %}{% endif %}
{% endmacro %}
"""
        return {"note.sql": note}

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        columns = (("id", "int"), ("amount", "{}"), *zip(SNOWFLAKE, ("string", "boolean", "string"), strict=True))
        contract = "  - name: {}\n    config: {{contract: {{enforced: true}}}}\n    columns:\n" + "".join(
            f"      - {{{{name: '{name}', quote: true, data_type: {kind}}}}}\n" for name, kind in columns
        )
        orders = "select id, amount from {{ source('raw', 'orders') }}"
        options = "initial_rows=true, metadata_columns='snowflake'"
        hooks = (
            "grants={'select': ['ann', 'bob']}, pre_hook=\"{{ note('before') }}\", post_hook=\"{{ note('after') }}\""
        )
        return {
            "sources.yml": SOURCES + "models:\n" + contract.format("kept", "int") + contract.format("broken", "string"),
            "kept.sql": model(orders, f"{options}, {hooks}"),
            "broken.sql": model(orders, options),
            "failing.sql": model(orders, "initial_rows=true, post_hook=\"select raise_error('the hook is wrong')\""),
        }

    def test_a_contract_that_is_broken_writes_nothing(self, world: World) -> None:
        results = run("run", "--select", "broken", passes=False)
        assert "This model has an enforced contract that failed" in str(results["broken"].message)
        assert not world.spark.catalog.tableExists(f"{world.schema}.broken")

    def test_hooks_and_grants_come_around_each_commit(self, world: World) -> None:
        run("run", "--select", "kept")
        world.sql("insert into {raw}.orders values (13, 2, 1)")
        run("run", "--select", "kept")
        each = ["before", "grant kept ann, bob", "after"]
        assert [what for _, what in sorted(world.rows("select * from {raw}.said"))] == each * 2
        assert all(commit.txns == {} for commit in world.commits(f"{world.raw}.said"))
        assert [list(commit.txns.values()) for commit in world.commits("kept") if commit.txns] == [[1], [2]]

    def test_a_hook_that_fails_after_the_commit_is_no_reason_to_write_again(self, world: World) -> None:
        for _ in range(2):
            results = run("run", "--select", "failing", passes=False)
            assert "the hook is wrong" in str(results["failing"].message)
        assert [list(commit.txns.values()) for commit in world.commits("failing") if commit.txns] == [[1]]
        assert world.rows("select count(*) from {dbt}.failing") == world.rows("select count(*) from {raw}.orders")


class TestRefusals:
    prepare = (*TABLES, "create table {raw}.theirs using delta as select 1 as id")

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        orders = "select * from {{ source('raw', 'orders') }}"
        changes = "select * from {{ changes(source('raw', 'orders'), start=0) }}"
        return {
            "sources.yml": SOURCES,
            "people_v.sql": VIEW,
            "joined.sql": f"{{{{ config(materialized='stream') }}}} {JOIN}",
            "counted.sql": model(TOTALS, "format='append_only'"),
            "strict.sql": model(f"{orders} order by rand()", "mode='strict'"),
            "slip.sql": model(orders, "initial_row=true"),
            "consuming.sql": model("select id from {{ stream('joined') }}"),
            "theirs.sql": model(orders, "schema='raw'"),
            "as_view.sql": "{{ config(materialized='view') }} " + changes,
            "as_stream.sql": "{{ config(materialized='stream') }} " + changes,
        }

    def test_each_says_why(self, world: World) -> None:
        results = run("run", passes=False)
        said = {name: str(result.message) for name, result in results.items() if result.status == "error"}
        for name, text in {
            "counted": "append_only takes queries whose rows only ever come",
            "strict": "rand() gives another value",
            "slip": "initial_row is no configuration of a changes model. Did you mean initial_rows?",
            "consuming": "append them with incremental_strategy='append'",
            "theirs": "it is none that streamspark/model.test.theirs has made and that holds the changes of its query",
            "as_view": "is materialized as view and cannot ask for changes()",
            "as_stream": "is materialized as stream and cannot ask for changes()",
        }.items():
            assert text in said.pop(name), (name, results[name].message)
        assert said == {}


class TestClause:
    """`changes()` between versions, times, streams and frontiers, in tables, tests and dbt show."""

    prepare = (
        *(text + " tblproperties ('delta.enableRowTracking' = 'true')" for text in TABLES[:2]),
        *TABLES[2:],
        "update {raw}.people set name = 'bert' where id = 2",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        table = "{{ config(materialized='table') }} select * from "
        people, joined = "{{ changes(source('raw', 'people'), start=1, end=2) }}", f"set query %}}{JOIN}{{% endset"
        return {
            "sources.yml": SOURCES,
            "people_v.sql": VIEW,
            "joined.sql": f"{{{{ config(materialized='stream') }}}} {JOIN}",
            "between.sql": table + people,
            "since_stream.sql": "-- depends_on: {{ ref('joined') }}\n{% "
            + joined
            + " %}"
            + table
            + "{{ changes(query, start={'stream': 'joined'}) }}",
            "by_frontier.sql": "{% "
            + joined
            + " %}"
            + table
            + "{{ changes(query, start={'people': 1, 'orders': 1}, end={'people': 2, 'orders': 1}, format='redo_log') }}",
        }

    @pytest.fixture(scope="class")
    def tests(self) -> dict[str, str]:
        return {
            "nobody_left.sql": "select * from {{ changes(source('raw', 'people'), start=1) }} where "
            "_change_type = 'delete'"
        }

    def test_all(self, world: World) -> None:
        run("run")
        assert world.rows("select id, name, _change_type from {dbt}.between") == [
            (2, "bert", "update_postimage"),
            (2, "bob", "update_preimage"),
        ]
        assert world.rows("since_stream") == []
        by_frontier = world.rows("select id, who, _change_type from {dbt}.by_frontier")
        assert by_frontier == [(12, "bert", "update_postimage"), (12, "bob", "update_preimage")]
        world.sql("insert into {raw}.orders values (13, 1, 3)")
        run("build", "--select", "since_stream", "nobody_left")
        assert world.rows("select id, who, _change_type from {dbt}.since_stream") == [(13, "ann", "insert")]
        world.sql("delete from {raw}.people where id = 1")
        assert run("test", passes=False)["nobody_left"].failures == 1
        shown = run("show", "--inline", "select name from {{ changes(source('raw', 'people'), start=2) }}")
        assert [tuple(row) for row in shown["inline_query"].agate_table.rows] == [("ann",)]
        times = [commit.timestamp.strftime("%Y-%m-%d %H:%M:%S.%f") for commit in world.commits(f"{world.raw}.people")]
        clause = f"changes(source('raw', 'people'), start='{times[1]}', end='{times[2]}')"
        shown = run("show", "--inline", f"select name from {{{{ {clause} }}}} order by name")
        assert [tuple(row) for row in shown["inline_query"].agate_table.rows] == [("bert",), ("bob",)]
        run("compile")
