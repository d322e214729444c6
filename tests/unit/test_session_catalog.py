"""What docs show, from the rows of DESCRIBE EXTENDED."""

from __future__ import annotations

from dbt.adapters.streamspark.catalog import catalog_rows, catalog_table, describe
from dbt.adapters.streamspark.relation import StreamsparkRelation

ROWS = [
    ("id", "int", "the key"),
    ("day", "date", None),
    ("# Partition Information", "", ""),
    ("# col_name", "data_type", "comment"),
    ("day", "date", None),
    ("", "", ""),
    ("# Detailed Table Information", "", ""),
    ("Comment", "a table", ""),
    ("Statistics", "100 bytes, 7 rows", ""),
    ("Owner", "me", ""),
]
RELATION = StreamsparkRelation.create(schema="s", identifier="t", type="table")


def test_columns_end_at_the_first_heading() -> None:
    assert describe(ROWS).columns == [("id", "int", "the key"), ("day", "date", None)]


def test_catalog_rows_hold_comments_owner_and_size() -> None:
    first, second = catalog_rows(RELATION, describe(ROWS))
    assert (first["column_name"], first["column_comment"], second["column_comment"]) == ("id", "the key", None)
    assert (first["table_comment"], first["table_owner"], first["table_type"]) == ("a table", "me", "table")
    assert first["stats:rows:value"] == 7


def test_one_relation_alone() -> None:
    table = catalog_table(RELATION, describe(ROWS))
    assert table.metadata.comment == "a table"
    assert table.columns["day"].index == 2
    assert table.stats["bytes"].value == 100


def test_a_relation_without_details() -> None:
    assert describe([("a", "int", None)]).details == {}
