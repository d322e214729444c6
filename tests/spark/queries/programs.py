"""Random tables, and rounds of random statements on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from tests.spark.queries.history import TRACKED, History, copied

TYPES = (
    *("int", "string", "decimal(10,2)", "date", "double", "boolean", "array<int>", "struct<a:int,b:string>"),
    *("timestamp", "timestamp_ntz", "binary"),
)
# Few values each, so that rows meet; doubles are such that sums of them are exact in any order.
VALUES: Mapping[str, tuple[str, ...]] = {
    "int": ("0", "1", "2", "3", "4", "-1"),
    "string": ("''", "'a'", "'b'", "'B'", "'it''s'", "'ü'", "'null'"),
    "decimal(10,2)": ("0.00BD", "1.50BD", "-2.25BD", "3.00BD"),
    "date": ("date'2026-01-01'", "date'2026-01-02'", "date'1999-12-31'"),
    "timestamp": (
        "timestamp'2026-01-01 00:00:00'",
        "timestamp'2026-01-01 00:00:00.000001'",
        "timestamp'1950-06-01 23:59:59'",
    ),
    "timestamp_ntz": ("timestamp_ntz'2026-01-01 00:00:00'", "timestamp_ntz'2026-01-01 00:00:00.000001'"),
    "binary": ("X''", "X'00'", "X'6100ff'"),
    "double": ("double('NaN')", "-0.0D", "0.0D", "0.25D", "2.5D", "-4.0D"),
    "boolean": ("true", "false"),
    "array<int>": ("array()", "array(1)", "array(1, null, 1)", "array(2, 3)"),
    "struct<a:int,b:string>": (
        "named_struct('a', 1, 'b', 'x')",
        "named_struct('a', 1, 'b', null)",
        "named_struct('a', 2, 'b', 'x')",
    ),
}


@dataclass(frozen=True)
class Table:
    name: str
    columns: Mapping[str, str]  # name -> type
    partitioned: bool = False

    @property
    def listed(self) -> str:
        """Its columns, without those that a statement has added since."""
        return ", ".join(self.columns)

    @property
    def declared(self) -> str:
        return ", ".join(f"{name} {data_type}" for name, data_type in self.columns.items())


def literal(rng: Random, data_type: str, nulls: float = 0.2) -> str:
    value = "null" if rng.random() < nulls else rng.choice(VALUES[data_type])
    return f"cast({value} as {data_type})"


def tables(rng: Random) -> list[Table]:
    """Two to four, each with an int `id` that is unique where nothing was inserted twice, and a key `k`."""
    made = []
    for number in range(rng.randint(2, 4)):
        others = rng.sample(TYPES, rng.randint(1, 4))
        columns = {"id": "int", "k": "int", **{f"{name[0]}{place}": name for place, name in enumerate(others)}}
        made.append(Table(f"t{number}", columns, rng.random() < 0.25))
    return made


def view(rng: Random, tables: list[Table]) -> tuple[Table, str]:
    """A view, and the query that it is over."""
    one, other = rng.choice(tables).name, rng.choice(tables).name
    query = rng.choice(
        (
            f"select id, k, upper('v') as w from {one} where k is null or k < 3",
            f"select k as id, cast(count(*) as int) as k, cast(max(id) as string) as w from {one} group by k",
            f"select a.id, b.k, cast(b.id as string) as w from {one} a left join {other} b on a.k = b.k",
            f"select id, k, 'x' as w from {one} union all select id, k, null from {other}",
        )
    )
    return Table("v0", {"id": "int", "k": "int", "w": "string"}), query


@dataclass
class Program:
    """`statements` is what was run, for the report of a failure; `tables` are what can be queried, `written` those
    that statements write."""

    history: History
    rng: Random
    tables: list[Table]
    next_id: int = 0

    def __post_init__(self) -> None:
        self.statements: list[str] = []
        self.written = list(self.tables)

    def create(self) -> None:
        for table in self.written:
            properties = TRACKED.format(vectors=str(self.rng.random() < 0.7).lower())
            partitions = " partitioned by (k)" if table.partitioned else ""
            self.run(f"create table {table.name} ({table.declared}) {properties}{partitions}")
            self.history.tables.append(table.name)
            if self.rng.random() < 0.9:
                self.run(f"insert into {table.name} {self.rows(table, self.rng.randint(3, 9))}")
        made, query = view(self.rng, self.written)
        self.history.view(made.name, query)
        self.statements.append(f"create view {made.name} as {query}")
        self.tables.append(made)

    def run(self, *statements: str) -> None:
        self.statements.extend(statements)
        self.history.run(*statements)

    def rows(self, table: Table, count: int) -> str:
        return f"values {', '.join(self.row(table) for _ in range(count))}"

    def row(self, table: Table) -> str:
        self.next_id += 1
        made = [literal(self.rng, data_type) for name, data_type in table.columns.items() if name != "id"]
        return f"({', '.join((str(self.next_id), *made))})"

    def round(self) -> None:
        """Some tables stay as they are."""
        for table in self.written:
            for _ in range(self.rng.choice((0, 1, 1, 2, 3))):
                OPERATIONS[self.rng.choice(tuple(OPERATIONS))](self, table)
        self.history.mark()

    def some(self) -> str:
        """A predicate that takes about a third of the rows."""
        return self.rng.choice((f"id % 3 = {self.rng.randint(0, 2)}", f"k = {self.rng.randint(0, 4)}", "k is null"))


def _insert(p: Program, t: Table) -> None:
    p.run(f"insert into {t.name} ({t.listed}) {p.rows(t, p.rng.randint(1, 3))}")


def _insert_again(p: Program, t: Table) -> None:
    p.run(f"insert into {t.name} select * from {t.name} where {p.some()} order by id limit 2")


def _update(p: Program, t: Table) -> None:
    column = p.rng.choice([name for name in t.columns if name != "id"])
    p.run(f"update {t.name} set {column} = {literal(p.rng, t.columns[column])} where {p.some()}")


def _update_key(p: Program, t: Table) -> None:
    column = p.rng.choice(list(t.columns))
    p.run(
        f"update {t.name} set k = k + 1, {column} = {column} where {p.some()}"
        if column != "k"
        else f"update {t.name} set k = 3 - k"
    )


def _no_op_update(p: Program, t: Table) -> None:
    column = p.rng.choice(list(t.columns))
    p.run(f"update {t.name} set {column} = {column} where {p.some()}")


def _delete(p: Program, t: Table) -> None:
    p.run(f"delete from {t.name} where {p.some()}")


def _merge(p: Program, t: Table) -> None:
    source = f"(select * from {p.rows(t, 3)} as v({t.listed})) s"
    values = ", ".join(f"s.{column}" for column in t.columns)
    on = f"t.id + {p.rng.randint(3, 9)} = s.id"
    p.run(
        f"merge into {t.name} t using {source} on {on} when matched and s.k > 2 then delete when matched then update set k = s.k "
        f"when not matched and coalesce(s.k, 1) > 0 then insert ({t.listed}) values ({values})"
    )


def _truncate(p: Program, t: Table) -> None:
    if p.rng.random() < 0.5:
        p.run(f"delete from {t.name} where true" if p.rng.random() < 0.5 else f"truncate table {t.name}")


def _overwrite(p: Program, t: Table) -> None:
    p.run(f"insert overwrite {t.name} ({t.listed}) {p.rows(t, p.rng.randint(1, 4))}")


def _delete_and_insert_again(p: Program, t: Table) -> None:
    some = p.some()
    kept = p.history.session.sql(f"select * from {t.name} where {some}")
    copied(p.history.session, kept).createOrReplaceTempView("kept_rows")
    p.run(f"delete from {t.name} where {some}", f"insert into {t.name} select * from kept_rows")


def _optimize(p: Program, t: Table) -> None:
    p.run(f"optimize {t.name}{p.rng.choice(('', ' zorder by (id)'))}")


def _purge(p: Program, t: Table) -> None:
    """Rows that a deletion vector hides are left out of new files."""
    p.run(f"reorg table {t.name} apply (purge)")


def _add_column(p: Program, t: Table) -> None:
    """No query names it; files and rows from before do not have it."""
    p.next_id += 1
    p.run(f"alter table {t.name} add column (added{p.next_id} int)")
    if p.rng.random() < 0.5:
        p.run(f"update {t.name} set added{p.next_id} = 1 where {p.some()}")


def _restore(p: Program, t: Table) -> None:
    oldest = 1 if any(" replace table " in statement for statement in p.statements) else 0
    if not oldest:
        p.run(f"restore table {t.name} to version as of {p.rng.randint(0, p.history.version(t.name))}")


def _replace_table(p: Program, t: Table) -> None:
    tracked = "using delta tblproperties ('delta.enableRowTracking' = 'true')"
    p.run(f"create or replace table {t.name} {tracked} as select * from {t.name} where not ({p.some()})")


OPERATIONS: dict[str, Callable[[Program, Table], None]] = {
    "insert": _insert,
    "insert_again": _insert_again,
    "update": _update,
    "update_key": _update_key,
    "no_op_update": _no_op_update,
    "delete": _delete,
    "merge": _merge,
    "truncate": _truncate,
    "overwrite": _overwrite,
    "delete_and_insert_again": _delete_and_insert_again,
    "optimize": _optimize,
    "purge": _purge,
    "add_column": _add_column,
    "restore": _restore,
    "replace_table": _replace_table,
}
