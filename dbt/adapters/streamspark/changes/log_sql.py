"""The transaction log as plain SQL, for views: no driver code can run there, but Spark reads the log's files."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.file_versions import plain_path_sql
from dbt.adapters.streamspark.changes.projection import quoted

_COMMIT = "rlike '^[0-9]{20}[.]json$'"


def commit_times_sql(log_path: str) -> str:
    """A subquery of (v, t): every commit still in the log with the time its file was written."""
    name = "element_at(split(path, '/'), -1)"
    version = f"cast(left({name}, 20) as bigint)"
    files = f"binaryFile.{quoted(log_path + '/*.json')}"
    return f"(select {version} as v, modificationTime as t from {files} where {name} {_COMMIT})"


def file_actions_sql(log_path: str, action: str, after: int) -> str:
    """A subquery of (v, file, path, data_change, vector): the file actions of kind `action` (add, remove) committed
    after version `after`; `file` is the file's bare name, `path` its plain path, `vector` its deletion vector's JSON
    or NULL."""
    path = f"get_json_object(value, '$.{action}.path')"
    fields = ", ".join(
        (
            "cast(left(_metadata.file_name, 20) as bigint) as v",
            f"element_at(split({path}, '/'), -1) as file",
            f"{plain_path_sql(path)} as path",
            f"get_json_object(value, '$.{action}.dataChange') = 'true' as data_change",
            f"get_json_object(value, '$.{action}.deletionVector') as vector",
        )
    )
    lines = f"text.{quoted(log_path + '/*.json')}"
    wanted = f"_metadata.file_name {_COMMIT} and value like '{{\"{action}\"%'"
    return f"(select * from (select {fields} from {lines} where {wanted}) where v > {after})"


def lookup_sql(key: str, value: str, relation: str, needle: str) -> str:
    """The value that `relation` holds for `needle` (keys unique), NULL where there is none."""
    return f"element_at((select map_from_entries(collect_list(struct({key}, {value}))) from {relation}), {needle})"
