"""Maintained tables as a careful team keeps them today, without streamspark: by the keys that changed.

Delta's change data feed of the source tables says which keys of the table may have other rows than before. For those
the query is computed anew, and one MERGE puts its rows in the place of those the table has.

All ways of the benchmark read the same source tables. Those write the feed for this way alone, outside of what is
timed: differential models and streams do not read it. In favour of this way: it is not run by dbt, its bookkeeping is a
dict in memory, and writing the feeds of the source tables costs it nothing.

A chain is kept so step by step: each table writes a feed, too, from which the next one has its changes.

The changed keys are held before anything else reads them, each in a statement of its own: in one statement with plain
`t`, `table_changes('t', ...)` gives all rows of the table (Spark 4.2.0, Delta 4.4.0).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from time import perf_counter

from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes.readers.cdf import FEED

TARGET_PROPERTIES = "'delta.enableDeletionVectors' = 'true'"
WITH_FEED = f"'{FEED}' = 'true'"
Versions = dict[str, int]


@dataclass(frozen=True)
class Rule:
    """How one table is kept. `read`: the columns of the feed of each table that it reads, which `affected` finds as
    `changed_<table>` and turns into keys, values of column `key` of the result. `narrowed`: which column of which table
    that it reads is that key. `unique`: what tells the result's rows apart. Tables are those of TPC-H, or others that
    are kept by hand."""

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
    # Of the groups a careful team computes those of the months anew: by nations the orders cannot be narrowed.
    "revenue_per_nation_and_month": Rule(
        key="month",
        unique=("n_name", "month"),
        read={"lineitem": "l_orderkey", "orders": "trunc(o_orderdate, 'MM') as month", "customer": "c_custkey"},
        affected="""select month as key from changed_orders
            union select trunc(o_orderdate, 'MM') from tpch.orders join changed_lineitem on o_orderkey = l_orderkey
            union select trunc(o_orderdate, 'MM') from tpch.orders join changed_customer on o_custkey = c_custkey""",
        narrowed={"orders": "trunc(o_orderdate, 'MM')"},
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
    "chain_1": Rule(
        key="o_orderkey",
        unique=("o_orderkey",),
        read={"orders": "o_orderkey", "customer": "c_custkey"},
        affected="""select o_orderkey as key from changed_orders
            union select o_orderkey from tpch.orders join changed_customer on o_custkey = c_custkey""",
        narrowed={"orders": "o_orderkey"},
    ),
    "chain_2": Rule(
        key="l_orderkey",
        unique=("l_orderkey", "l_linenumber"),
        read={"lineitem": "l_orderkey", "chain_1": "o_orderkey"},
        affected="select l_orderkey as key from changed_lineitem union select o_orderkey from changed_chain_1",
        narrowed={"lineitem": "l_orderkey", "chain_1": "o_orderkey"},
    ),
    "chain_3": Rule(
        key="o_custkey",
        unique=("o_custkey", "c_mktsegment", "month"),
        read={"chain_2": "o_custkey"},
        affected="select o_custkey as key from changed_chain_2",
        narrowed={"chain_2": "o_custkey"},
    ),
    "chain_4": Rule(
        key="month",
        unique=("c_mktsegment", "month"),
        read={"chain_3": "month"},
        affected="select month as key from changed_chain_3",
        narrowed={"chain_3": "month"},
    ),
}


class ByHand:
    """The tables of one query, in the order in which they read each other."""

    def __init__(self, spark: SparkSession, queries: Mapping[str, str]):
        self.tables = [KeptTable(spark, model, query) for model, query in queries.items()]

    def build(self) -> None:
        for table in self.tables:
            table.build()

    def refresh(self) -> float:
        """The seconds that they took."""
        return sum(table.refresh() for table in self.tables)


class KeptTable:
    """The table of one model, whose text names the models that it reads by `ref('<model>__way')`."""

    def __init__(self, spark: SparkSession, model: str, query: str):
        self.spark, self.rule, self.target = spark, RULES[model], _table(model)
        self.query = re.sub(r"{{ ref\('(\w+)__way'\) }}", lambda found: _table(found[1]), query)
        is_read = any(model in rule.read for rule in RULES.values())
        self.properties = f"{TARGET_PROPERTIES}, {WITH_FEED}" if is_read else TARGET_PROPERTIES
        self.versions: Versions = {}

    def build(self) -> None:
        self.versions = self._newest()
        properties = f"using delta tblproperties ({self.properties})"
        self.spark.sql(f"create or replace table {self.target} {properties} as {self.query}")

    def refresh(self) -> float:
        """The seconds that it took."""
        begun = perf_counter()
        now = self._newest()
        for name, columns in self.rule.read.items():
            table = _table(name)
            changes = feed(table, self.versions[table], now[table])
            hold(self.spark.sql(f"select distinct {columns} from {changes}"), f"changed_{name}")
        hold(self.spark.sql(self.rule.affected), "affected")
        self.spark.sql(self._merge())
        self.versions = now
        return perf_counter() - begun

    def _newest(self) -> Versions:
        return newest(self.spark, map(_table, self.rule.read))

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
        for name, column in self.rule.narrowed.items():
            query = query.replace(_table(name), _narrow(_table(name), column))
        return query


def _table(name: str) -> str:
    return f"maintained.{name}__by_hand" if name in RULES else f"tpch.{name}"


def _narrow(table: str, column: str) -> str:
    """The rows of affected keys. Spark does not know how few keys there are, so it is told to broadcast them."""
    return f"(select /*+ broadcast(affected) */ * from {table} left semi join affected on {column} = key)"


def newest(spark: SparkSession, tables: Iterable[str]) -> Versions:
    return {table: spark.sql(f"describe history {table} limit 1").first()["version"] for table in tables}


def feed(table: str, since: int, until: int) -> str:
    """What was committed after `since`, to select from. `table_changes` has no empty interval."""
    if since == until:
        return f"(select * from table_changes('{table}', {until}, {until}) where false)"
    return f"table_changes('{table}', {since + 1}, {until})"


def hold(rows: DataFrame, name: str) -> None:
    rows.localCheckpoint().createOrReplaceTempView(name)


def switch_feed_on(spark: SparkSession) -> None:
    """Of the tables of TPC-H; those that are kept by hand are created with theirs."""
    for table in sorted({_table(name) for rule in RULES.values() for name in rule.read if name not in RULES}):
        spark.sql(f"alter table {table} set tblproperties ({WITH_FEED})")
