"""The Delta tables that a query reads once its views are expanded."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.catalog_table import catalog_table, is_view
from dbt.adapters.streamspark.changes.log import SESSION_CATALOG, TableLog
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.changes.query.view_confs import check_view_confs
from dbt.adapters.streamspark.changes.sequences import items
from dbt.adapters.streamspark.errors import BrokenSource, InvalidQuery, UnsupportedQuery


@dataclass(eq=False)
class BaseTable:
    """A Delta table, and the `token` that stands for it in SQL until its version is known."""

    log: TableLog
    token: str

    @property
    def name(self) -> str:
        return self.log.name


@dataclass(frozen=True)
class View:
    """A view's name and text, the namespace in which its names are looked up, and the names of its columns.

    `selected` is what its text called them when it was made, empty where that may change. `temporary`: the temporary
    views that it was made of.
    """

    name: str
    text: str
    namespace: tuple[str, ...]
    columns: tuple[str, ...]
    selected: tuple[str, ...] = ()
    temporary: frozenset[str] = frozenset()


@dataclass
class BaseTables:
    """Finds tables and views by name in `spark`'s catalog; a table read twice is one BaseTable."""

    spark: SparkSession
    tables: list[BaseTable] = field(default_factory=list)
    _prefix: str = field(default_factory=lambda: f"__streamspark_{uuid.uuid4().hex[:8]}")

    def view(self, parts: Sequence[str], inside: View | None) -> View | None:
        """The view of that name, None when it is none; `inside` is the one whose text names it. Raises UnsupportedQuery
        for one that has no SQL text, or is made with other confs than the session's, by which it is another query."""
        if parts[0].lower() == "delta":
            return None
        metadata = self._metadata(parts, inside)
        if metadata is None or not is_view(metadata):
            return None
        text = metadata.viewText()
        if not text.isDefined():
            raise UnsupportedQuery(
                f"view {'.'.join(parts)} was made from a DataFrame and has no SQL text whose changes could be told. "
                "Write the query out, or make the view with CREATE VIEW."
            )
        check_view_confs(self.spark, metadata)
        return self._of(metadata, str(text.get()))

    def _metadata(self, parts: Sequence[str], inside: View | None) -> Any | None:
        """To a view an unqualified name is one of its own schema, whatever the session knows under that name; a
        temporary view is one that it was made of."""
        if inside is None or len(parts) > 1 or parts[0].lower() in inside.temporary:
            return catalog_table(self.spark, parts)
        return catalog_table(self.spark, [*inside.namespace, *parts])

    def _of(self, metadata: Any, text: str) -> View:
        temporary = frozenset(str(name.last()).lower() for name in items(metadata.viewReferredTempViewNames()))
        selected = tuple(map(str, items(metadata.viewQueryColumnNames())))
        name = str(metadata.identifier().unquotedString())
        return View(name, text, self._namespace(metadata), tuple(metadata.schema().fieldNames()), selected, temporary)

    def _namespace(self, metadata: Any) -> tuple[str, ...]:
        found = tuple(map(str, items(metadata.viewCatalogAndNamespace())))
        return found[1:] if found[:1] == (SESSION_CATALOG,) else found

    def table(self, parts: Sequence[str], inside: View | None) -> BaseTable:
        """The Delta table of that name, which the text of the view `inside` names. Raises InvalidQuery when there is
        none, or it is none of Delta's."""
        home = (inside.namespace if inside else ()) or (self.spark.catalog.currentDatabase(),)
        log = self._log([*home, *parts] if len(parts) == 1 else list(parts))
        for known in self.tables:
            if known.log.path == log.path:
                return known
        self.tables.append(BaseTable(log, f"{self._prefix}_{len(self.tables)}__"))
        return self.tables[-1]

    def _log(self, parts: Sequence[str]) -> TableLog:
        name = _name(parts)
        try:
            return TableLog(self.spark, name)
        except BrokenSource as error:
            if "does not exist" in str(error):
                raise InvalidQuery(f"table or view {name} does not exist") from error
            raise InvalidQuery(
                f"{name} is no Delta table: change queries read the log that only Delta keeps"
            ) from error


def _name(parts: Sequence[str]) -> str:
    if len(parts) == 2 and parts[0].lower() == "delta":
        return f"delta.`{parts[1]}`"
    return ".".join(part if part.replace("_", "a").isalnum() else quoted(part) for part in parts)
