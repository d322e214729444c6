"""A consumption's commit through a transaction of Delta that is begun here: its number goes with what is written."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.sequences import as_java, scala_seq
from dbt.adapters.streamspark.consume.consumption import Consumption


class TargetCommit:
    """A transaction on the snapshot that `log` holds. It has read the whole table: whatever another writer does to rows
    that are there, it fails with Delta's own conflict. The session has the consumption's confs."""

    def __init__(self, log: TableLog, consumption: Consumption):
        self.log, self._consumption = log, consumption
        self._transaction = log.transaction()
        self._transaction.readWholeTable()

    def is_taken(self) -> bool:
        """Whether the table has the consumption's number already. It had not when the cursor was resolved; what came
        since is in the log, of which Delta would compute the whole state. Who takes the number now is a conflict."""
        consumer, seen = self._consumption.consumer, self._consumption.seen
        assert seen is not None  # what is written into is there
        self._transaction.readTxn().addOne(consumer)
        since = self.log.commits(seen, self.log.version)
        return any(commit.txns.get(consumer, 0) >= self._consumption.n for commit in since)

    @property
    def id(self) -> str:
        """Commit.identity."""
        return str(self._transaction.txnId())

    def written(self, rows: Any) -> list[Any]:
        """The adds of the files of `rows`, a DataFrame of Java; Delta leaves out one without rows."""
        return list(as_java(self.log, self._transaction.writeFiles(rows)))

    def commit(self, actions: list[Any], operation: Any, tags: Any = None, metrics: Any = None) -> None:
        """`tags` and `metrics` (maps of Scala): what the commit is to tell beside what Delta says itself."""
        if metrics is not None:
            self._transaction.registerSQLMetrics(self.log._jspark, metrics)
        told = empty_map(self.log) if tags is None else tags
        self._transaction.commit(scala_seq(self.log, [self._number(), *actions]), operation, told)
        self._refresh_cache()

    def _number(self) -> Any:
        jvm, now = self.log._jvm, self.log._jvm.java.lang.System.currentTimeMillis()
        number = jvm.org.apache.spark.sql.delta.actions.SetTransaction
        return number(self._consumption.consumer, self._consumption.n, jvm.scala.Option.apply(now))

    def _refresh_cache(self) -> None:
        """As Delta's statements do for a table that the session has cached."""
        catalog, target = self.log.spark.catalog, self._consumption.target
        if not target.startswith("delta.`") and catalog.isCached(target):
            catalog.refreshTable(target)


def empty_map(log: TableLog) -> Any:
    """Scala's immutable Map."""
    return scala_map(log, scala_seq(log, []))


def scala_map(log: TableLog, pairs: Any) -> Any:
    """The same of pairs that Scala can iterate over."""
    return getattr(getattr(log._jvm.scala.collection.immutable, "Map$"), "from")(pairs)


def count_written(files: list[Any], rows: DataFrame) -> int:
    """How many rows the files hold, which were written of `rows`: their statistics tell, unless Delta collects none."""
    counts = [file.numPhysicalRecords() for file in files]
    if all(count.isDefined() for count in counts):
        return sum(int(count.get()) for count in counts)
    return rows.count()
