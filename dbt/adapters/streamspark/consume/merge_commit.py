"""The commit of a merge by position: rows hidden, rows written, the consumption's number and metadata, all in one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.functions import col, lit

from dbt.adapters.streamspark.changes.interval import TRACKING
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.sequences import scala_seq
from dbt.adapters.streamspark.consume.merge_queries import ROW_ID
from dbt.adapters.streamspark.consume.plain_columns import is_on
from dbt.adapters.streamspark.consume.target_commit import TargetCommit, count_written, empty_map, scala_map

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


@dataclass(frozen=True)
class Hidden:
    """Delta's actions for rows that are hidden, of which so many are updated and so many deleted."""

    actions: list[Any]
    updated: int
    deleted: int


@dataclass(frozen=True)
class Written:
    """Delta's actions for new files of so many rows."""

    adds: list[Any]
    count: int


def row_ids(log: TableLog) -> bool:
    """Whether the table's rows keep their ids."""
    return is_on(log, TRACKING)


class MergeCommit(TargetCommit):
    """The same of a merge."""

    def write(self, rows: DataFrame) -> Written:
        """`rows` have the table's columns and ROW_ID: those updated and those that are new, a file of each of their
        partitions."""
        adds = self.written(self._with_ids(rows)._jdf)
        return Written(adds, count_written(adds, rows))

    def run(self, hidden: Hidden, files: Written) -> Merged:
        merged = Merged(hidden.updated, hidden.deleted, files.count - hidden.updated)
        self.commit([*files.adds, *hidden.actions], self._operation(), self._tags(), self._metrics(merged))
        return merged

    def _with_ids(self, rows: DataFrame) -> DataFrame:
        """Under the names by which Delta knows the ids; a changed row's version is that of this commit."""
        if not row_ids(self.log):
            return rows.drop(ROW_ID)
        delta = self.log._jvm.org.apache.spark.sql.delta
        ids, versions = (getattr(delta, name) for name in ("RowId$", "RowCommitVersion$"))
        names = self.log.properties
        frame = ids.preserveRowIdsUnsafe(rows._jdf, names[ROW_IDS], col(ROW_ID)._jc, False)
        none = lit(None).cast("bigint")._jc
        frame = versions.preserveRowCommitVersionsUnsafe(frame, names[VERSIONS], none, False)
        return DataFrame(frame, rows.sparkSession).drop(ROW_ID)

    def _operation(self) -> Any:
        """For people who read the history: which clauses there were. No predicate, which would hold keys."""
        merge = self._consumption.merge
        assert merge is not None
        operations, none = self.log._jvm.org.apache.spark.sql.delta.DeltaOperations, self.log._none
        kinds = ["delete" if clause.values is None else "update" for clause in merge.matched]
        matched, added = (
            scala_seq(self.log, [operations.MergePredicate(none, kind) for kind in listed])
            for listed in (kinds, ["insert"])
        )
        return operations.Merge(none, none, none, none, matched, added, scala_seq(self.log, []))

    def _metrics(self, merged: Merged) -> Any:
        jvm, context = self.log._jvm, self.log.spark.sparkContext._jsc.sc()
        found = jvm.java.util.HashMap()
        for name, value in merged.metrics().items():
            metric = getattr(jvm.org.apache.spark.sql.execution.metric, "SQLMetrics$").createMetric(context, name)
            metric.set(value)
            found.put(name, metric)
        return scala_map(self.log, jvm.scala.jdk.javaapi.CollectionConverters.asScala(found))

    def _tags(self) -> Any:
        """That row ids were kept."""
        tracking = getattr(self.log._jvm.org.apache.spark.sql.delta, "RowTracking$")
        return tracking.addPreservedRowTrackingTagIfNotSet(self.log.snapshot(), empty_map(self.log))
