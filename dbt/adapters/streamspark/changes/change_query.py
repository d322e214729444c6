"""A query whose changes can be told: parsed once, asked for any interval (docs/concepts/change-queries.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.streamspark.changes.changed_rows import changed_rows
from dbt.adapters.streamspark.changes.commit_times import OneTime
from dbt.adapters.streamspark.changes.differentiate import RULES
from dbt.adapters.streamspark.changes.differentiate.differentiation import END, START, Differentiation
from dbt.adapters.streamspark.changes.differentiate.equalities import compares_otherwise, written_alike
from dbt.adapters.streamspark.changes.differentiate.leaves import Leaf
from dbt.adapters.streamspark.changes.differentiate.local_rows import too_many
from dbt.adapters.streamspark.changes.differentiate.maps import groups_maps
from dbt.adapters.streamspark.changes.differentiate.views import Views
from dbt.adapters.streamspark.changes.ends import Point, resolve_end
from dbt.adapters.streamspark.changes.fallbacks import fallbacks
from dbt.adapters.streamspark.changes.file_changes import EMPTY, INITIAL_ROWS, MINIMIZE
from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.changes.query.algebra import Opaque, OuterJoin, Scan, SemiJoin
from dbt.adapters.streamspark.changes.query.base_tables import BaseTable, BaseTables
from dbt.adapters.streamspark.changes.query.expanded import expanded
from dbt.adapters.streamspark.changes.query.lower import lower
from dbt.adapters.streamspark.changes.query.lowered import Lowered, as_opaque, lowered
from dbt.adapters.streamspark.changes.query.lowering import Lowering
from dbt.adapters.streamspark.changes.query.not_covered import NotCovered
from dbt.adapters.streamspark.errors import InvalidQuery, UnsupportedQuery

# Spark 4.2.0 gives wrong rows where a union's partitioning is trusted over reused exchanges, as in EXCEPT ALL of two
# window queries (docs/reference/errors.md). A result is computed when the user asks for it, so that the
# setting has to stay off in the session.
TRUSTED_UNIONS = "spark.sql.unionOutputPartitioning"


class ChangeQuery:
    """A SELECT, or the name of a table or view. `tables` are the base tables, views being expanded. Switches off
    `spark.sql.unionOutputPartitioning` in the session, which makes Spark 4.2.0 give wrong rows.

    Raises InvalidQuery for text that is no query or names what is not there, UnsupportedQuery.
    """

    def __init__(self, spark: SparkSession, sql_or_table: str):
        self.spark = spark
        spark.conf.set(TRUSTED_UNIONS, "false")
        found = BaseTables(spark)
        self.text = expanded(found, sql_or_table)
        self.tables: Mapping[str, BaseTable] = {table.token: table for table in found.tables}
        self.lowered: dict[tuple[str, ...], Lowered] = {}  # by the schemas of the base tables

    @property
    def logs(self) -> list[TableLog]:
        return [table.log for table in self.tables.values()]

    def frontier(self, point: Point) -> Frontier:
        """One version per base table. Raises InvalidInterval."""
        return resolve_end(self.logs, point)

    def at(self, versions: Mapping[str, int]) -> Frontier:
        """The point at these versions, which are by the tables' paths."""
        return self.frontier({log.table_id: versions[log.path] for log in self.logs})

    def bytes_at(self, point: Frontier) -> int:
        """Of the base tables, as far as their logs tell."""
        known = (log.size(_version(point, log)) for log in self.logs)
        return sum(size for _, size in filter(None, known))

    def written(self, name: Callable[[TableLog], str]) -> str:
        """The text with `name` of each base table in its place."""
        text = self.text
        for token, table in self.tables.items():
            text = text.replace(token, name(table.log))
        return text

    def shown(self, text: str) -> str:
        """A message with the names of tables for the tokens that stand for them."""
        for token, table in self.tables.items():
            text = text.replace(f"`{token}`", table.name).replace(token, table.name)
        return text

    @contextmanager
    def names_shown(self) -> Iterator[None]:
        """Errors that are raised inside say the names of tables."""
        try:
            yield
        except (InvalidQuery, UnsupportedQuery) as error:
            raise type(error)(self.shown(str(error))) from error

    def interval(self, start: Frontier | None, end: Frontier) -> QueryInterval:
        return QueryInterval(self, start, end)


@dataclass
class QueryInterval:
    """A query over (start, end]; `start` None is before everything: all rows at the end are inserts.

    Read, it raises InvalidInterval when it ends before it starts, StaleSource and BrokenSource, as a table's interval
    does.
    """

    query: ChangeQuery
    start: Frontier | None
    end: Frontier

    @cached_property
    def leaves(self) -> dict[str, Leaf]:
        """Every base table's interval, with all of its columns, by token."""
        return {token: self._leaf(table) for token, table in self.query.tables.items()}

    def _leaf(self, table: BaseTable) -> Leaf:
        start = None if self.start is None else _version(self.start, table.log)
        return Leaf(table, Interval(table.log, start, _version(self.end, table.log)))

    @property
    def shape(self) -> str:
        """EMPTY where no base table changed; of one table its own plan shape, of several MINIMIZE."""
        shapes = {leaf.shape for leaf in self.leaves.values()} - {EMPTY}
        if self.start is None:
            return INITIAL_ROWS
        return EMPTY if not shapes else shapes.pop() if len(self.leaves) == 1 else MINIMIZE

    @cached_property
    def many(self) -> bool:
        """Whether more rows may have changed than the driver holds."""
        if self.start is None:
            return True
        rows = [changed_rows(leaf.interval.files, by_size=True) for leaf in self.leaves.values()]
        return too_many(None if None in rows else sum(row or 0 for row in rows))

    @contextmanager
    def stand_ins(self) -> Iterator[Views]:
        """The tokens of the query's text as tables without rows, in the columns of the end."""
        with Views(self.query.spark) as views:
            for token, leaf in self.leaves.items():
                views.add(leaf.stand_in(), token)
            yield views

    @cached_property
    def lowered(self) -> Lowered:
        """The query's operators. Raises InvalidQuery, UnsupportedQuery."""
        schemas = {token: leaf.interval.schemas.schema for token, leaf in self.leaves.items()}
        key = tuple(schema.json() for schema in schemas.values())
        if key not in self.query.lowered:
            self.query.lowered[key] = self._lower(schemas)
        return self.query.lowered[key]

    def _lower(self, schemas: Mapping[str, StructType]) -> Lowered:
        query = self.query
        with self.stand_ins() as views, query.names_shown():
            found = lowered(query.spark, query.text, query.tables, schemas)
            wrong = self._wrong(found, views)
            if not wrong:
                return found
            return as_opaque(Lowering(query.spark, query.tables, schemas, lower), query.text, found.schema, wrong)

    @property
    def fallbacks(self) -> list[str]:
        """Why and where parts of the query have no rule; empty where every operator has one."""
        return [self.query.shown(reason) for reason in fallbacks(self.lowered.root)]

    def _wrong(self, found: Lowered, views: Views) -> NotCovered | None:
        """A last look before the operators are trusted: what only types tell."""
        d = self.differentiation(found, views, dry=True)
        listed = ", ".join(
            f"{ours} as {quoted(name)}" for ours, name in zip(found.ours, found.schema.names, strict=True)
        )
        try:
            given = d.schema(f"select {listed} from {d.at(found.root, END)}")
        except AnalysisException as error:  # the user's own words gave none
            return NotCovered(f"SQL that the rules would write as Spark does not read it ({error.getCondition()})")
        pairs = zip(found.schema.fields, given.fields, strict=True)
        other = ", ".join(a.name for a, b in pairs if a.dataType.simpleString() != b.dataType.simpleString())
        if other:
            return NotCovered(f"a column whose type would change ({other})")
        nodes = list(found.root.walk())
        if any(compares_otherwise(d, node) for node in nodes if isinstance(node, SemiJoin)):
            return NotCovered("an IN that compares two types without ANSI mode")
        if groups_maps(d, found.root):
            return NotCovered("groups of maps")
        lookups = [node for node in nodes if isinstance(node, OuterJoin) and node.lookup]
        if all(written_alike(d, node.left, node.right, node.pairs) for node in lookups):
            return None
        return NotCovered("a subquery correlated by values of two types")

    def differentiation(
        self, found: Lowered, views: Views, *, appended: bool = False, dry: bool = False
    ) -> Differentiation:
        """What puts the change query together; its temporary views live as long as `views`."""
        leaves = {token: self._used(token, table, found) for token, table in self.query.tables.items()}
        return Differentiation(views, leaves, self._clocks(), RULES, appended, dry, many=not dry and self.many)

    def _used(self, token: str, table: BaseTable, found: Lowered) -> Leaf:
        """The leaf with the columns that the query uses; an operator without a rule may use any."""
        nodes = list(found.root.walk())
        if any(isinstance(node, Opaque) and table in node.tables for node in nodes):
            return self.leaves[token]
        scans = [node for node in nodes if isinstance(node, Scan) and node.table is table]
        return self.leaves[token].of({column for scan in scans for column in scan.names}, len(scans))

    def _clocks(self) -> dict[bool, str]:
        ends = {START: self.start or self.end, END: self.end}
        return {end: OneTime(frontier.timestamp).sql() for end, frontier in ends.items()}


def _version(frontier: Frontier, log: TableLog) -> int:
    """Whoever resolved the frontier looked at the commit."""
    entry = frontier.entry(log.table_id, log.name)
    assert entry is not None
    return entry.version
