"""What operations decide without Spark: which removed files are needed, how answers look, which names are near."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import cast

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.log import Action, Commit
from dbt.adapters.streamspark.errors import BrokenSource, InvalidArgument, MissingSource
from dbt.adapters.streamspark.operate.consumer_state import ConsumerState
from dbt.adapters.streamspark.operate.project import Project, ProjectModel
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.operate.shown import Shown, one_of
from dbt.adapters.streamspark.streams.freshness import first_removal, needed_removed

NOW = datetime(2026, 11, 22, 12, 30, tzinfo=timezone.utc)


def add(path: str, vector: str | None = None) -> Action:
    found = {"storageType": "u", "pathOrInlineDv": vector} if vector else None
    return {"path": path, "dataChange": True, "deletionVector": found}


def remove(path: str, at: int = 1, vector: str | None = None) -> Action:
    return {**add(path, vector), "deletionTimestamp": at}


COMMITS = [
    Commit(1, NOW, adds=[add("came"), add("went")]),
    Commit(2, NOW, removes=[remove("old", 20), remove("went", 10)]),
    Commit(
        3, NOW, adds=[add("marked", "v"), add("again", "w")], removes=[remove("marked", 5), remove("again", 30, "v")]
    ),
]


def test_net_changes_need_what_was_there_at_the_start() -> None:
    """Of a file that is there still, its vector."""
    needed = needed_removed(COMMITS, "standard")
    assert sorted(action["path"] for action in needed) == ["again", "old"]
    first = first_removal(needed)
    assert first is not None and first["path"] == "old"


@pytest.mark.parametrize("mode", ["append_only", "insert_only"])
def test_inserts_need_what_came_since(mode: str) -> None:
    assert [action["path"] for action in needed_removed(COMMITS, mode)] == ["went"]


def test_inserts_need_what_compaction_replaced() -> None:
    compacted = Commit(
        2, NOW, adds=[{**add("big"), "dataChange": False}], removes=[{**remove("came"), "dataChange": False}]
    )
    assert [action["path"] for action in needed_removed([COMMITS[0], compacted], "append_only")] == ["came"]


def test_nothing_removed_is_nothing_needed() -> None:
    assert first_removal(needed_removed(COMMITS[:1], "standard")) is None


def test_an_answer_is_the_same_as_text_and_as_json() -> None:
    shown = Shown(
        {"name": "s", "stale": False, "at": NOW, "none": None, "keys": []},
        {"rows": [{"a": 1, "b": ["x", "y"]}], "empty": []},
    )
    data = json.loads(shown.render("json"))
    assert data == {
        "name": "s", "stale": False, "at": "2026-11-22T12:30:00.000+00:00", "none": None, "keys": [],
        "rows": [{"a": 1, "b": ["x", "y"]}], "empty": [],
    }  # fmt: skip
    lines = shown.render("text").splitlines()
    assert lines[0].split() == ["name", "value"]
    assert "  at     2026-11-22 12:30:00" in lines
    assert lines[-8:] == ["", "rows:", "  a  b", "  -  ----", "  1  x, y", "", "empty:", "  none"]


def test_a_wrong_value_names_what_is_allowed() -> None:
    with pytest.raises(
        InvalidArgument, match=r"format = 'jason' is not allowed. Allowed: text, json. Did you mean json\?"
    ):
        one_of("format", "jason", ["text", "json"])


def test_a_model_goes_by_its_name_and_by_its_tables() -> None:
    stream = ProjectModel("model.p.s", "s", "db.s_alias", "stream")
    reader = ProjectModel("model.p.r", "r", "other.r", "incremental", reads=("model.p.s",))
    project = Project("db", (stream, reader))
    assert project.named("s") == project.named("DB.s_alias") == stream
    assert project.named("s_alias") is None
    assert project.readers("db.s_alias") == [reader]
    assert project.schemas == ["db", "other"]


def test_a_name_alone_is_the_latest_version() -> None:
    one = ProjectModel("model.p.s.v1", "s", "db.s_v1", "stream", version="1", is_latest=False)
    two = ProjectModel("model.p.s.v2", "s", "db.latest", "stream", version="2")
    project = Project("db", (one, two))
    assert {project.named(name) for name in ("s", "S_v2", "s.v2", "p.s", "p.s.v2", "db.latest")} == {two}
    assert {project.named(name) for name in ("s_v1", "S.V1", "p.s_v1", "db.s_v1")} == {one}
    assert project.named("s.v3") is None


def test_a_name_in_two_packages_needs_its_package() -> None:
    ours, theirs = (ProjectModel(f"model.{package}.s", "s", f"{package}_db.s", "stream") for package in ("p", "q"))
    project = Project("db", (ours, theirs))
    with pytest.raises(InvalidArgument, match=r"model.p.s \(p_db.s\) and model.q.s \(q_db.s\). Say which"):
        project.named("s")
    assert (project.named("p.s"), project.named("q.s"), project.named("q_db.s")) == (ours, theirs, theirs)


def test_a_table_is_no_models_by_its_package_and_name() -> None:
    project = Project("db", (ProjectModel("model.shop.s", "s", "db.s", "stream"),))
    assert project.stored_as("shop.s") is None and project.readers("shop.s") == []


class Refusing(Scope):
    """A scope whose tables cannot be read."""

    def consumers_in(self, table: str) -> list[ConsumerState]:
        raise BrokenSource("denied") if table == "db.denied" else MissingSource("gone")


def test_a_table_that_cannot_be_read_is_a_consumer_with_a_problem() -> None:
    model = ProjectModel("model.p.denied", "denied", "db.denied", "incremental", "streamspark/model.p.denied")
    scope = Refusing(cast(SparkSession, None), Project("db", (model,)))
    assert scope._states("db.denied") == [ConsumerState("streamspark/model.p.denied", "db.denied", None, "denied")]
    nobody = Refusing(cast(SparkSession, None), Project("db", ()))
    assert nobody._states("db.denied") == [ConsumerState("", "db.denied", None, "denied")]


def test_a_table_whose_files_are_gone_is_no_consumer() -> None:
    assert Refusing(cast(SparkSession, None), Project("db", ()))._states("db.gone") == []
