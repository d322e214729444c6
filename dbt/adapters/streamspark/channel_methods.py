"""What the run-operations on channels ask the adapter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from dbt.adapters.base import available
from dbt.adapters.base.meta import AdapterMeta
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.errors import InvalidQuery


class ChannelMethods(metaclass=AdapterMeta):
    """Mixed into the adapter. A text is what the operation prints; `format` is `text` or `json`."""

    def spark(self) -> SparkSession:
        raise NotImplementedError

    def _errors(self, doing: str) -> AbstractContextManager[None]:
        raise NotImplementedError

    @contextmanager
    def _channels(self, doing: str) -> Iterator[Any]:
        """Ingest needs pyarrow, which dbt runs without channels do not."""
        with self._errors(doing):
            from dbt.adapters.streamspark.ingest.channel_list import ChannelList

            yield ChannelList(self.spark())

    @available.parse(lambda *args, **kwargs: "")
    def show_channels(self, schema: str, table: str | None, format: str) -> str:
        with self._channels("show_channels") as channels:
            return _written(channels.show(_tables(self.spark(), schema, table)), format)

    @available.parse(lambda *args, **kwargs: "")
    def describe_channel(self, table: str, channel: str, format: str) -> str:
        with self._channels("describe_channel") as channels:
            row = channels.describe(table, channel)
            pairs = [{"property": key, "value": value} for key, value in row.items()]
            return _written(pairs if format == "text" else [row], format)

    @available.parse(lambda *args, **kwargs: "")
    def drop_channel(self, table: str, channel: str, format: str) -> str:
        with self._channels("drop_channel") as channels:
            channels.drop(table, channel)
            return _written([{"table_name": table, "name": channel}], format)

    @available.parse(lambda *args, **kwargs: "")
    def expire_channels(self, schema: str, table: str | None, format: str) -> str:
        with self._channels("expire_channels") as channels:
            return _written(channels.expire(_tables(self.spark(), schema, table)), format)


def _tables(spark: SparkSession, schema: str, table: str | None) -> list[str]:
    """The one that is named, else all of the schema."""
    if table is not None:
        return [table]
    listed = spark.catalog.listTables(schema)
    return [f"{schema}.{one.name}" for one in listed if one.tableType not in ("TEMPORARY", "VIEW")]


def _written(rows: list[dict[str, Any]], format: str) -> str:
    from dbt.adapters.streamspark.ingest.channel_list import as_json, as_table

    if format not in ("text", "json"):
        raise InvalidQuery(f"format is {format!r}: it is 'text' or 'json'")
    return as_json(rows) if format == "json" else as_table(rows)
