"""Checks of a table or view of changes as SQL that gives a row for each problem: the generic dbt tests."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.streamspark.changes.equal_values import comparable
from dbt.adapters.streamspark.changes.identity import identity
from dbt.adapters.streamspark.changes.metadata_columns import DIALECTS, Dialect
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.errors import InvalidQuery
from dbt.adapters.streamspark.literals import literal

_SIGN = (
    "case when __type in ('insert', 'update_postimage') then 1 when __type in ('delete', 'update_preimage') then -1 end"
)


@dataclass(frozen=True)
class ChangeRows:
    """`relation` is SQL for FROM with columns of `schema`. `run` is SQL that tells the run of a row, or its commit;
    None where nothing does."""

    relation: str
    schema: StructType
    dialect: Dialect
    run: str | None = None

    @property
    def data(self) -> list[str]:
        metadata = {name.lower() for name in self.dialect.names}
        return [name for name in self.schema.names if name.lower() not in metadata]

    def sql(self, columns: Sequence[str] | None = None) -> str:
        """A relation of `__run`, `__type`, `__sign` (1, -1, NULL for an unknown type), `__row` and `__tuple`."""
        row = f"cast({self.dialect.row_id or 'null'} as string)"
        values = tuple_of(self.schema, self.data if columns is None else columns)
        kind = self.dialect.change_type
        inner = f"select {self.run or 0} as __run, {kind} as __type, {row} as __row, {values} as __tuple"
        return f"(select *, {_SIGN} as __sign from ({inner} from {self.relation}))"


def change_rows(spark: SparkSession, relation: str, run: str | None, tracked: bool, per_commit: bool) -> ChangeRows:
    """Rows of a relation that has one dialect's metadata columns. `run` is the user's expression for the run; else it
    is told by the table's own row tracking, where it is `tracked`, or by the commit that is named in the row: by the
    delta dialect alone, since singdata's names two commits in an update and snowflake's none.

    Raises InvalidQuery for a relation without such columns.
    """
    schema = spark.sql(f"select * from {relation}").schema
    names = {name.lower() for name in schema.names}
    dialect = next((key for key, value in DIALECTS.items() if value.names[0].lower() in names), None)
    if dialect is None:
        known = ", ".join(value.names[0] for value in DIALECTS.values())
        raise InvalidQuery(f"{relation} holds no changes: it has none of the columns {known}")
    commit = _commit(names) if dialect == "delta" else None
    found = run or ("_metadata.row_commit_version" if tracked else commit)
    if per_commit:
        found = f"struct({found}, {commit})" if commit else run
    return ChangeRows(relation, schema, DIALECTS[dialect], found)


def _commit(names: Collection[str]) -> str | None:
    """The commit that a row of the delta dialect names, None where the table has left both columns out."""
    there = [quoted(name) for name in ("_commit_timestamp", "_commit_version") if name in names]
    return f"struct({', '.join(there)})" if there else None


def _of_runs(rows: ChangeRows) -> str:
    """Raises InvalidQuery where the run of a row cannot be told: then rows of all runs would pass for those of one."""
    if rows.run is None:
        raise InvalidQuery(
            f"{rows.relation}: which rows came in one run (with per_commit, in one commit) cannot be told from its "
            "columns. Say it with `run`, an expression over them; the run alone is told by row tracking too "
            "(delta.enableRowTracking, before the rows are written)."
        )
    return rows.sql()


def tuple_of(schema: StructType, columns: Sequence[str]) -> str:
    """SQL that is equal where the columns are, whatever their types. Raises InvalidQuery for one that is not there."""
    types = {field.name.lower(): field.dataType for field in schema.fields}
    missing = [name for name in columns if name.lower() not in types]
    if missing:
        raise InvalidQuery(f"there is no column {', '.join(missing)}, only {', '.join(schema.names)}")
    return identity([comparable(quoted(name), types[name.lower()]) for name in columns])


_PROBLEMS = (
    ("count_if(__sign is null) > 0", "a change type that is none"),
    ("count_if(__type = 'update_preimage') <> count_if(__type = 'update_postimage')", "half an update"),
)
_OF_IDS = (
    ("__row is null", "no row id"),
    ("count_if(__sign = 1) > 1", "a row id twice among the new rows"),
    ("count_if(__sign = -1) > 1", "a row id twice among the old rows"),
    ("count_if(__type = 'insert') > 0 and count(*) > 1", "a row id inserted that was there"),
    (
        "count_if(__type like 'update%') = 2 and count(distinct __tuple) = 1",
        "an update that changes nothing",
    ),
)


def valid_change_set(rows: ChangeRows) -> str:
    """Change types, pairs of updates, and each row id once a side, in every run; without ids, runs make no difference
    to a right table.

    Raises InvalidQuery where there are ids but no telling the runs."""
    ids = rows.dialect.row_id is not None
    problems = (*_PROBLEMS, *_OF_IDS) if ids else _PROBLEMS
    cases = " ".join(f"when {condition} then {literal(problem)}" for condition, problem in problems)
    keys = "__run, __row" if ids else "__run"
    changes = _of_runs(rows) if ids else rows.sql()
    found = f"select {keys}, case {cases} end as problem from {changes} group by {keys}"
    return f"select * from ({found}) where problem is not null"


def applies_cleanly(rows: ChangeRows, start_from: str | None) -> str:
    """Run by run, no row is taken away that was not there, starting from nothing or from `start_from`."""
    changes = f"select __tuple, __run, __sign from {_of_runs(rows)}"
    if start_from:
        named = ", ".join(quoted(name) for name in rows.data)
        start = f"(select {named} from {start_from})"
        changes += f" union all select {tuple_of(rows.schema, rows.data)}, null, 1 from {start}"
    gone, came = "count_if(__sign = -1)", "count_if(__sign = 1)"
    counted = f"select __tuple, __run, {gone} as gone, {came} as came from ({changes}) group by __tuple, __run"
    before = (
        "coalesce(sum(came - gone) over (partition by __tuple order by __run rows between unbounded preceding and 1 "
    )
    before += "preceding), 0) as before"
    return f"select * from (select *, {before} from ({counted})) where before < gone"


def equals(rows: ChangeRows | None, relation: str, schema: StructType, wanted: str, start_from: str | None) -> str:
    """The changes put together (or, `rows` being None, the relation's rows) and the wanted rows, where one has a row
    more often than the other."""
    values = tuple_of(schema, schema.names)
    parts = [f"select {values} as __tuple, -1 as __sign from ({wanted})"]
    parts.append(
        f"select {values} as __tuple, 1 as __sign from {relation}"
        if rows is None
        else f"select __tuple, __sign from {rows.sql(schema.names)}"
    )
    if start_from:
        parts.append(f"select {values} as __tuple, 1 as __sign from {start_from}")
    counted = f"select __tuple, sum(__sign) as surplus from ({' union all '.join(parts)}) group by __tuple"
    return f"select * from ({counted}) where surplus <> 0"


@dataclass(frozen=True)
class Audit:
    """How many rows a target lacks of what its query gives, and how many it has too many."""

    target: str
    missing: int
    surplus: int

    @property
    def is_equal(self) -> bool:
        return self.missing == self.surplus == 0

    def __str__(self) -> str:
        if self.is_equal:
            return f"{self.target} is what its query gives at its offset"
        return f"{self.target} lacks {self.missing:,} rows of its query at its offset and has {self.surplus:,} too many"


def audit(spark: SparkSession, target: str, differences: str) -> Audit:
    """Runs the SQL of `equals` and counts."""
    counts = "coalesce(sum(greatest(-surplus, 0)), 0), coalesce(sum(greatest(surplus, 0)), 0)"
    row = spark.sql(f"select {counts} from ({differences})").head()
    return Audit(target, *map(int, row or ()))


def change_volume(rows: ChangeRows, least: int, most: int | None) -> str:
    """The number of changes of the newest run, where it is out of bounds."""
    runs = f"select __run, count(*) as changes from {_of_runs(rows)} group by __run"
    newest = f"select coalesce(max_by(changes, __run), 0) as changes from ({runs})"
    bounds = f"changes < {int(least)}" + ("" if most is None else f" or changes > {int(most)}")
    return f"select * from ({newest}) where {bounds}"
