"""TPC-H tables made by tpchgen-cli, and changes to them like those of the benchmark's refresh functions."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession

TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")
QUERIES = {path.stem: path.read_text() for path in sorted(Path(__file__).parent.glob("q*.sql"))}
NEW_KEYS = 100_000_000  # above all keys of scale factor 16


def load(spark: SparkSession, schema: str, scale: float, folder: Path, files: int = 1) -> None:
    """Delta tables of the eight tables in `schema`, which is made; `folder` takes the generated Parquet files. The large
    ones lie in `files` files, by their keys as an application would have written them."""
    tool = Path(sys.executable).parent / "tpchgen-cli"
    subprocess.run([tool, "parquet", "-s", str(scale), f"--output-dir={folder}"], check=True, capture_output=True)
    spark.sql(f"create schema if not exists {schema}")
    properties = "'delta.enableRowTracking' = 'true', 'delta.enableDeletionVectors' = 'true'"
    for table in TABLES:
        source = spark.read.parquet(str(folder / f"{table}.parquet"))
        big = table in ("lineitem", "orders")
        source.repartitionByRange(files if big else 1, source[0]).createOrReplaceTempView("tpch_source")
        spark.sql(
            f"create or replace table {schema}.{table} using delta tblproperties ({properties}) "
            "as select * from tpch_source"
        )


def refresh(number: int, share: float) -> Iterator[str]:
    """The statements of one refresh, on tables of the current schema: of about `share` of the orders, at most half, with
    their lines, as many come, go and change, all over the tables; a few rows of every other table change, keys among
    them. Those that come are like those that go, but for their keys, customers and prices: no refresh finds fewer
    orders than the one before."""
    every = max(2, round(1 / share))
    shift = new_keys(every)
    old = f"<= {(1 + (number - 1) // every) * shift}"
    order = "(o_orderkey div 32 * 8 + o_orderkey % 8)"  # TPC-H uses eight of every 32 keys
    line = order.replace("o_orderkey", "l_orderkey")
    replaced = number % every
    neighbour = "if(o_custkey > 1, o_custkey - 1, 1)"
    yield (
        f"insert into orders by name select o_orderkey + {shift} as o_orderkey, {neighbour} as o_custkey, "
        f"* except (o_orderkey, o_custkey) from orders where {order} % {every} = {replaced}"
    )
    yield (
        f"insert into lineitem by name select l_orderkey + {shift} as l_orderkey, l_extendedprice + 1 as l_extendedprice, "
        f"* except (l_orderkey, l_extendedprice) from lineitem where {line} % {every} = {replaced}"
    )
    yield f"delete from lineitem where {line} % {every} = {replaced} and l_orderkey {old}"
    yield f"delete from orders where {order} % {every} = {replaced} and o_orderkey {old}"
    updated = (number + 2 * every // 3) % every
    yield (
        f"update orders set o_custkey = {neighbour}, o_orderdate = date_add(o_orderdate, 40), "
        f"o_totalprice = o_totalprice + 100 where {order} % {every} = {updated}"
    )
    yield (
        "update lineitem set l_quantity = 50 - l_quantity, l_suppkey = l_suppkey % 7 + 1, "
        f"l_receiptdate = date_add(l_receiptdate, 30) where {line} % {every} = {updated}"
    )
    yield from _others(number)


def new_keys(every: int) -> int:
    """What is added to the keys of rows that come again, which leaves them among those of the same remainder. A larger
    sum would spread the keys over billions, which no application's numbers do."""
    step = 32 * every  # of 32 keys of orders eight are used
    return -(-NEW_KEYS // step) * step


def clustered(number: int, share: float, scale: float) -> Iterator[str]:
    """The same where an application would change them: `share` of the orders comes under new keys, as many of the oldest
    go, as many of the most recent are updated, all with their lines. The keys move on by as many each time, so that
    every refresh finds as many orders as the one before."""
    top = round(scale * 6_000_000)  # TPC-H's keys, with gaps
    span = max(32, round(share * top))
    newest = top + (number - 1) * span
    recent = f"between {newest - span + 1} and {newest}"
    for table, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")):
        new = f"{key} + {span} as {key}, * except ({key})"
        yield f"insert into {table} by name select {new} from {table} where {key} {recent}"
        yield f"delete from {table} where {key} <= {number * span}"
    yield (
        "update orders set o_orderdate = date_add(o_orderdate, 1), o_totalprice = o_totalprice + 100, "
        f"o_orderstatus = if(o_orderstatus = 'O', 'F', 'O') where o_orderkey {recent}"
    )
    yield f"update lineitem set l_quantity = 50 - l_quantity, l_extendedprice = l_extendedprice + 1 where l_orderkey {recent}"


def _others(number: int) -> Iterator[str]:
    yield f"update customer set c_acctbal = c_acctbal + 500, c_nationkey = (c_nationkey + 1) % 25 where c_custkey % 211 = {number}"
    yield f"update part set p_type = 'PROMO BRUSHED BRASS', p_size = p_size % 20 + 1 where p_partkey % 307 = {number}"
    yield f"update partsupp set ps_supplycost = ps_supplycost / 2, ps_availqty = ps_availqty + 10 where ps_partkey % 401 = {number}"
    yield (
        "update supplier set s_comment = 'Customer said: Complaints', s_nationkey = (s_nationkey + 3) % 25 "
        f"where s_suppkey % 31 = {number}"
    )
