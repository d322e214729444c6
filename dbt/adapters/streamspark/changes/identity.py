"""Ids of rows that no table gives an id: texts that are equal just where the values are."""

from __future__ import annotations

from collections.abc import Sequence

# By default JSON leaves out microseconds and fields that are NULL, of which two may have one name, and depends on the
# session's time zone.
_OPTIONS = (
    "map('ignoreNullFields', 'false', 'timeZone', 'UTC', 'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS', "
    "'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
)
_GARBLED = "\ufffd"  # stands in JSON for any bytes of a text that are no UTF-8


def identity(expressions: Sequence[str]) -> str:
    """SQL of a short text for a tuple of values (not maps, which have no order: see `comparable`). JSON tells all but
    texts that are no UTF-8, whose bytes a cast leaves as they are; Spark makes the JSON once."""
    fields = ", ".join(f"'{place}', {expression}" for place, expression in enumerate(expressions))
    values = f"named_struct({fields})"
    json = f"to_json({values}, {_OPTIONS})"
    return f"if(contains({json}, '{_GARBLED}'), md5(concat({json}, cast({values} as string))), md5({json}))"
