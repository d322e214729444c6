"""A name in the catalog: table, view or stream, with the catalog's name in front where one is given."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.base.relation import Policy
from dbt.adapters.spark.relation import SparkQuotePolicy, SparkRelation
from dbt.adapters.utils import classproperty
from dbt_common.dataclass_schema import StrEnum

IS_VIEW = re.compile(r"^Type: VIEW$", re.MULTILINE)
IS_STREAM = re.compile(r"^Table Properties: \[(.*, )?streamspark\.kind=stream[,\]]", re.MULTILINE)


class StreamsparkRelationType(StrEnum):
    """dbt's relation types and `stream`."""

    Table = "table"
    View = "view"
    CTE = "cte"
    MaterializedView = "materialized_view"
    Ephemeral = "ephemeral"
    External = "external"
    PointerTable = "pointer_table"
    Function = "function"
    Stream = "stream"


@dataclass
class StreamsparkIncludePolicy(Policy):
    database: bool = True
    schema: bool = True
    identifier: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class StreamsparkRelation(SparkRelation):
    """`schema.name`, or `catalog.schema.name` when `database` holds a catalog other than Spark's own."""

    type: StreamsparkRelationType | None = None  # type: ignore[assignment]
    quote_policy: Policy = field(default_factory=lambda: SparkQuotePolicy())
    include_policy: Policy = field(default_factory=lambda: StreamsparkIncludePolicy())

    def __post_init__(self) -> None:
        """dbt-spark refuses a database here; ours is a catalog and allowed."""

    def render(self) -> str:
        return ".".join(part for _, part in self._render_iterator() if part is not None)

    @classproperty
    def get_relation_type(cls) -> Any:
        return StreamsparkRelationType

    @classproperty
    def Stream(cls) -> str:
        return str(StreamsparkRelationType.Stream)


def relation_type(information: str) -> StreamsparkRelationType:
    """The type of a relation by the text that `show table extended` gives about it."""
    if not IS_VIEW.search(information):
        return StreamsparkRelationType.Table
    if IS_STREAM.search(information):
        return StreamsparkRelationType.Stream
    return StreamsparkRelationType.View
