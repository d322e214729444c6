"""The table in docs/concepts/tpch.md says by which rules each query of TPC-H is differentiated. No Spark."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from dbt.adapters.streamspark.changes.query import algebra
from tests.tpch.data import QUERIES
from tests.unit.test_lower import lowered_over

PAGE = Path(__file__).parents[2] / "docs/concepts/tpch.md"
COLUMNS = {
    "customer": "custkey name address nationkey phone acctbal mktsegment comment",
    "lineitem": "orderkey partkey suppkey linenumber quantity extendedprice discount tax returnflag linestatus shipdate "
    "commitdate receiptdate shipinstruct shipmode comment",
    "nation": "nationkey name regionkey comment",
    "orders": "orderkey custkey orderstatus totalprice orderdate orderpriority clerk shippriority comment",
    "part": "partkey name mfgr brand type size container retailprice comment",
    "partsupp": "partkey suppkey availqty supplycost comment",
    "region": "regionkey name comment",
    "supplier": "suppkey name address nationkey phone acctbal comment",
}
PREFIX = {"partsupp": "ps"}


def named(table: str) -> list[str]:
    return [f"{PREFIX.get(table, table[0])}_{column}" for column in COLUMNS[table].split()]


def operators(sql: str) -> Counter[str]:
    """How often each kind of operator is in the query; columns and filters, which have no rule to tell of, left out."""
    nodes = lowered_over(sql, {table: named(table) for table in COLUMNS})[1].node.walk()
    return Counter(kind(node) for node in nodes if not isinstance(node, algebra.Project | algebra.Filter))


def kind(node: algebra.Operator) -> str:
    if isinstance(node, algebra.Aggregate):
        return "touched groups" if node.keys else "one row"
    if isinstance(node, algebra.OuterJoin):
        return "lookup" if node.lookup else "outer join"
    if isinstance(node, algebra.SemiJoin):
        return "not in" if node.members else "anti join" if node.anti else "semi join"
    return {algebra.Scan: "tables", algebra.Join: "inner join", algebra.TopK: "first rows"}.get(
        type(node), type(node).__name__
    )


def table() -> str:
    found = {name: operators(sql) for name, sql in QUERIES.items()}
    strange = {kind for counts in found.values() for kind in counts} - set(KINDS)
    assert not strange, f"without a column in the table: {strange}"
    lines = [f"| query | {' | '.join(KINDS)} |", f"|---|{'---|' * len(KINDS)}"]
    lines += [f"| {name} | {' | '.join(str(counts[kind] or '') for kind in KINDS)} |" for name, counts in found.items()]
    return "\n".join(lines) + "\n"


KINDS = (
    "tables", "inner join", "outer join", "lookup", "semi join", "anti join", "not in", "touched groups", "one row",
    "first rows",
)  # fmt: skip


def test_the_page_has_the_table() -> None:
    assert table() in PAGE.read_text()
