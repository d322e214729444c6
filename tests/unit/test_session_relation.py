"""Names and types of relations."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dbt.adapters.streamspark.relation import StreamsparkRelation, relation_type

VIEW = "Database: s\nTable: v\nType: VIEW\nTable Properties: [a=b]\n"


@pytest.mark.parametrize(
    ("information", "kind"),
    [
        ("Type: MANAGED\nProvider: delta\n", "table"),
        (VIEW, "view"),
        (VIEW.replace("a=b", "streamspark.kind=stream, streamspark.mode=standard"), "stream"),
    ],
)
def test_the_type_is_read_from_show_table_extended(information: str, kind: str) -> None:
    assert relation_type(information) == kind


def test_a_stream_is_a_relation_type() -> None:
    made = StreamsparkRelation.create(schema="s", identifier="orders_stream", type="stream")
    assert made.type == "stream" and not made.is_view and not made.is_table
    assert StreamsparkRelation.Stream == "stream"


def test_two_part_names_without_a_catalog() -> None:
    assert StreamsparkRelation.create(schema="s", identifier="t").render() == "s.t"


def test_three_part_names_with_a_catalog() -> None:
    made = StreamsparkRelation.create(database="lake", schema="s", identifier="t")
    assert made.render() == "lake.s.t"
    assert made.without_identifier().render() == "lake.s"


def test_changes_need_no_dbt() -> None:
    code = (
        "import sys, dbt.adapters.streamspark.session, dbt.adapters.streamspark.launch\n"
        "assert not [m for m in sys.modules if m.startswith(('dbt_common', 'dbt.adapters.base'))]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
