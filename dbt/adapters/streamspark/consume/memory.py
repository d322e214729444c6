"""What a target's row keeps of its key's events when its columns do not tell them: JSON, so that it fits any schema."""

from __future__ import annotations

from dbt.adapters.streamspark.consume.scd import Scd
from dbt.adapters.streamspark.literals import literal

# the default formats leave out microseconds, and depend on the session's time zone
OPTIONS = (
    "map('timeZone', 'UTC', 'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS', "
    "'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
)
FIELDS = ("seq", "rank", "closes", "up", "given", "data")
_EARLIER = "struct(l.seq, l.rank) < struct(r.seq, r.rank)"


def written(kept: str = "true") -> str:
    """An aggregate of events (key_events.py): the JSON of those for which `kept` holds, in their order."""
    event = f"named_struct({', '.join(f'{field!r}, {field}' for field in FIELDS)})"
    listed = f"collect_list({event}) filter (where {kept})"
    return f"to_json(array_sort({listed}, (l, r) -> case when {_EARLIER} then -1 else 1 end), {OPTIONS})"


def read(text: str, scd: Scd) -> str:
    """The same as an array of structs; NULL for NULL."""
    order = scd.sequence_type
    event = f"struct<seq:{order},rank:int,closes:{order},up:boolean,given:array<string>,data:{scd.data_type}>"
    return f"from_json({text}, {literal(f'array<{event}>')}, {OPTIONS})"
