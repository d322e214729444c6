"""Times and dates as the texts and numbers that a sender may write them in (document 004, data types)."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone, tzinfo

# an integer counts seconds, milliseconds, microseconds or nanoseconds, whichever gives a year before 2969
_UNITS = ((31_536_000_000, 1_000_000), (31_536_000_000_000, 1_000), (31_536_000_000_000_000, 1))
_INTEGER = re.compile(r"[+-]?\d+")
_FRACTION = re.compile(r"(\.\d{6})\d+")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def read_instant(value: datetime | date | str, zone: tzinfo) -> datetime:
    """A moment with a time zone; `zone` is that of texts and values that name none. Digits beyond microseconds go.

    Raises ValueError for a text that is no time.

    >>> str(read_instant("2013-04-28T20:57:01.123456789+07:00", timezone.utc))
    '2013-04-28 20:57:01.123456+07:00'
    >>> str(read_instant("1367182621000", timezone.utc))
    '2013-04-28 20:57:01+00:00'
    """
    found = read_wall_time(value, zone)
    return found if found.tzinfo else found.replace(tzinfo=zone)


def read_wall_time(value: datetime | date | str, zone: tzinfo) -> datetime:
    """The same, with the time zone that was written, if any; a count since 1970 is in `zone`."""
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    return _from_count(int(value)).astimezone(zone) if _INTEGER.fullmatch(value.strip()) else _from_iso(value.strip())


def _from_count(count: int) -> datetime:
    for limit, microseconds in _UNITS:
        if abs(count) < limit:
            return _EPOCH + timedelta(microseconds=count * microseconds)
    return _EPOCH + timedelta(microseconds=count // 1000)


def _from_iso(text: str) -> datetime:
    """Python before 3.11 reads neither a Z nor other than 3 or 6 digits of a second."""
    plain = _FRACTION.sub(r"\1", text.replace("Z", "+00:00").replace("z", "+00:00"))
    match = re.search(r"\.(\d{1,5})(?!\d)", plain)
    if match:
        plain = plain.replace(match.group(), f".{match.group(1).ljust(6, '0')}", 1)
    return datetime.fromisoformat(plain)
