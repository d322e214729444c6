"""Ids of rows that no table gives an id: texts that are equal just where the values are."""

from __future__ import annotations

from collections.abc import Sequence

# the default formats of JSON leave out microseconds, and depend on the session's time zone
_OPTIONS = (
    "map('timeZone', 'UTC', 'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS', "
    "'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
)


def identity(expressions: Sequence[str]) -> str:
    """SQL of a short text for a tuple of values (not maps, which have no order: see `comparable`)."""
    fields = ", ".join(f"'{place}', {expression}" for place, expression in enumerate(expressions))
    return f"md5(to_json(named_struct({fields}), {_OPTIONS}))"
