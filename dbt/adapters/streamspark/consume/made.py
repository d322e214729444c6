"""What a differential target was made from, as its commits keep it: a run compares it with what its model says now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.projection import type_sql
from dbt.adapters.streamspark.changes.query.function_definitions import function_definitions
from dbt.adapters.streamspark.changes.query.lowered import Lowered

# What they are says what an expression gives, and which parts of a query have a rule, so which ids its rows have.
SETTINGS = ("spark.sql.ansi.enabled", "spark.sql.caseSensitive", "spark.sql.session.timeZone")


@dataclass(frozen=True)
class Made:
    """`unique_key` tells its rows apart (empty: their ids do), `columns` are the query's, name and Spark SQL type of
    each, `final` is the predicate for rows that no run changes (empty: none is), and `settings` are the session's on
    which its rows may depend, with the checksums of the functions that the query calls."""

    unique_key: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    final: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, unique_key: Sequence[str], query: Lowered, final: str, spark: SparkSession) -> Made:
        columns = tuple((field.name, type_sql(field.dataType)) for field in query.schema.fields)
        functions = {f"{name}()": told for name, told in function_definitions(spark, query.functions).items()}
        settings = {name: str(spark.conf.get(name)) for name in SETTINGS}
        return cls(tuple(unique_key), columns, final, {**settings, **functions})

    @property
    def keys(self) -> set[str]:
        """In lower case."""
        return {key.lower() for key in self.unique_key}

    def to_dict(self) -> dict[str, Any]:
        columns = [list(column) for column in self.columns]
        made = {"unique_key": list(self.unique_key), "columns": columns, "final": self.final}
        return {**made, "settings": dict(self.settings)}


def made_from(found: Mapping[str, Any]) -> Made:
    columns = tuple((str(name), str(kind)) for name, kind in found["columns"])
    return Made(tuple(map(str, found["unique_key"])), columns, str(found["final"]), dict(found["settings"]))


def other_settings(before: Made, now: Made) -> list[str]:
    """
    >>> other_settings(Made((), (), settings={"a": "1", "b": "2"}), Made((), (), settings={"a": "3", "b": "2"}))
    ['a: 1 -> 3']
    """
    pairs = ((name, before.settings.get(name, value), value) for name, value in now.settings.items())
    return [f"{name}: {old} -> {value}" for name, old, value in pairs if old != value]


def other_columns(before: Made, now: Made) -> dict[str, list[str]]:
    """What of the columns is another now, the order and the case of names apart: `new` ones, those that are `gone`, and
    those of `another type`; only what there is.

    >>> now = Made((), (("ID", "bigint"), ("extra", "int")))
    >>> other_columns(Made((), (("id", "int"), ("n", "int"))), now)
    {'new': ['extra int'], 'gone': ['n int'], 'another type': ['ID int -> bigint']}
    >>> other_columns(now, Made((), (("extra", "int"), ("id", "bigint"))))
    {}
    """
    held = {name.lower(): kind for name, kind in before.columns}
    given = {name.lower(): kind for name, kind in now.columns}
    both = [(name, held[name.lower()], kind) for name, kind in now.columns if name.lower() in held]
    found = {
        "new": [f"{name} {kind}" for name, kind in now.columns if name.lower() not in held],
        "gone": [f"{name} {kind}" for name, kind in before.columns if name.lower() not in given],
        "another type": [f"{name} {old} -> {kind}" for name, old, kind in both if old != kind],
    }
    return {what: names for what, names in found.items() if names}
