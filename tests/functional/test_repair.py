"""Cursors moved by hand, sources vacuumed, streams dropped: what is read again is the same, and nothing needed goes."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from tests.functional.projects import READY, World, operate, run

SOURCES = """
version: 2
sources:
  - name: raw
    schema: "{{ target.schema }}_raw"
    tables: [{name: people}]
models:
  - name: people_stream
    data_tests:
      - stream_not_stale: {name: fresh}
      - stream_not_stale: {name: fresh_for_a_month, arguments: {days: 30}}
"""
LOG = "{{ config(materialized='incremental') }} select * from {{ stream('people_stream') }}"
DAY = 24 * 3600
COLUMNS = "select id, name, _change_type, _commit_version, _row_id from {dbt}.log"


def backdate(table: Path, version: int, days: float) -> None:
    """Make a commit, and the files that it wrote and removed, look that old."""
    file = table / "_delta_log" / f"{version:020d}.json"
    then = time.time() - days * DAY
    actions = [json.loads(line) for line in file.read_text().splitlines()]
    for action in actions:
        if "remove" in action:
            action["remove"]["deletionTimestamp"] = int(then * 1000)
        if "add" in action:
            os.utime(table / action["add"]["path"], (then, then))
    file.write_text("\n".join(json.dumps(action) for action in actions) + "\n")
    (file.parent / f".{file.name}.crc").unlink(missing_ok=True)
    os.utime(file, (then, then))


class TestRepair:
    prepare = (
        f"create table {{raw}}.people (id int, name string) using delta {READY}",
        "insert into {raw}.people values (1, 'ann'), (2, 'bob')",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        source = "{{ source('raw', 'people') }}"
        return {
            "sources.yml": SOURCES,
            "people_stream.sql": f"{{{{ config(materialized='stream', show_initial_rows=true) }}}} select * from {source}",
            "log.sql": LOG,
            "late.sql": LOG,
            "kept_equal.sql": "{{ config(materialized='incremental', incremental_strategy='differential', "
            f"unique_key='id', max_data_extension_days=0) }}}} select id, name from {source}",
        }

    def test_rewound_it_reads_the_same_rows_again(self, world: World) -> None:
        run("run")
        world.sql("update {raw}.people set name = 'anna' where id = 1", "insert into {raw}.people values (3, 'cid')")
        run("run", "--select", "log")
        world.sql("delete from {raw}.people where id = 2")
        run("run", "--select", "log")
        consumed = world.rows(COLUMNS)
        found, _ = operate("rewind_consumer", model="log", to=1)
        assert (found["rewound_to"], found["consumption"]) == (1, 4)
        assert found["offsets"] == [f"{world.raw}.people versions (1, 1]"]
        assert world.rows(COLUMNS) == consumed
        world.sql("delete from {dbt}.log where _commit_version > 1")
        run("run", "--select", "log")
        assert world.rows(COLUMNS) == consumed
        history = operate("consumer_history", model="log")[0]["history"]
        assert [row["action"] for row in history] == ["consume", "rewind", "consume", "consume", "consume"]

    def test_rewound_to_the_beginning_the_initial_rows_come_again(self, world: World) -> None:
        operate("rewind_consumer", model="log", to=0)
        preview = operate("preview_consume", model="log")[0]["streams"]
        assert [(row["shape"], row["inserts"]) for row in preview] == [("INITIAL_ROWS", 2)]
        operate("rewind_consumer", model="log", to=5)
        assert operate("preview_consume", model="log")[0]["has_data"] is False

    @pytest.mark.parametrize(
        "arguments, said",
        [
            ({"model": "log", "to": 99}, "has no such consumption in its log. There are 1, 2, 3"),
            ({"model": "kept_equal", "to": 1}, "is a differential model: its rows and its offset go back together"),
        ],
    )
    def test_what_cannot_be_rewound_says_why(self, world: World, arguments: dict[str, object], said: str) -> None:
        before = len(world.commits(str(arguments["model"])))
        assert said in operate("rewind_consumer", passes=False, **arguments)[1]
        assert len(world.commits(str(arguments["model"]))) == before

    def test_advanced_it_leaves_out_what_it_has_not_read(self, world: World) -> None:
        assert "say whose offset" in operate("advance_stream", passes=False, stream="people_stream")[1]
        rows = world.rows("log")
        world.sql("insert into {raw}.people values (4, 'dora')")
        found, _ = operate("advance_stream", stream="people_stream", consumer="log")
        ((told,),) = [found["consumers"]]
        assert told["target_version"] == world.log("log").version
        run("run", "--select", "log")
        assert world.rows("log") == rows
        world.sql("insert into {raw}.people values (5, 'emil')")
        run("run", "--select", "log")
        assert [row for row in world.rows("log") if row not in rows] == [
            row for row in world.rows("log") if row[0] == 5
        ]
        assert len(world.rows("log")) == len(rows) + 1

    def test_changes_are_explained(self, world: World) -> None:
        plans = {plan["target"]: plan for plan in operate("explain_changes", model="people_stream")[0]["plans"]}
        late = plans[f"{world.schema}.late"]["tables"][0]
        assert (late["start"], late["end"], late["shape"]) == (1, 6, "MINIMIZE")
        assert plans[f"{world.schema}.log"]["tables"][0]["shape"] == "EMPTY"
        query = f"select count(*) as n from {world.raw}.people"
        (plan,) = operate("explain_changes", query=query, start=1, end=2)[0]["plans"]
        assert (plan["fallback"], [one["operator"] for one in plan["operators"]][1]) == (False, "Aggregate")
        assert "give either model" in operate("explain_changes", passes=False)[1]

    def test_vacuum_takes_no_file_that_a_cursor_needs(self, world: World) -> None:
        table = Path(world.log(f"{world.raw}.people").path.removeprefix("file:"))
        run("run", "--select", "late", "kept_equal")
        world.sql("update {raw}.people set name = 'old' where id = 3")
        version = world.log(f"{world.raw}.people").version
        run("run", "--select", "late", "kept_equal")
        world.sql("update {raw}.people set name = 'new' where id = 3")
        for one in range(version + 2):
            backdate(table, one, days=40 - one)
        world.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
        operate("advance_stream", stream="people_stream", consumer="log")
        assert self.stale() == {"fresh", "fresh_for_a_month"}
        (stream,) = operate("show_streams")[0]["streams"]
        assert (stream["stale"], "may drop what it needs" in stream["invalid_reason"]) == (True, True)
        files = set(table.glob("*.parquet"))
        found, log = operate("vacuum_sources", passes=False)
        (told,) = found["tables"]
        assert (told["oldest_version"], told["vacuumed"], set(table.glob("*.parquet"))) == (version, False, files)
        assert f"left alone, since a cursor needs what VACUUM would take: {told['table']} (by {told['held_by']})" in log
        run("run", "--select", "late", "kept_equal")
        assert ("new", "update_postimage") in world.rows("select name, _change_type from {dbt}.late where id = 3")
        world.sql("insert into {raw}.people values (9, 'ina')")
        run("run", "--select", "log", "late")
        assert self.stale() == {"fresh_for_a_month"}

    def stale(self) -> set[str]:
        results = run("test", "--select", "people_stream", passes=False)
        return {name for name, result in results.items() if result.status == "fail"}

    def test_vacuum_takes_what_no_cursor_needs(self, world: World) -> None:
        table = Path(world.log(f"{world.raw}.people").path.removeprefix("file:"))
        world.sql("update {raw}.people set name = 'newest' where id = 3")
        files = set(table.glob("*.parquet"))
        (told,) = operate("vacuum_sources", stream="people_stream", dry_run=True)[0]["tables"]
        assert (told["files"] > 0, set(table.glob("*.parquet"))) == (True, files)
        (told,) = operate("vacuum_sources")[0]["tables"]
        assert (told["vacuumed"], set(table.glob("*.parquet")) < files) == (True, True)
        run("run", "--select", "late", "kept_equal")
        assert ("newest", "update_postimage") in world.rows("select name, _change_type from {dbt}.late where id = 3")
        operate("audit_consumer", model="kept_equal")

    def test_a_stream_that_is_read_is_dropped_by_force_alone(self, world: World) -> None:
        assert (
            "Drop it all the same with force: true." in operate("drop_stream", passes=False, stream="people_stream")[1]
        )
        found, _ = operate("drop_stream", stream="people_stream", force=True)
        assert found["dropped"] == f"{world.schema}.people_stream"
        assert operate("show_streams")[0]["streams"] == []
        (told,) = operate("vacuum_sources", dry_run=True)[0]["tables"]  # nobody reads on in a stream that is gone
        assert told["held_by"] == f"{world.schema}.kept_equal"
        operate("audit_consumer", model="kept_equal")
        world.sql("delete from {dbt}.kept_equal where id = 1")
        found, log = operate("audit_consumer", passes=False, model="kept_equal")
        assert (found["missing"], found["surplus"], found["is_equal"]) == (1, 0, False), log
