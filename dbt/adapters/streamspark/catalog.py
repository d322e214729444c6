"""What `dbt docs` shows of a relation, from one DESCRIBE EXTENDED: columns with comments, owner, size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dbt.adapters.base import BaseRelation
from dbt.adapters.spark.column import SparkColumn
from dbt_common.contracts.metadata import CatalogTable, ColumnMetadata, StatsItem, TableMetadata

DETAILS = "# Detailed Table Information"


@dataclass(frozen=True)
class Description:
    """`columns` as (name, type, comment); `details` by name, such as Owner, Comment, Statistics."""

    columns: list[tuple[str, str, str | None]]
    details: dict[str, str]


def describe(rows: Iterable[Sequence[Any]]) -> Description:
    """The rows of DESCRIBE EXTENDED: columns up to the first heading, details after theirs."""
    columns: list[tuple[str, str, str | None]] = []
    details: dict[str, str] | None = None
    in_columns = True
    for name, value, comment in rows:
        if name == DETAILS:
            details = {}
        elif details is not None:
            details.setdefault(name, value)
        elif not name or name.startswith("# "):
            in_columns = False
        elif in_columns:
            columns.append((name, value, comment or None))
    return Description(columns, details or {})


def catalog_rows(relation: BaseRelation, described: Description) -> Iterator[dict[str, Any]]:
    """One row of dbt's catalog for each column."""
    stats = SparkColumn.convert_table_stats(described.details.get("Statistics"))
    for index, (name, kind, comment) in enumerate(described.columns, start=1):
        yield {
            "table_database": relation.database,
            "table_schema": relation.schema,
            "table_name": relation.identifier,
            "table_type": str(relation.type),
            "table_comment": described.details.get("Comment"),
            "table_owner": described.details.get("Owner"),
            "column_name": name,
            "column_index": index,
            "column_type": kind,
            "column_comment": comment,
            **stats,
        }


def catalog_table(relation: BaseRelation, described: Description) -> CatalogTable:
    """The same for one relation, as dbt asks for when it wants one only."""
    columns = {
        name: ColumnMetadata(type=kind, index=index, name=name, comment=comment)
        for index, (name, kind, comment) in enumerate(described.columns, start=1)
    }
    return CatalogTable(metadata=_metadata(relation, described.details), columns=columns, stats=_stats(described))


def _metadata(relation: BaseRelation, details: dict[str, str]) -> TableMetadata:
    return TableMetadata(
        type=str(relation.type),
        schema=str(relation.schema),
        name=str(relation.identifier),
        database=relation.database,
        comment=details.get("Comment"),
        owner=details.get("Owner"),
    )


def _stats(described: Description) -> dict[str, StatsItem]:
    text = described.details.get("Statistics")
    flat = SparkColumn.convert_table_stats(text)
    names = [key.split(":")[1] for key in flat if key.endswith(":value")]
    return {name: StatsItem(id=name, label=name, value=flat[f"stats:{name}:value"], include=True) for name in names}
