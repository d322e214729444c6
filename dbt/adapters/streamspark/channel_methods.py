"""What the run-operations on channels ask the adapter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from dbt.adapters.base import available
from dbt.adapters.base.meta import AdapterMeta
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.operate.shown import FORMATS, Shown, one_of
from dbt.adapters.streamspark.streams.tables_in import tables_in


class ChannelMethods(metaclass=AdapterMeta):
    """Mixed into the adapter. A text is what the operation prints; `format` is `text` or `json`."""

    def spark(self) -> SparkSession:
        raise NotImplementedError

    def _errors(self, doing: str) -> AbstractContextManager[None]:
        raise NotImplementedError

    @contextmanager
    def _channels(self, doing: str, format: str) -> Iterator[Any]:
        """Ingest needs pyarrow, which dbt runs without channels do not."""
        with self._errors(doing):
            one_of("format", format, FORMATS)
            from dbt.adapters.streamspark.ingest.channel_list import ChannelList

            yield ChannelList(self.spark())

    @available.parse(lambda *args, **kwargs: "")
    def show_channels(self, schema: str, table: str | None, format: str) -> str:
        with self._channels("show_channels", format) as channels:
            return Shown(tables={"channels": channels.show(_tables(self.spark(), schema, table))}).render(format)

    @available.parse(lambda *args, **kwargs: "")
    def describe_channel(self, table: str, channel: str, format: str) -> str:
        with self._channels("describe_channel", format) as channels:
            return Shown(channels.describe(table, channel)).render(format)

    @available.parse(lambda *args, **kwargs: "")
    def drop_channel(self, table: str, channel: str, format: str) -> str:
        with self._channels("drop_channel", format) as channels:
            channels.drop(table, channel)
            return Shown({"table_name": table, "dropped": channel}).render(format)

    @available.parse(lambda *args, **kwargs: "")
    def expire_channels(self, schema: str, table: str | None, format: str) -> str:
        with self._channels("expire_channels", format) as channels:
            return Shown(tables={"expired": channels.expire(_tables(self.spark(), schema, table))}).render(format)


def _tables(spark: SparkSession, schema: str, table: str | None) -> list[str]:
    """The one that is named, else all of the schema."""
    return tables_in(spark, schema) if table is None else [table]
