"""What a stream is: kept in the properties of its view, and nowhere else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any
from uuid import uuid4

from dbt.adapters.streamspark.changes.frontier import Frontier, TableVersion
from dbt.adapters.streamspark.errors import BrokenSource
from dbt.adapters.streamspark.streams.base_query import BaseQuery, parse_base_query
from dbt.adapters.streamspark.streams.config import FAIL, StreamConfig

PREFIX = "streamspark."
KIND = f"{PREFIX}kind"
DEFINITION = f"{PREFIX}definition"
FORMAT = 1
PART_LENGTH = 3500  # a metastore may cut a property's value at 4,000 characters


@dataclass(frozen=True)
class StreamDefinition:
    """`start` is the offset at which the stream was made, with an entry for each base table. `query` is the text of
    its BaseQuery or, of a stream that is `on_query`, a stored text (stored_query.py). `start_point` says how `start`
    was asked for ("now", "at version 3"). `strict`: no fallbacks; of changes models alone, which store no definition.
    """

    query: str
    start: Frontier
    mode: str = "standard"
    show_initial_rows: bool = False
    unique_key: tuple[str, ...] = ()
    metadata_columns: str = "delta"
    start_point: str = "now"
    id: str = ""
    created_on: str = ""
    on_query: bool = False
    strict: bool = False
    on_stale: str = FAIL

    @property
    def base_table(self) -> TableVersion:
        return self.start.tables[0]

    @property
    def position(self) -> str:
        """Where the stream starts, in words."""
        return ", ".join(f"version {table.version} of {table.name}" for table in self.start.tables)

    @property
    def base_query(self) -> BaseQuery:
        return parse_base_query(self.query)

    @property
    def fingerprint(self) -> str:
        """Equal for streams that give the same rows from the same offset on."""
        query = self.query if self.on_query else replace(self.base_query, table="").text
        parts = [query, self.mode, self.show_initial_rows, [k.lower() for k in self.unique_key]]
        text = json.dumps([*parts, self.metadata_columns])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        return {
            "v": FORMAT,
            "id": self.id,
            "created_on": self.created_on,
            "query": self.query,
            "mode": self.mode,
            "show_initial_rows": self.show_initial_rows,
            "unique_key": list(self.unique_key),
            "metadata_columns": self.metadata_columns,
            "start_point": self.start_point,
            "start": self.start.to_dict(),
            **({"on_query": True} if self.on_query else {}),
            **({"on_stale": self.on_stale} if self.on_stale != FAIL else {}),
        }

    def to_properties(self) -> dict[str, str]:
        """The view's TBLPROPERTIES: the definition as JSON, in parts where it is long, and what people look for."""
        readable = {
            "id": self.id,
            "mode": self.mode,
            "base_table": ", ".join(table.name for table in self.start.tables),
            "start_version": ", ".join(str(table.version) for table in self.start.tables),
            "start_timestamp": self.start.timestamp.isoformat(),
            "show_initial_rows": str(self.show_initial_rows).lower(),
            "metadata_columns": self.metadata_columns,
            "fingerprint": self.fingerprint,
            "created_on": self.created_on,
        }
        if self.unique_key:
            readable["unique_key"] = json.dumps(list(self.unique_key))
        text = json.dumps(self.to_dict(), sort_keys=True)
        parts = [text[i : i + PART_LENGTH] for i in range(0, len(text), PART_LENGTH)]
        definition = {DEFINITION if i == 0 else f"{DEFINITION}.{i}": part for i, part in enumerate(parts)}
        return {KIND: "stream", **definition, **{f"{PREFIX}{key}": value for key, value in readable.items()}}


def new_definition(config: StreamConfig, query: BaseQuery | str, start: Frontier) -> StreamDefinition:
    """A new stream's definition, with an id of its own; `query` is a stored text where it is on a query."""
    return StreamDefinition(
        query=query if isinstance(query, str) else query.text,
        on_query=isinstance(query, str),
        start=start,
        mode=config.mode,
        show_initial_rows=config.show_initial_rows,
        unique_key=config.unique_key,
        metadata_columns=config.metadata_columns,
        on_stale=config.on_stale,
        start_point=str(config.start),
        id=uuid4().hex,
        created_on=datetime.now(timezone.utc).isoformat(timespec="seconds"),
    )


def altered(definition: StreamDefinition, config: StreamConfig, query: BaseQuery | str) -> StreamDefinition:
    """The same stream, id and offset, under another configuration and query."""
    return replace(
        new_definition(config, query, definition.start),
        id=definition.id,
        created_on=definition.created_on,
        start_point=definition.start_point,
    )


def differences(old: StreamDefinition, new: StreamDefinition) -> dict[str, tuple[Any, Any]]:
    """Name -> (old value, new value) of what differs, the offset and how it was asked for left aside; of a stream on
    a query without the query, whose text alone does not tell."""
    before, after = _comparable(old), _comparable(new)
    return {key: (before[key], after[key]) for key in before if key in after and before[key] != after[key]}


def _comparable(definition: StreamDefinition) -> dict[str, Any]:
    on_table = {} if definition.on_query else {"query": _query_alone(definition)}
    return {
        **on_table,
        "mode": definition.mode,
        "show_initial_rows": definition.show_initial_rows,
        "unique_key": [name.lower() for name in definition.unique_key],
        "metadata_columns": definition.metadata_columns,
    }


def _query_alone(definition: StreamDefinition) -> str:
    return replace(definition.base_query, table="").text.replace(" from ", "").strip()


def from_properties(properties: Mapping[str, str], name: str) -> StreamDefinition | None:
    """The definition of the view called `name`, None when it is no stream. Raises BrokenSource when the
    definition is damaged or of a later release."""
    if properties.get(KIND) != "stream":
        return None
    text = _joined(properties)
    try:
        data = json.loads(text)
        if data.pop("v") != FORMAT:
            raise BrokenSource(f"stream {name} was made by a later release: upgrade dbt-streamspark to read it.")
        start = Frontier.from_dict(data.pop("start"))
        return StreamDefinition(start=start, unique_key=tuple(data.pop("unique_key")), **data)
    except (ValueError, KeyError, TypeError) as error:
        raise BrokenSource(
            f"stream {name}: its definition in the view's properties is damaged ({error}). Make it again with "
            "--full-refresh."
        ) from error


def _joined(properties: Mapping[str, str]) -> str:
    parts = [properties.get(DEFINITION, "")]
    while (key := f"{DEFINITION}.{len(parts)}") in properties:
        parts.append(properties[key])
    return "".join(parts)
