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
    """A view's text, the namespace in which its names are looked up, and the names of its columns."""

    text: str
    namespace: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass
class BaseTables:
    """Finds tables and views by name in `spark`'s catalog; a table read twice is one BaseTable."""

    spark: SparkSession
    tables: list[BaseTable] = field(default_factory=list)
    _prefix: str = field(default_factory=lambda: f"__streamspark_{uuid.uuid4().hex[:8]}")

    def view(self, parts: Sequence[str], namespace: Sequence[str]) -> View | None:
        """The view of that name, None when it is none. Raises UnsupportedQuery for one that has no SQL text."""
        if parts[0].lower() == "delta":
            return None
        below = [*namespace, *parts] if len(parts) == 1 and namespace else None
        metadata = catalog_table(self.spark, parts) or (catalog_table(self.spark, below) if below else None)
        if metadata is None or not is_view(metadata):
            return None
        text = metadata.viewText()
        if not text.isDefined():
            raise UnsupportedQuery(
                f"view {'.'.join(parts)} was made from a DataFrame and has no SQL text whose changes could be told. "
                "Write the query out, or make the view with CREATE VIEW."
            )
        return View(str(text.get()), self._namespace(metadata), tuple(metadata.schema().fieldNames()))

    def _namespace(self, metadata: Any) -> tuple[str, ...]:
        names = metadata.viewCatalogAndNamespace()
        found = tuple(str(names.apply(index)) for index in range(names.size()))
        return found[1:] if found[:1] == (SESSION_CATALOG,) else found

    def table(self, parts: Sequence[str], namespace: Sequence[str]) -> BaseTable:
        """The Delta table of that name. Raises InvalidQuery when there is none, or it is none of Delta's."""
        home = namespace or (self.spark.catalog.currentDatabase(),)
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
