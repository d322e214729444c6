"""The commit of a merge by position: rows hidden, rows written, the consumption's number and metadata, all in one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.functions import col, lit

from dbt.adapters.streamspark.changes.interval import TRACKING
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.sequences import as_java, scala_seq
from dbt.adapters.streamspark.consume.consumption import Consumption
from dbt.adapters.streamspark.consume.merge_queries import ROW_ID

ROW_IDS = "delta.rowTracking.materializedRowIdColumnName"
VERSIONS = "delta.rowTracking.materializedRowCommitVersionColumnName"


@dataclass(frozen=True)
class Merged:
    """Numbers of rows."""

    updated: int
    deleted: int
    inserted: int

    @property
    def affected(self) -> int:
        return self.updated + self.deleted + self.inserted

    def answer(self) -> dict[str, int]:
        """As MERGE answers."""
        return {
            "num_affected_rows": self.affected,
            "num_updated_rows": self.updated,
            "num_deleted_rows": self.deleted,
            "num_inserted_rows": self.inserted,
        }

    def metrics(self) -> dict[str, int]:
        """As MERGE writes them into its commit; of the source, only rows that had an effect are counted."""
        return {
            "operationNumSourceRows": self.affected,
            "numTargetRowsUpdated": self.updated,
            "numTargetRowsDeleted": self.deleted,
            "numTargetRowsInserted": self.inserted,
            "numTargetRowsCopied": 0,
        }


def row_ids(log: TableLog) -> bool:
    """Whether the table's rows keep their ids."""
    return log.properties.get(TRACKING, "").lower() == "true"


class MergeCommit:
    """A transaction on the snapshot that `log` holds. It has read the whole table: whatever another writer does to rows
    that are there, it fails with Delta's own conflict."""

    def __init__(self, log: TableLog, consumption: Consumption):
        assert consumption.merge is not None
        self.merge = consumption.merge
        self._log, self._consumption = log, consumption
        self._transaction = log.transaction()
        self._transaction.readWholeTable()

    def is_taken(self) -> bool:
        """Whether the table has the consumption's number already. It had not when the cursor was resolved; what came
        since is in the log, of which Delta would compute the whole state. Who takes the number now is a conflict."""
        consumer, seen = self._consumption.consumer, self._consumption.seen
        assert seen is not None  # what is merged into is there
        self._transaction.readTxn().addOne(consumer)
        since = self._log.commits(seen, self._log.version)
        return any(commit.txns.get(consumer, 0) >= self._consumption.n for commit in since)

    @property
    def id(self) -> str:
        """Commit.identity."""
        return str(self._transaction.txnId())

    def run(self, updated: int, deleted: int, rows: DataFrame, hidden: list[Any]) -> Merged:
        """`rows` have the table's columns and ROW_ID: those `updated` and those that are new. `hidden` are the actions
        for what they replace, and for what is deleted."""
        written = self._written(rows)
        merged = Merged(updated, deleted, _count(written, rows) - updated)
        actions = scala_seq(self._log, [self._number(), *written, *hidden])
        self._transaction.registerSQLMetrics(self._log._jspark, self._metrics(merged))
        self._transaction.commit(actions, self._operation(), self._tags())
        self._refresh_cache()
        return merged

    def _written(self, rows: DataFrame) -> list[Any]:
        """The adds of the files; Delta leaves out one without rows."""
        return list(as_java(self._log, self._transaction.writeFiles(self._with_ids(rows).coalesce(1)._jdf)))

    def _with_ids(self, rows: DataFrame) -> DataFrame:
        """Under the names by which Delta knows the ids; a changed row's version is that of this commit."""
        if not row_ids(self._log):
            return rows.drop(ROW_ID)
        delta = self._log._jvm.org.apache.spark.sql.delta
        ids, versions = (getattr(delta, name) for name in ("RowId$", "RowCommitVersion$"))
        names = self._log.properties
        frame = ids.preserveRowIdsUnsafe(rows._jdf, names[ROW_IDS], col(ROW_ID)._jc, False)
        none = lit(None).cast("bigint")._jc
        frame = versions.preserveRowCommitVersionsUnsafe(frame, names[VERSIONS], none, False)
        return DataFrame(frame, rows.sparkSession).drop(ROW_ID)

    def _number(self) -> Any:
        jvm, now = self._log._jvm, self._log._jvm.java.lang.System.currentTimeMillis()
        number = jvm.org.apache.spark.sql.delta.actions.SetTransaction
        return number(self._consumption.consumer, self._consumption.n, jvm.scala.Option.apply(now))

    def _operation(self) -> Any:
        """For people who read the history: which clauses there were. No predicate, which would hold keys."""
        operations, none = self._log._jvm.org.apache.spark.sql.delta.DeltaOperations, self._log._none
        kinds = ["delete" if clause.values is None else "update" for clause in self.merge.matched]
        matched, added = (
            scala_seq(self._log, [operations.MergePredicate(none, kind) for kind in listed])
            for listed in (kinds, ["insert"])
        )
        return operations.Merge(none, none, none, none, matched, added, scala_seq(self._log, []))

    def _metrics(self, merged: Merged) -> Any:
        jvm, context = self._log._jvm, self._log.spark.sparkContext._jsc.sc()
        found = jvm.java.util.HashMap()
        for name, value in merged.metrics().items():
            metric = getattr(jvm.org.apache.spark.sql.execution.metric, "SQLMetrics$").createMetric(context, name)
            metric.set(value)
            found.put(name, metric)
        return self._as_map(jvm.scala.jdk.javaapi.CollectionConverters.asScala(found))

    def _tags(self) -> Any:
        """That row ids were kept."""
        tracking = getattr(self._log._jvm.org.apache.spark.sql.delta, "RowTracking$")
        return tracking.addPreservedRowTrackingTagIfNotSet(self._log.snapshot(), self._as_map(scala_seq(self._log, [])))

    def _as_map(self, pairs: Any) -> Any:
        return getattr(getattr(self._log._jvm.scala.collection.immutable, "Map$"), "from")(pairs)

    def _refresh_cache(self) -> None:
        """As Delta's statements do for a table that the session has cached."""
        catalog, target = self._log.spark.catalog, self._consumption.target
        if not target.startswith("delta.`") and catalog.isCached(target):
            catalog.refreshTable(target)


def _count(files: list[Any], rows: DataFrame) -> int:
    """How many rows the files hold, which were written of `rows`: their statistics tell, unless Delta collects none."""
    counts = [file.numPhysicalRecords() for file in files]
    if all(count.isDefined() for count in counts):
        return sum(int(count.get()) for count in counts)
    return rows.count()
