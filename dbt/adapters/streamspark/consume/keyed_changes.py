"""A query's changes by the keys of a target's rows, put together once: MERGE reads its source three times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.streamspark.changes.bag_changes import TYPE, bag_changes
from dbt.adapters.streamspark.changes.change_query import QueryInterval
from dbt.adapters.streamspark.changes.changes import check_columns
from dbt.adapters.streamspark.changes.differentiate.views import Views
from dbt.adapters.streamspark.changes.formats import min_delta
from dbt.adapters.streamspark.changes.metadata_columns import DIALECTS
from dbt.adapters.streamspark.consume.apply_changes import KEY, OLD, ROW, UPSERT, ApplyChanges
from dbt.adapters.streamspark.consume.columns import Column, columns_of
from dbt.adapters.streamspark.consume.empty_texts import without_empty_texts
from dbt.adapters.streamspark.consume.merge import Merge
from dbt.adapters.streamspark.consume.unique_rows import unique_rows
from dbt.adapters.streamspark.errors import InvalidQuery
from dbt.adapters.streamspark.literals import literal

ROW_ID = "__row_id"
NEW = f"{UPSERT} and {OLD} is null"
DIALECT = DIALECTS["delta"]


@dataclass(frozen=True)
class KeyedChanges:
    """`model` is for messages. Without a `unique_key` rows are told apart by their ids, which the target then keeps in
    a column of its own, ROW_ID. `partition_by` is the target's."""

    model: str
    unique_key: tuple[str, ...]
    partition_by: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return self.unique_key or (ROW_ID,)

    def __call__(self, interval: QueryInterval) -> DataFrame:
        """The columns of ApplyChanges.one_row_per_key, and the keys. Without a start of the interval the rows that
        there are at the end. Raises InvalidQuery where the query has columns of the metadata columns' names."""
        return self._changed(self._rows(interval), interval.start is None)

    def led_over(self, rows: DataFrame) -> DataFrame:
        """The same of change rows, with all metadata columns, that lead from another query's rows to the rows of this
        one: by the `unique_key`, since the two queries' row ids have nothing in common."""
        assert self.unique_key
        return self._changed(rows.drop(*(name for name in DIALECT.names if name != TYPE)), new=False)

    def _changed(self, rows: DataFrame, new: bool) -> DataFrame:
        spark = rows.sparkSession
        with Views(spark) as views:
            view = views.add(rows)
            columns = columns_of(spark.table(view).schema)
            source = without_empty_texts(self.model, view, columns, self.partition_by, self.unique_key)
            changes = ApplyChanges(self.model, source, columns, self.keys)
            if new:
                return spark.sql(changes.new_rows())
            return spark.sql(f"select *, {KEY}.* from {changes.changed_keys()}")

    def _rows(self, interval: QueryInterval) -> DataFrame:
        """Without times: those of all commits would have to be read for rows that nobody asks when they came."""
        check_columns(interval, DIALECT)
        self._check_names(interval.lowered.schema.names)
        by_values = bag_changes(interval, self.unique_key) if self.unique_key else None
        return self._by_ids(interval) if by_values is None else by_values

    def _check_names(self, names: Sequence[str]) -> None:
        own = ("__sign",) if self.unique_key else ("__sign", ROW_ID)
        taken = [name for name in names if name.lower() in own]
        if taken:
            raise InvalidQuery(
                f"{self.model}: the query has a column {', '.join(taken)}, which is what a column of its target or of "
                "its changes is called. Give it another name."
            )

    def _by_ids(self, interval: QueryInterval) -> DataFrame:
        ((_, rows),) = min_delta(interval)
        row_id = () if self.unique_key else (f"__row as {ROW_ID}",)
        return rows.selectExpr("__data.*", f"__type as {TYPE}", *row_id)

    def all_rows(self, sql: str) -> str:
        """The SELECT of a new target's rows from those of an interval without a start: ids are unique; that keys are
        has to be seen."""
        return unique_rows(self.model, sql, self.unique_key) if self.unique_key else sql

    def no_rows(self, sql: str) -> str:
        """The same from the rows of an interval in which nothing happened."""
        return f"select {ROW}.* from ({sql})"

    def merge(
        self,
        rows: str,
        columns: Sequence[Column],
        target: str,
        its: Sequence[Column],
        within: str,
        spared: Callable[[str], str],
    ) -> Merge:
        """The MERGE of the relation `rows`, which has these columns and the rows of an interval, into `target`.
        `within` and `spared` as in ApplyChanges.merged."""
        data = (*_data(columns), *(Column(name, "string") for name in DIALECT.names))
        changes = ApplyChanges(self.model, rows, data, self.keys, from_target=True)
        return changes.merged(target, its, rows, within, spared)

    def are_new(self, spark: SparkSession, sql: str) -> bool:
        """Whether the rows of `sql`, those of an interval, are rows that the target cannot have: new ones, told apart
        by their ids. A unique_key might be there already, which only MERGE sees."""
        return not self.unique_key and spark.sql(f"select 1 from ({sql}) where not ({NEW}) limit 1").isEmpty()

    def append(
        self, rows: str, columns: Sequence[Column], target: str, its: Sequence[Column], spared: Callable[[str], str]
    ) -> str:
        """The INSERT of the relation `rows`, which must all be new: a run that is planned again may find others."""
        here = {column.name.lower() for column in its}
        names = [column.quoted for column in _data(columns) if column.name.lower() in here]
        other = f"{self.model}: another run came first, and rows have changed since. Run the model again."
        return (
            f"insert into {target} ({', '.join(names)})\nselect {', '.join(f's.{ROW}.{name}' for name in names)}\n"
            f"from {rows} as s where if({NEW}, true, raise_error({literal(other)})){spared(f's.{ROW}')}"
        )


def _data(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns of a changed row."""
    row = next(column.data_type for column in columns if column.name == ROW)
    assert isinstance(row, StructType)
    return columns_of(row)
