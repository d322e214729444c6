"""The three dialects of metadata columns (docs/reference/stream-config.md) over one internal change row.

Internal columns: `__type` (insert, update_preimage, update_postimage, delete), `__version` (commit that made
the change), `__image` (commit that wrote this image of the row), `__row` (row id), `__data` (struct of the columns).
"""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.streamspark.changes.commit_times import Times
from dbt.adapters.streamspark.changes.projection import quoted


@dataclass(frozen=True)
class Dialect:
    """Names of the columns, and for each its SQL over the internal change row; `time(x)` is a commit's time.

    The way back, over the dialect's own columns: `upsert` is the predicate that a row is the new image of a row,
    `change_type` the internal type (what is none of the dialect's comes out as it is), `row_id` the id, if there is
    one."""

    columns: tuple[tuple[str, str], ...]
    upsert: str
    change_type: str
    row_id: str | None = None
    old_times: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)

    def select(self, times: Times) -> list[str]:
        """The select list of the metadata columns."""
        return [f"{_filled(sql, times)} as {quoted(name)}" for name, sql in self.columns]


def _filled(sql: str, times: Times) -> str:
    for column in ("__version", "__image"):
        sql = sql.replace(f"time({column})", times.sql(column))
    return sql


_SINGDATA_TYPES = (
    "case __type when 'insert' then 'INSERT' when 'update_preimage' then 'UPDATE_BEFORE' "
    "when 'update_postimage' then 'UPDATE_AFTER' else 'DELETE' end"
)

DIALECTS: dict[str, Dialect] = {
    "delta": Dialect(
        columns=(
            ("_change_type", "__type"),
            ("_commit_version", "__version"),
            ("_commit_timestamp", "time(__version)"),
            ("_row_id", "__row"),
        ),
        upsert="`_change_type` in ('insert', 'update_postimage')",
        change_type="`_change_type`",
        row_id="`_row_id`",
    ),
    "snowflake": Dialect(
        columns=(
            ("METADATA$ACTION", "if(__type in ('insert', 'update_postimage'), 'INSERT', 'DELETE')"),
            ("METADATA$ISUPDATE", "__type like 'update%'"),
            ("METADATA$ROW_ID", "__row"),
        ),
        upsert="`METADATA$ACTION` = 'INSERT'",
        change_type="case `METADATA$ACTION` when 'INSERT' then if(`METADATA$ISUPDATE`, 'update_postimage', 'insert') "
        "when 'DELETE' then if(`METADATA$ISUPDATE`, 'update_preimage', 'delete') else `METADATA$ACTION` end",
        row_id="`METADATA$ROW_ID`",
    ),
    "singdata": Dialect(
        columns=(
            ("__change_type", _SINGDATA_TYPES),
            ("__commit_version", "__image"),
            ("__commit_timestamp", "time(__image)"),
        ),
        upsert="`__change_type` in ('INSERT', 'UPDATE_AFTER')",
        change_type="case `__change_type` when 'INSERT' then 'insert' when 'UPDATE_BEFORE' then 'update_preimage' when "
        "'UPDATE_AFTER' then 'update_postimage' when 'DELETE' then 'delete' else `__change_type` end",
        old_times=True,
    ),
}
