"""Maintained tables as a careful team keeps them today, without streamspark: by the keys that changed.

Delta's change data feed of the source tables says which keys of the table may have other rows than before. For those
the query is computed anew, and one MERGE puts its rows in the place of those the table has.

All ways of the benchmark read the same source tables. Those write the feed for this way alone, outside of what is
timed: differential models and streams do not read it. In favour of this way: it is not run by dbt, its bookkeeping is a
dict in memory, and writing the feed costs it nothing.

The changed keys are held before anything else reads them, each in a statement of its own: in one statement with plain
`t`, `table_changes('t', ...)` gives all rows of the table (Spark 4.2.0, Delta 4.4.0).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from time import perf_counter

from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes.readers.cdf import FEED

TARGET_PROPERTIES = "'delta.enableDeletionVectors' = 'true'"
Versions = dict[str, int]


@dataclass(frozen=True)
class Rule:
    """How one query is kept. `read`: the columns of each source table's feed, which `affected` finds as
    `changed_<table>` and turns into keys, values of column `key` of the result. `narrowed`: which column of which
    source table is that key. `unique`: what tells the result's rows apart."""

    key: str
    unique: tuple[str, ...]
    read: Mapping[str, str]
    affected: str
    narrowed: Mapping[str, str]


RULES = {
    "wide": Rule(
        key="l_orderkey",
        unique=("l_orderkey", "l_linenumber"),
        read={"lineitem": "l_orderkey", "orders": "o_orderkey", "customer": "c_custkey"},
        affected="""select l_orderkey as key from changed_lineitem union select o_orderkey from changed_orders
            union select o_orderkey from tpch.orders join changed_customer on o_custkey = c_custkey""",
        narrowed={"lineitem": "l_orderkey", "orders": "o_orderkey"},
    ),
    # The feed has an order that moved to another customer, or is gone, under its old customer too.
    "revenue_per_customer": Rule(
        key="o_custkey",
        unique=("o_custkey",),
        read={"lineitem": "l_orderkey", "orders": "o_custkey"},
        affected="""select o_custkey as key from changed_orders
            union select o_custkey from tpch.orders join changed_lineitem on o_orderkey = l_orderkey""",
        narrowed={"orders": "o_custkey"},
    ),
    "customers_without_open_orders": Rule(
        key="c_custkey",
        unique=("c_custkey",),
        read={"orders": "o_custkey", "customer": "c_custkey"},
        affected="select c_custkey as key from changed_customer union select o_custkey from changed_orders",
        narrowed={"customer": "c_custkey", "orders": "o_custkey"},
    ),
    "largest_orders_per_customer": Rule(
        key="o_custkey",
        unique=("o_orderkey",),
        read={"orders": "o_custkey"},
        affected="select o_custkey as key from changed_orders",
        narrowed={"orders": "o_custkey"},
    ),
}


class ByHand:
    """The table of one query."""

    def __init__(self, spark: SparkSession, name: str, query: str):
        self.spark, self.query, self.rule = spark, query, RULES[name]
        self.target = f"maintained.{name}__by_hand"
        self.versions: Versions = {}

    def build(self) -> None:
        self.versions = newest(self.spark, self.rule.read)
        properties = f"using delta tblproperties ({TARGET_PROPERTIES})"
        self.spark.sql(f"create or replace table {self.target} {properties} as {self.query}")

    def refresh(self) -> float:
        """The seconds that it took."""
        begun = perf_counter()
        now = newest(self.spark, self.rule.read)
        for table, columns in self.rule.read.items():
            changes = feed(table, self.versions[table], now[table])
            hold(self.spark.sql(f"select distinct {columns} from {changes}"), f"changed_{table}")
        hold(self.spark.sql(self.rule.affected), "affected")
        self.spark.sql(self._merge())
        self.versions = now
        return perf_counter() - begun

    def _merge(self) -> str:
        """Keys whose rows the query no longer gives, or never gave, come with `stays` NULL."""
        unique = ", ".join(self.rule.unique)
        same = " and ".join(f"held.{column} = now.{column}" for column in self.rule.unique)
        return f"""merge into {self.target} as held using (
              select * from ({self._held()}) full join (select *, true as stays from ({self._fresh()})) using ({unique})
            ) as now on {same}
            when matched and stays is null then delete
            when matched then update set *
            when not matched and stays then insert *"""

    def _held(self) -> str:
        if self.rule.unique == (self.rule.key,):
            return f"select key as {self.rule.key} from affected"
        return f"select {', '.join(self.rule.unique)} from {_narrow(self.target, self.rule.key)}"

    def _fresh(self) -> str:
        query = self.query
        for table, column in self.rule.narrowed.items():
            query = query.replace(f"tpch.{table}", _narrow(f"tpch.{table}", column))
        return query


def _narrow(table: str, column: str) -> str:
    """The rows of affected keys. Spark does not know how few keys there are, so it is told to broadcast them."""
    return f"(select /*+ broadcast(affected) */ * from {table} left semi join affected on {column} = key)"


def newest(spark: SparkSession, tables: Iterable[str]) -> Versions:
    return {table: spark.sql(f"describe history tpch.{table} limit 1").first()["version"] for table in tables}


def feed(table: str, since: int, until: int) -> str:
    """What was committed after `since`, to select from. `table_changes` has no empty interval."""
    if since == until:
        return f"(select * from table_changes('tpch.{table}', {until}, {until}) where false)"
    return f"table_changes('tpch.{table}', {since + 1}, {until})"


def hold(rows: DataFrame, name: str) -> None:
    rows.localCheckpoint().createOrReplaceTempView(name)


def switch_feed_on(spark: SparkSession) -> None:
    for table in sorted({table for rule in RULES.values() for table in rule.read}):
        spark.sql(f"alter table tpch.{table} set tblproperties ('{FEED}' = 'true')")
