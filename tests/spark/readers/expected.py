"""The changes that a model of the table says there were, in plain Python: the oracle of the property tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from pyspark.sql import Row as SparkRow

from tests.spark.readers.table_program import Version

Change = tuple[str, str, str]

COMPACTIONS = ("optimize", "purge")


def min_delta(start: Version, end: Version) -> Counter[Change]:
    """(type, row id, values) of every change, the values in the end's columns."""
    before = {row: in_columns(values, start, end) for row, (_, values) in start.rows.items()}
    after = {row: in_columns(values, end, end) for row, (_, values) in end.rows.items()}
    changes: Counter[Change] = Counter()
    for row in before.keys() | after.keys():
        changes.update(_of_row(str(row), before.get(row), after.get(row)))
    return changes


def min_delta_by_key(start: Version, end: Version) -> Counter[Change]:
    """The same paired by the column `id`; the row id is left out."""
    before = {values["id"]: in_columns(values, start, end) for _, values in start.rows.values()}
    after = {values["id"]: in_columns(values, end, end) for _, values in end.rows.values()}
    changes: Counter[Change] = Counter()
    for key in before.keys() | after.keys():
        changes.update(_of_row("", before.get(key), after.get(key)))
    return changes


def appended(versions: list[Version], start: int, end: int) -> Counter[Change]:
    """Rows of (start, end] whose id no earlier version had, as they were in the first that had them."""
    seen = {row for version in versions[: start + 1] for row in version.rows}
    changes: Counter[Change] = Counter()
    for version in versions[start + 1 : end + 1]:
        for row in version.rows.keys() - seen:
            changes[("insert", str(row), in_columns(version.rows[row][1], version, versions[end]))] += 1
        seen |= version.rows.keys()
    return changes


def arrived(versions: list[Version], start: int, end: int) -> Counter[Change]:
    """The rows of the files that statements of (start, end] brought and none took away, as they were on arrival.
    Compaction moves rows to other files: it brings nothing and takes nothing away. Row ids are left out."""
    since: dict[str, int] = {}
    for number in range(start + 1, end + 1):
        if versions[number].operation in COMPACTIONS:
            continue
        before, now = set(versions[number - 1].files.values()), set(versions[number].files.values())
        since = {file: version for file, version in since.items() if file not in before - now}
        since |= dict.fromkeys(now - before, number)
    changes: Counter[Change] = Counter()
    for file, number in since.items():
        then = versions[number]
        rows = [values for row, (_, values) in then.rows.items() if then.files[row] == file]
        changes.update(("insert", "", in_columns(values, then, versions[end])) for values in rows)
    return changes


def in_columns(values: dict[str, Any], then: Version, end: Version) -> str:
    by_identity = {identity: values[name] for name, identity in then.columns.items()}
    return shown({name: by_identity.get(identity) for name, identity in end.columns.items()})


def shown(values: dict[str, Any]) -> str:
    """A row as text: NaN equals NaN there, and every type compares."""
    return repr(sorted((name, _plain(value)) for name, value in values.items()))


def _plain(value: Any) -> Any:
    if isinstance(value, SparkRow):
        return {name: _plain(v) for name, v in value.asDict().items()}
    if isinstance(value, dict):
        return sorted(value.items())
    return bytes(value) if isinstance(value, bytearray) else value


def _of_row(row: str, old: str | None, new: str | None) -> Iterable[Change]:
    if old == new:
        return []
    if old is None:
        return [("insert", row, str(new))]
    if new is None:
        return [("delete", row, old)]
    return [("update_preimage", row, old), ("update_postimage", row, new)]
