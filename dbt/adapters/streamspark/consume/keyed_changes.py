"""A query's changes by the keys of a target's rows, put together once: MERGE reads its source three times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from dbt.adapters.streamspark.changes.change_query import QueryInterval
from dbt.adapters.streamspark.changes.changes import read_changes
from dbt.adapters.streamspark.changes.differentiate.views import Views
from dbt.adapters.streamspark.changes.metadata_columns import DIALECTS
from dbt.adapters.streamspark.consume.apply_changes import KEY, ROW, UPSERT, ApplyChanges
from dbt.adapters.streamspark.consume.columns import Column, columns_of

ROW_ID = "__row_id"
DIALECT = DIALECTS["delta"]


@dataclass(frozen=True)
class KeyedChanges:
    """`model` is for messages. Without a `unique_key` rows are told apart by their ids, which the target then keeps in
    a column of its own, ROW_ID."""

    model: str
    unique_key: tuple[str, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        return self.unique_key or (ROW_ID,)

    def __call__(self, interval: QueryInterval) -> DataFrame:
        """The columns of ApplyChanges.one_row_per_key, and the keys. Without a start of the interval, a row for each
        that there is at the end. Raises what read_changes raises."""
        spark = interval.query.spark
        with Views(spark) as views:
            rows = views.add(self._with_ids(read_changes(interval)))
            changes = ApplyChanges(self.model, rows, columns_of(spark.table(rows).schema), self.keys)
            return spark.sql(f"select *, {KEY}.* from {self._per_key(changes, interval.start is None)}")

    def _with_ids(self, changes: DataFrame) -> DataFrame:
        return changes if self.unique_key else changes.withColumn(ROW_ID, changes["_row_id"])

    def _per_key(self, changes: ApplyChanges, all_new: bool) -> str:
        if all_new:  # ids are unique; that keys are has to be seen
            return changes.one_row_per_key() if self.unique_key else changes.inserted()
        return changes.changed_keys()

    def all_rows(self, sql: str) -> str:
        """The SELECT of a new target's rows from the rows of an interval without a start."""
        return f"select {ROW}.* from ({sql}) where {UPSERT}"

    def merge(
        self,
        rows: str,
        columns: Sequence[Column],
        target: str,
        its: Sequence[Column],
        within: str,
        spared: Callable[[str], str],
    ) -> str:
        """The MERGE of the relation `rows`, which has these columns and the rows of an interval, into `target`.
        `within` and `spared` as in ApplyChanges.merge."""
        row = next(column.data_type for column in columns if column.name == ROW)
        assert isinstance(row, StructType)
        data = (*columns_of(row), *(Column(name, "string") for name in DIALECT.names))
        changes = ApplyChanges(self.model, rows, data, self.keys, from_target=True)
        return changes.merge(target, its, within, rows, spared)
