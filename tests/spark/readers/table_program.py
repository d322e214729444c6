"""Random tables and random statements on them, with every version remembered: what the readers are checked against.

The model knows nothing of the log: it keeps, per version, the rows (by row id) that a plain time-travel SELECT
returned, the file that each was in, which column is which across renames, and the statement that made the version.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

COLUMNS = {
    "k": ("string", "if(id % 5 = 0, null, concat('k', id % 7))"),
    "v": ("double", "case id % 4 when 0 then cast('NaN' as double) when 1 then null else id / 3 end"),
    "d": ("decimal(20,4)", "cast(id as decimal(20,4)) / 7"),
    "a": ("array<int>", "if(id % 6 = 0, null, array(id, null, 3))"),
    "m": ("map<string,int>", "if(id % 3 = 0, null, map('x', id, 'y', null))"),
    "s": ("struct<x:int,y:string>", "named_struct('x', id, 'y', if(id % 2 = 0, null, 'y'))"),
    "b": ("binary", "cast(concat('b', id) as binary)"),
    "t": ("timestamp", "timestamp'2026-01-01 00:00:00' + make_interval(0, 0, 0, id)"),
    "n": ("timestamp_ntz", "timestamp_ntz'2026-01-01 00:00:00.123456'"),
    "odd `name": ("string", "'o'"),
}

Row = tuple[str, ...]


@dataclass
class Version:
    """One version: `columns` is name -> identity (kept across renames), `rows` is row id -> (version, values),
    `files` row id -> file, `operation` what made the version (out of OPERATIONS, or "create")."""

    columns: dict[str, str]
    rows: dict[int, tuple[int, dict[str, Any]]]
    files: dict[int, str]
    operation: str


@dataclass
class TableProgram:
    """A table under test. `columns` are names out of COLUMNS; `properties` Delta's."""

    spark: SparkSession
    name: str
    columns: tuple[str, ...]
    properties: dict[str, str]
    partitioned: bool
    identity: dict[str, str] = field(default_factory=dict)
    versions: list[Version] = field(default_factory=list)
    next_id: int = 0
    added: int = 0

    def create(self) -> None:
        self.identity = {name: name for name in ("id", "p", *self.columns)}
        types = ", ".join(f"{_q(c)} {COLUMNS[c][0]}" for c in self.columns)
        properties = ", ".join(
            f"'{k}' = '{v}'" for k, v in {"delta.enableRowTracking": "true", **self.properties}.items()
        )
        self.run(f"drop table if exists {self.name}")
        partition = "partitioned by (p)" if self.partitioned else ""
        schema = f"id int, p int{', ' + types if types else ''}"
        self.run(f"create table {self.name} ({schema}) using delta {partition} tblproperties ({properties})")
        self.remember("create")

    def run(self, statement: str) -> None:
        self.spark.sql(statement).collect()

    def newest(self) -> int:
        return int(self.spark.sql(f"describe history {self.name} limit 1").first()["version"])

    def remember(self, operation: str) -> None:
        """Reads every version not yet seen."""
        for version in range(len(self.versions), self.newest() + 1):
            frame = self.spark.sql(
                "select _metadata.row_id, _metadata.row_commit_version, _metadata.file_name, * "
                f"from {self.name} version as of {version}"
            )
            found = frame.collect()
            rows = {r[0]: (r[1], dict(zip(frame.columns[3:], r[3:], strict=True))) for r in found}
            names = {n: i for n, i in self.identity.items() if n in frame.columns}
            self.versions.append(Version(names, rows, {r[0]: r[2] for r in found}, operation))

    def step(self, operation: str, number: int) -> None:
        OPERATIONS[operation](self, number)
        self.remember(operation)

    def select_rows(self, ids: str) -> str:
        """SQL of new rows for an SQL relation of ids."""
        made = {c: COLUMNS[c][1] for c in self.columns if self.identity.get(c) == c}
        columns = [("id", "cast(id as int)"), ("p", "cast(id % 3 as int)"), *made.items()]
        others = [c for c in self.identity if c not in dict(columns)]
        listed = ", ".join([f"{sql} as {_q(c)}" for c, sql in columns] + [f"null as {_q(c)}" for c in others])
        return f"select {listed} from (select cast(id as int) as id from {ids})"

    def fresh(self, count: int) -> str:
        start, self.next_id = self.next_id, self.next_id + count
        return f"range({start}, {start + count})"

    def column_list(self) -> str:
        order = ["id", "p", *[c for c in self.columns if self.identity.get(c) == c]]
        return ", ".join(_q(c) for c in [*order, *[c for c in self.identity if c not in order]])


def _q(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _insert(t: TableProgram, n: int) -> None:
    t.run(f"insert into {t.name} ({t.column_list()}) {t.select_rows(t.fresh(2 + n % 6))}")


def _update(t: TableProgram, n: int) -> None:
    t.run(f"update {t.name} set p = p + 1 where id % 4 = {n % 4}")


def _update_null(t: TableProgram, n: int) -> None:
    column = next((c for c in t.columns if t.identity.get(c) == c), None)
    if column:
        t.run(f"update {t.name} set {_q(column)} = null where id % 3 = {n % 3}")


def _no_op_update(t: TableProgram, n: int) -> None:
    t.run(f"update {t.name} set p = p where id % 2 = {n % 2}")


def _delete(t: TableProgram, n: int) -> None:
    t.run(f"delete from {t.name} where id % 5 = {n % 5}")


def _delete_partition(t: TableProgram, n: int) -> None:
    t.run(f"delete from {t.name} where p = {n % 3}")


def _truncate(t: TableProgram, n: int) -> None:
    t.run(f"truncate table {t.name}")


def _merge(t: TableProgram, n: int) -> None:
    source = t.select_rows(f"(select id from range({max(0, t.next_id - 3)}, {t.next_id + 2}))")
    t.next_id += 2
    t.run(
        f"merge into {t.name} t using ({source}) s on t.id = s.id when matched and s.id % 3 = {n % 3} then delete "
        "when matched then update set p = s.p + 7 when not matched then insert *"
    )


def _optimize(t: TableProgram, n: int) -> None:
    t.run(f"optimize {t.name}" + (" zorder by (id)" if n % 2 else ""))


def _purge(t: TableProgram, n: int) -> None:
    t.run(f"reorg table {t.name} apply (purge)")


def _overwrite(t: TableProgram, n: int) -> None:
    t.run(f"insert overwrite {t.name} ({t.column_list()}) {t.select_rows(t.fresh(1 + n % 4))}")


def _replace_where(t: TableProgram, n: int) -> None:
    columns = ", ".join(_q(c) for c in t.spark.table(t.name).columns)
    t.run(f"insert into {t.name} replace where p = 1 select {columns} from {t.name} where p = 1 and id % 2 = {n % 2}")


def _delete_and_reinsert(t: TableProgram, n: int) -> None:
    rows = t.spark.sql(f"select {t.column_list()} from {t.name} where id % 3 = {n % 3}")
    kept = t.spark.createDataFrame(rows.collect(), rows.schema)
    kept.createOrReplaceTempView("kept_rows")
    t.run(f"delete from {t.name} where id % 3 = {n % 3}")
    t.run(f"insert into {t.name} ({t.column_list()}) select * from kept_rows")


def _replace_table(t: TableProgram, n: int) -> None:
    partition = "partitioned by (p)" if t.partitioned else ""
    properties = ", ".join(f"'{k}' = '{v}'" for k, v in {"delta.enableRowTracking": "true", **t.properties}.items())
    t.run(
        f"create or replace table {t.name} using delta {partition} tblproperties ({properties}) as "
        f"select {t.column_list()} from {t.name} where id % 6 <> {n % 6}"
    )


def _restore(t: TableProgram, n: int) -> None:
    """To a version of the same columns: Delta takes the schema back too, which the model does not follow."""
    same = [v for v, known in enumerate(t.versions) if known.columns == t.versions[-1].columns]
    t.run(f"restore table {t.name} to version as of {same[n % len(same)]}")


def _add_column(t: TableProgram, n: int) -> None:
    t.added += 1
    name = f"new{t.added}"
    t.run(f"alter table {t.name} add column ({name} string)")
    t.identity[name] = f"{name}@{len(t.versions)}"
    t.run(f"update {t.name} set {name} = 'n' where id % 4 = {n % 4}")


def _rename_column(t: TableProgram, n: int) -> None:
    if "delta.columnMapping.mode" not in t.properties:
        return
    t.added += 1
    old = sorted(c for c in t.identity if c not in ("id", "p"))
    if old:
        name = old[n % len(old)]
        t.run(f"alter table {t.name} rename column {_q(name)} to ren{t.added}")
        t.identity[f"ren{t.added}"] = t.identity.pop(name)


def _drop_column(t: TableProgram, n: int) -> None:
    if "delta.columnMapping.mode" not in t.properties:
        return
    old = sorted(c for c in t.identity if c not in ("id", "p"))
    if old:
        name = old[n % len(old)]
        t.run(f"alter table {t.name} drop column {_q(name)}")
        t.identity.pop(name)


def _widen(t: TableProgram, n: int) -> None:
    if not t.partitioned and t.properties.get("delta.enableTypeWidening") == "true":
        t.run(f"alter table {t.name} alter column p type bigint")


def _comment(t: TableProgram, n: int) -> None:
    t.run(f"alter table {t.name} set tblproperties ('note' = '{n}')")


OPERATIONS: dict[str, Callable[[TableProgram, int], None]] = {
    "insert": _insert,
    "update": _update,
    "update_null": _update_null,
    "no_op_update": _no_op_update,
    "delete": _delete,
    "delete_partition": _delete_partition,
    "truncate": _truncate,
    "merge": _merge,
    "optimize": _optimize,
    "purge": _purge,
    "overwrite": _overwrite,
    "replace_where": _replace_where,
    "delete_and_reinsert": _delete_and_reinsert,
    "replace_table": _replace_table,
    "restore": _restore,
    "add_column": _add_column,
    "rename_column": _rename_column,
    "drop_column": _drop_column,
    "widen": _widen,
    "comment": _comment,
}
