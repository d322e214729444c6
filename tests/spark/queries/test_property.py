"""Random queries over random tables under random statements, held against the oracle.

The queries of the first history read their tables as any query does; those of the others share what was read
(held.py), which makes thousands of them affordable. A case is one change set of one query: STREAMSPARK_QUERY_CASES
sets how many are tried, STREAMSPARK_QUERY_SEED what they are made of. A failure prints the seed and the numbers of its
history and query; to replay the history alone, or with STREAMSPARK_QUERY the query:

    STREAMSPARK_QUERY_SEED=… pytest tests/spark/queries/test_property.py -k "history_7_"
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from random import Random

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.differentiate import stepwise
from dbt.adapters.streamspark.changes.query.algebra import Opaque
from dbt.adapters.streamspark.changes.query.same_query import CANNOT_PLAN
from dbt.adapters.streamspark.errors import InvalidQuery
from tests.spark.queries.grammar import Grammar
from tests.spark.queries.held import held_leaves
from tests.spark.queries.history import FAST, History
from tests.spark.queries.oracle import check_bag, check_interval, check_ledger, interval_of
from tests.spark.queries.programs import Program, tables

pytestmark = pytest.mark.long(minutes=13)

SEED = os.environ.get("STREAMSPARK_QUERY_SEED", "1")
CASES = int(os.environ.get("STREAMSPARK_QUERY_CASES", "2000"))
ONLY = os.environ.get("STREAMSPARK_QUERY")
FIRST, A_HISTORY = 60, 280  # cases of the first history, and of every other
MOST_ROWS = 300
AS_A_BAG = 0.2  # the part of the queries whose changes are also read as a bag
LOOKED_AT = 0.1  # the part of the queries of which it is seen whether they have a rule at all


@pytest.fixture(scope="module")
def counts() -> Iterator[Counter[str]]:
    """Prints at the end what came of the queries."""
    found: Counter[str] = Counter()
    yield found
    print(f"\nqueries: {dict(found)}")


def made(spark: SparkSession, number: int) -> tuple[Program, Random]:
    rng = Random(f"{SEED}/{number}")
    confs = {**FAST, "spark.sql.shuffle.partitions": rng.choice(("1", "1", "3"))}
    program = Program(History(spark, f"query_property_{number}", confs), rng, tables(rng))
    program.create()
    program.history.mark()
    program.round()
    program.round()
    return program, rng


def outcome(history: History, query: str, rng: Random) -> Counter[str]:
    """What came of the query, and the number of its cases. Raises AssertionError where the changes are wrong."""
    try:
        if max(len(history.at(query, point)) for point in (0, 1, 2)) > MOST_ROWS:
            return Counter({"too many rows": 1})
    except PySparkException:
        return Counter({"refused by Spark": 1})
    try:
        found = Counter({"checked": 1, "cases": checked(history, query, rng)})
        if rng.random() < AS_A_BAG:
            found["as a bag"] += bool(check_bag(history, query, 0, 2))
    except InvalidQuery as error:
        if CANNOT_PLAN not in str(error):
            raise
        return Counter({"refused by Spark": 1})
    if rng.random() < LOOKED_AT and isinstance(interval_of(history, query, 0, 2).lowered.root, Opaque):
        found["without a rule as a whole"] += 1
    return found


def checked(history: History, query: str, rng: Random) -> int:
    """One interval by itself, or all of them and maybe the whole way in one; returns how many change sets that is."""
    if rng.random() < 0.3:
        check_interval(history, query, *rng.choice(((0, 1), (1, 2), (0, 2))))
        return 1
    whole = rng.random() < 0.5
    check_ledger(history, query, (0, 1, 2), whole)
    return 3 + whole


def run_history(spark: SparkSession, number: int, cases: int, counts: Counter[str]) -> list[str]:
    """A report of every failure."""
    program, _ = made(spark, number)
    found: Counter[str] = Counter()
    failures = []
    for place in [int(ONLY)] if ONLY else range(cases):
        rng = Random(f"{SEED}/{number}/{place}")
        query = Grammar(rng, program.tables).query(rng.choice((1, 2, 2, 3))).sql
        try:
            found += outcome(program.history, query, rng)
        except Exception as error:
            head = f"seed {SEED}, history {number}, query {place}: {query}"
            failures.append(f"{head}\n{type(error).__name__}: {str(error)[:1500]}")
        if found["cases"] >= cases:
            break
    program.history.drop()
    counts += found
    return failures and [f"statements: {program.statements}", *failures]


@contextmanager
def stepwise_joins() -> Iterator[None]:
    """Inside, every input of a join counts as a large one, which a delta meets when it has a key for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stepwise, "LARGE", -1)
        yield


def sizes(cases: int) -> list[int]:
    """How many cases each history gets."""
    first, others = min(FIRST, cases), max(0, cases - FIRST)
    return [first, *(min(A_HISTORY, others - done) for done in range(0, others, A_HISTORY))]


@pytest.mark.parametrize("number", range(len(sizes(CASES))), ids=lambda number: f"history_{number}_")
def test_changes_of_random_queries(spark: SparkSession, counts: Counter[str], number: int) -> None:
    with held_leaves() if number else nullcontext(), stepwise_joins() if number % 2 else nullcontext():
        failures = run_history(spark, number, sizes(CASES)[number], counts)
    assert not failures, "\n\n".join(failures)


def test_few_queries_are_thrown_away(counts: Counter[str]) -> None:
    assert counts["refused by Spark"] + counts["too many rows"] <= 0.2 * counts["checked"]
    assert counts["without a rule as a whole"] <= 0.02 * counts["checked"]
