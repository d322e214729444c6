"""Empty texts in a column that a table is partitioned by: Delta keeps them as NULL, and as a key they match no row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dbt.adapters.streamspark.consume.columns import Column
from dbt.adapters.streamspark.literals import literal

TEXTS = ("string", "varchar", "char")


def without_empty_texts(
    model: str, relation: str, columns: Sequence[Column], partition_by: Iterable[str], unique_key: Iterable[str]
) -> str:
    """`relation` (for FROM), which has these columns, with an error for an empty text in one that is of both."""
    both = {name.lower() for name in partition_by} & {name.lower() for name in unique_key}
    texts = [column for column in columns if column.name.lower() in both and column.type.startswith(TEXTS)]
    if not texts:
        return relation
    values = (_checked(model, column) if column in texts else column.quoted for column in columns)
    return f"(select {', '.join(values)} from {relation})"


def _checked(model: str, column: Column) -> str:
    name = column.quoted
    said = (
        f"{model}: a row has an empty text in {column.name}, by which the table is partitioned and its rows are told "
        f"apart. Delta keeps it as NULL, so the row would not be found again. Select nullif({name}, '') as {name}, or "
        "leave the column out of partition_by."
    )
    return f"if({name} = '', raise_error({literal(said)}), {name}) as {name}"
