"""The version that belongs to a row's file, for the rows of many files read at once."""

from __future__ import annotations

import json
from collections.abc import Mapping

from dbt.adapters.streamspark.changes.plain_path import plain_path
from dbt.adapters.streamspark.literals import literal

NAME = "_metadata.file_name"


def file_versions(table_uri: str, versions: Mapping[str, int]) -> str:
    """SQL of the version that `versions` gives for the row's file; `versions` is by paths as the log writes them.

    A file is told by its bare name, which is short. CONVERT TO DELTA keeps the files of other writers, which have one
    name in many partitions: they are told by their paths.

    >>> print(file_versions("file:/t", {"a.parquet": 3, "b.parquet": 4}))
    element_at(from_json('{"a.parquet": 3, "b.parquet": 4}', 'map<string,bigint>'), _metadata.file_name)
    >>> file_versions("file:/t", {"p=0/a.parquet": 3, "p=1/a.parquet": 3})
    '3L'
    """
    if len(set(versions.values())) < 2:
        return f"{next(iter(versions.values()), 0)}L"
    if _by_name_alone(versions):
        return _looked_up({path.rsplit("/", 1)[-1]: version for path, version in versions.items()}, NAME)
    return _looked_up({plain_path(path): version for path, version in versions.items()}, path_in_table(table_uri))


def path_in_table(table_uri: str) -> str:
    """SQL of a file's path as the log writes it: in the table's directory or, of a clone, anywhere."""
    return plain_path_sql(f"replace(_metadata.file_path, {literal(table_uri + '/')}, '')")


def plain_path_sql(path: str) -> str:
    """`plain_path` in SQL."""
    return f"regexp_replace({path}, '^file:/*', '/')"


def _by_name_alone(versions: Mapping[str, int]) -> bool:
    told = {(path.rsplit("/", 1)[-1], version) for path, version in versions.items()}
    return len(told) == len({name for name, _ in told})


def _looked_up(versions: Mapping[str, int], key: str) -> str:
    return f"element_at(from_json({literal(json.dumps(versions))}, 'map<string,bigint>'), {key})"
