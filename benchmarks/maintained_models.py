"""The dbt models of `benchmarks.maintained`, and which tables must hold the same rows after a run.

A model is called `<model>__<way>`. A query is one model in each way, but for `chain`: four, each of which reads the one
before (`ref('chain_1__way')` in its text means the one of the same way).
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from benchmarks import history

FOLDER = Path(__file__).parent / "maintained_queries"
SINGLE = {path.stem: {path.stem: path.read_text()} for path in sorted(FOLDER.glob("*.sql"))}
CHAIN = {path.stem: path.read_text() for path in sorted(FOLDER.glob("chain/*.sql"))}
QUERIES = {**SINGLE, "chain": CHAIN, history.NAME: {}}
KEYS = {
    "wide": ["l_orderkey", "l_linenumber"],
    "revenue_per_customer": ["o_custkey"],
    "revenue_per_nation_and_month": ["n_name", "month"],
    "customers_without_open_orders": ["c_custkey"],
    "largest_orders_per_customer": ["o_orderkey"],
    "chain_1": ["o_orderkey"],
    "chain_2": ["l_orderkey", "l_linenumber"],
    "chain_3": ["o_custkey", "c_mktsegment", "month"],
    "chain_4": ["c_mktsegment", "month"],
}
MAINTAINED = "materialized='incremental', incremental_strategy='differential', unique_key={key}"
WAYS = {
    "rebuild": "materialized='table'",
    "differential": MAINTAINED,
    "incremental": MAINTAINED + ", refresh='incremental'",
}
BY_HAND = "by_hand"  # no model


def texts(query: str, ways: Collection[str] = WAYS) -> dict[str, str]:
    """By name, the models of a query in these ways, as far as they are models."""
    if query == history.NAME:
        return history.MODELS
    return {
        f"{model}__{way}": _text(model, way, sql)
        for model, sql in QUERIES[query].items()
        for way in ways
        if way in WAYS
    }


def _text(model: str, way: str, sql: str) -> str:
    config = WAYS[way].format(key=KEYS[model])
    return f"{{{{ config({config}) }}}}\n{sql.replace('__way', f'__{way}')}"


def alike(query: str, ways: Collection[str]) -> list[list[str]]:
    """Lists of tables, or of queries in brackets: those of one list must hold the same rows."""
    if query == history.NAME:
        return history.alike(BY_HAND in ways)
    return [[f"maintained.{model}__{way}" for way in ways] for model in QUERIES[query]]


def query_and_way(model: str) -> tuple[str, str]:
    """What the seconds of a model are counted for."""
    query = next(query for query in QUERIES if model in texts(query))
    return query, model.rpartition("__")[2]
