"""What `explain` says, field by field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes import ChangePlan, explain
from dbt.adapters.streamspark.changes.change_plan import TablePlan
from dbt.adapters.streamspark.errors import InvalidStreamConfig, UnsupportedQuery
from tests.spark.jobs import jobs_of
from tests.spark.queries.history import History

JOINED = "select o.id, c.name from o join c on o.cust = c.id"
GROUPED = "select cust, count(*) n from o group by cust"


@pytest.fixture(scope="module")
def shop(spark: SparkSession) -> Iterator[History]:
    history = History(spark, "query_explain")
    history.table("o", "id int, cust int, amt int", vectors=False)
    history.table("c", "id int, name string", vectors=False)
    history.run("insert into o values (1, 1, 10), (2, 2, 20)", "insert into o values (3, 1, 30)")
    history.run("insert into c values (1, 'a'), (2, null)")
    yield history.marked(
        ["update o set amt = 11 where id = 1", "insert into o values (4, 2, 40)"], ["optimize o"]
    )  # c stays as it is
    history.drop()


def plan(history: History, query: str, start: int = 0, end: int = 1, **options: Any) -> ChangePlan:
    return explain(history.session, query, history.points[start], history.points[end], **options)


def of_table(found: ChangePlan, name: str) -> TablePlan:
    return next(table for table in found.tables if table.table.endswith(f".{name}"))


def files(history: History, name: str, first: int, last: int) -> dict[str, int]:
    """Path -> size of the files that the commits first to last leave behind, by the log itself."""
    location = history.session.sql(f"describe detail {name}").first()["location"]
    live: dict[str, int] = {}
    for version in range(first, last + 1):
        text = Path(location.removeprefix("file:"), "_delta_log", f"{version:020d}.json").read_text()
        for action in map(json.loads, text.splitlines()):
            if "remove" in action:
                live.pop(action["remove"]["path"], None)
            if "add" in action:
                live[action["add"]["path"]] = action["add"]["size"]
    return live


def ends(history: History, name: str) -> tuple[dict[str, int], dict[str, int]]:
    """The files of a table at the first and the second point."""
    before, after = (point[f"{history.schema}.{name}"] for point in history.points[:2])
    return files(history, name, 0, before), files(history, name, 0, after)


def size(live: dict[str, int]) -> tuple[int, int]:
    return len(live), sum(live.values())


class TestTables:
    def test_interval_and_shape(self, shop: History) -> None:
        found = plan(shop, JOINED)
        start, end = (point["query_explain.o"] for point in shop.points[:2])
        assert (of_table(found, "o").start, of_table(found, "o").end) == (start, end)
        assert of_table(found, "o").shape == "MINIMIZE"
        assert of_table(found, "c").shape == "EMPTY"
        assert of_table(plan(shop, "o", 1, 2), "o").shape == "EMPTY"
        assert of_table(plan(shop, "select id from o where cust = 1", 1, 2), "o").start == end

    def test_files_and_bytes_that_changed(self, shop: History) -> None:
        before, after = ends(shop, "o")
        gone = {path: size for path, size in before.items() if path not in after}
        came = {path: size for path, size in after.items() if path not in before}
        table = of_table(plan(shop, "o"), "o")
        assert len(gone) == 1 and len(came) == 2
        assert (table.files_at_start, table.bytes_at_start) == size(gone)
        assert (table.files_at_end, table.bytes_at_end) == size(came)

    def test_appended_files_are_those_that_inserts_wrote(self, shop: History) -> None:
        table = of_table(plan(shop, "select id from o", format="append_only"), "o")
        assert (table.shape, table.files_at_start, table.files_at_end) == ("ADDED_ONLY", 0, 2)

    def test_a_table_that_is_not_looked_up(self, shop: History) -> None:
        table = of_table(plan(shop, "select id, amt + 1 x from o where cust = 1"), "o")
        assert looked_up(table) == ((0, 0), (0, 0))
        assert str(table).endswith("; not looked up")

    def test_a_join_looks_its_partner_up(self, shop: History) -> None:
        found = plan(shop, JOINED)
        assert looked_up(of_table(found, "c")) == ((0, 0), size(ends(shop, "c")[1]))
        assert looked_up(of_table(found, "o")) == ((0, 0), (0, 0))
        files, bytes = size(ends(shop, "c")[1])
        assert f"looked up at the end: in {files} files, {bytes:,} bytes" in str(found)

    @pytest.mark.parametrize(
        "query", [GROUPED, "select count(*) n from o", "select id, sum(amt) over (order by id) s from o"]
    )
    def test_affected_groups_are_looked_up_at_both_ends(self, shop: History, query: str) -> None:
        before, after = ends(shop, "o")
        assert looked_up(of_table(plan(shop, query), "o")) == (size(before), size(after))

    def test_what_a_delta_of_a_delta_looks_up(self, shop: History) -> None:
        """Of what is computed on the way, too: the join's delta gives the keys of the groups."""
        found = plan(shop, "select c.name, count(*) n from o join c on o.cust = c.id group by c.name")
        assert looked_up(of_table(found, "c")) == tuple(map(size, ends(shop, "c")))
        assert looked_up(of_table(found, "o")) == tuple(map(size, ends(shop, "o")))


def looked_up(table: TablePlan) -> tuple[Any, Any]:
    start = (table.looked_up_files_at_start, table.looked_up_bytes_at_start)
    return start, (table.looked_up_files_at_end, table.looked_up_bytes_at_end)


class TestOperators:
    def test_the_rule_of_each(self, shop: History) -> None:
        found = plan(shop, "select c.name, count(*) n from o left join c on o.cust = c.id group by c.name")
        told = [(operator.operator, operator.rule, operator.depth) for operator in found.operators]
        assert told == [
            ("Project", "row by row, over its input's changes", 0),
            ("Aggregate", "groups that a change touches, at both ends", 1),
            ("OuterJoin", "rows under the keys that a change touches, joined at both ends", 2),
            ("Scan query_explain.o", "the table's own changes, MINIMIZE", 3),
            ("Scan query_explain.c", "the table's own changes, EMPTY", 3),
        ]

    def test_expressions_are_the_users(self, shop: History) -> None:
        found = plan(shop, "select id, amt * 2 as twice from o where cust > 1")
        assert [operator.detail for operator in found.operators] == ["id, amt * 2", "cust > 1", "id, cust, amt"]

    def test_the_side_that_is_left_out(self, shop: History) -> None:
        skipped = {operator.operator: operator.skipped for operator in plan(shop, JOINED).operators}
        assert skipped["Scan query_explain.c"] == "unchanged, left out"
        assert skipped["Scan query_explain.o"] is None and skipped["Join"] is None

    def test_not_in_says_what_a_null_costs(self, shop: History) -> None:
        rules = {
            o.operator: o.rule for o in plan(shop, "select id from o where cust not in (select id from c)").operators
        }
        assert "all rows at both ends where the right side has a NULL" in rules["SemiJoin"]
        by_key = "select id from o where amt not in (select length(name) from c where c.id = o.cust)"
        rules = {o.operator: o.rule for o in plan(shop, by_key).operators}
        assert rules["SemiJoin"] == "rows under the keys that a change touches, at both ends"

    def test_a_clock(self, shop: History) -> None:
        rules = {
            o.operator: o.rule for o in plan(shop, "select id from o where now() > timestamp'2026-01-01'").operators
        }
        assert rules["Filter"].startswith("tells the time: all of it at both ends")


class TestFallbacks:
    def test_none(self, shop: History) -> None:
        found = plan(shop, JOINED)
        assert (found.fallback, found.fallbacks) == (False, ())
        assert str(found).endswith("\nfallback: none")

    def test_what_and_why(self, shop: History) -> None:
        found = plan(shop, "select * from (select cust, amt from o) pivot (sum(amt) for cust in (1, 2))")
        assert found.fallback and len(found.fallbacks) == 1 and found.fallbacks[0].startswith("PIVOT, at ")
        assert str(found).splitlines()[-1] == f"fallback, computed whole at both ends: {found.fallbacks[0]}"
        assert found.operators[0].rule == "no rule: all of it at both ends, compared"
        assert looked_up(of_table(found, "o")) == tuple(map(size, ends(shop, "o")))


class TestForms:
    def test_sql(self, shop: History) -> None:
        sql = plan(shop, GROUPED).sql
        assert sql is not None and sql.startswith("select * from (") and "group by" in sql
        assert plan(shop, GROUPED, 1, 2).sql is None
        assert plan(shop, "c").sql is None

    def test_json(self, shop: History) -> None:
        found = plan(shop, JOINED)
        told = json.loads(found.to_json())
        assert told == json.loads(json.dumps(found.to_dict()))
        assert told.keys() == {"format", "operators", "tables", "fallbacks", "fallback", "sql", "commits"}
        assert told["sql"] == found.sql and told["fallback"] is False
        assert [table["table"] for table in told["tables"]] == ["query_explain.o", "query_explain.c"]
        assert told["tables"][1]["looked_up_files_at_end"] == len(ends(shop, "c")[1])
        assert told["operators"][0].keys() == {"operator", "rule", "detail", "depth", "skipped"}

    def test_text(self, shop: History) -> None:
        found = plan(shop, JOINED)
        lines = str(found).splitlines()
        assert lines[:2] == ["change query, format min_delta", "base tables:"]
        assert lines[2:4] == [f"  {table}" for table in found.tables]
        assert lines[4] == "operators:" and lines[5].startswith("  Project [id, name]: ")
        assert found.sql is not None and found.sql not in str(found)

    @pytest.mark.parametrize("query", [JOINED, GROUPED, "select id from o where cust not in (select id from c)", "o"])
    @pytest.mark.parametrize("format", ["min_delta", "redo_log"])
    def test_no_job(self, spark: SparkSession, shop: History, query: str, format: str) -> None:
        with jobs_of(spark) as jobs:
            plan(shop, query, format=format)
        assert jobs.count == 0


class TestRedoLog:
    def test_commit_by_commit(self, shop: History) -> None:
        found = plan(shop, GROUPED, format="redo_log")
        first = shop.points[0]["query_explain.o"] + 1
        assert [(commit.table, commit.version) for commit in found.commits] == [
            ("query_explain.o", first),
            ("query_explain.o", first + 1),
        ]
        assert found.sql is None
        for place, commit in enumerate(found.commits):
            (table,) = commit.tables
            assert (table.start, table.end) == (first + place - 1, first + place)
            assert commit.sql is not None and commit.sql.startswith("select * from (")
        assert [commit.tables[0].shape for commit in found.commits] == ["MINIMIZE", "ADDED_ONLY"]

    def test_files_are_those_of_all_commits(self, shop: History) -> None:
        found = plan(shop, "o", format="redo_log")
        (table,) = found.tables
        assert (table.start, table.end) == tuple(point["query_explain.o"] for point in shop.points[:2])
        assert table.files_at_end == sum(commit.tables[0].files_at_end for commit in found.commits) == 2
        assert table.bytes_at_start == sum(commit.tables[0].bytes_at_start for commit in found.commits) > 0

    def test_text_and_json(self, shop: History) -> None:
        found = plan(shop, JOINED, format="redo_log")
        first = shop.points[0]["query_explain.o"] + 1
        lines = str(found).splitlines()
        at = lines.index("commits, one by one:")
        assert lines[at + 1].startswith(
            f"  version {first} of query_explain.o: query_explain.o ({first - 1}, {first}] MINIMIZE"
        )
        assert lines[at + 1].split(" | ")[1].startswith("query_explain.c (")
        assert (
            "EMPTY: 0 files, 0 bytes at the start; 0 files, 0 bytes at the end; looked up at the end: in"
            in lines[at + 1]
        )
        told = json.loads(found.to_json())
        assert [commit["sql"] for commit in told["commits"]] == [commit.sql for commit in found.commits]

    def test_no_commit_that_changes_data(self, shop: History) -> None:
        found = plan(shop, "o", 1, 2, format="redo_log")
        assert (found.commits, found.sql) == ((), None)


class TestRefused:
    @pytest.mark.parametrize("options", [{"mode": "lenient"}, {"format": "full"}])
    def test_unknown_options(self, shop: History, options: dict[str, str]) -> None:
        with pytest.raises(InvalidStreamConfig, match=r"'(lenient|full)' is not known"):
            plan(shop, "o", **options)

    def test_strict(self, shop: History) -> None:
        with pytest.raises(UnsupportedQuery, match="mode strict: there is no rule for a window function without"):
            plan(shop, "select id, sum(amt) over (order by id) s from o", mode="strict")
        assert plan(shop, GROUPED, mode="strict").fallback is False

    def test_append_only_of_what_is_not_monotone(self, shop: History) -> None:
        with pytest.raises(UnsupportedQuery, match=r"format append_only takes queries .* a GROUP BY"):
            plan(shop, GROUPED, format="append_only")
        assert plan(shop, JOINED, format="append_only").sql is not None
