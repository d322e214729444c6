"""A source gains a column: what each kind of consumer does under on_schema_change, offset and rows kept."""

from __future__ import annotations

import pytest

from tests.functional.projects import SOURCES, World, operations, run

KEYED = {"merge", "apply_changes"}
CONFIGS = {"insert_overwrite": ", partition_by='id'", "replace_where": ', replace_where="id > 1"'}
STRATEGIES = ("append", "merge", "insert_overwrite", "replace_where", "apply_changes")


def consumer(strategy: str, reaction: str, columns: str) -> str:
    key = ", unique_key='id'" if strategy in KEYED else CONFIGS.get(strategy, "")
    config = f"materialized='incremental', incremental_strategy='{strategy}', on_schema_change='{reaction}'{key}"
    rows = "" if strategy == "apply_changes" else " where _change_type <> 'update_preimage'"
    change_type = ", _change_type" if strategy == "apply_changes" else ""
    return f"{{{{ config({config}) }}}} select {columns}{change_type} from {{{{ stream('people_stream') }}}}{rows}"


class TestSchemaChange:
    """The source is (id, old, kept) and becomes (id, old, kept, new); the models then take `new` and leave `old`; those
    that ignore it take both."""

    prepare = (
        "create table {raw}.people (id int, old string, kept string) using delta "
        "tblproperties ('delta.enableRowTracking' = 'true')",
        "insert into {raw}.people values (1, 'x', 'a')",
    )
    BEFORE = "id, old, kept"
    AFTER = "id, kept, new"
    WIDER = "id, old, kept, new"

    def texts(self, columns: str, ignored: str) -> dict[str, str]:
        return {
            f"{reaction}_{strategy}.sql": consumer(strategy, reaction, ignored if reaction == "ignore" else columns)
            for reaction in ("append_new_columns", "sync_all_columns", "fail", "ignore")
            for strategy in STRATEGIES
        }

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        stream = (
            "{{ config(materialized='stream', show_initial_rows=true) }} select * from {{ source('raw', 'people') }}"
        )
        return {"sources.yml": SOURCES, "people_stream.sql": stream, **self.texts(self.BEFORE, self.BEFORE)}

    def test_every_consumer(self, world: World) -> None:
        run("run")
        world.sql(
            "alter table {raw}.people add column new int",
            "insert into {raw}.people values (2, 'y', 'b', 20), (3, 'z', 'c', 30)",
        )
        for path, text in self.texts(self.AFTER, self.WIDER).items():
            world.model(path, text)
        results = run("run", passes=False)
        for strategy in STRATEGIES:
            self.check_appended(world, strategy)
            self.check_synced(world, strategy)
            failed = results[f"fail_{strategy}"]
            assert failed.status == "error" and "out of sync" in str(failed.message)
            assert world.rows(f"fail_{strategy}") == [(1, "x", "a")]
            assert world.rows(f"ignore_{strategy}") == [(1, "x", "a"), (2, "y", "b"), (3, "z", "c")]
        assert {name for name, result in results.items() if result.status == "error"} == {
            f"fail_{strategy}" for strategy in STRATEGIES
        }

    def check_appended(self, world: World, strategy: str) -> None:
        name = f"append_new_columns_{strategy}"
        assert world.columns(name) == ["id", "old", "kept", "new"], strategy
        assert world.rows(name) == [(1, "x", "a", None), (2, None, "b", 20), (3, None, "c", 30)]
        self.check_one_consumption(world, name)

    def check_synced(self, world: World, strategy: str) -> None:
        name = f"sync_all_columns_{strategy}"
        assert world.columns(name) == ["id", "kept", "new"], strategy
        assert world.rows(name) == [(1, "a", None), (2, "b", 20), (3, "c", 30)]
        self.check_one_consumption(world, name)

    def check_one_consumption(self, world: World, name: str) -> None:
        """The ALTERs are commits of their own, without the offset; the rows came in one commit with it."""
        consumed = [commit for commit in world.commits(name) if commit.txns]
        assert len(consumed) == 2, operations(world.commits(name))
        assert all(commit.operation not in ("ADD COLUMNS", "DROP COLUMNS", "SET TBLPROPERTIES") for commit in consumed)

    def test_a_model_that_failed_consumes_when_it_may(self, world: World) -> None:
        """A failure consumed nothing: the rows come with the next run that passes."""
        world.model("fail_append.sql", consumer("append", "fail", "id, old, kept"))
        run("run", "--select", "fail_append")
        assert world.rows("fail_append") == [(1, "x", "a"), (2, "y", "b"), (3, "z", "c")]
