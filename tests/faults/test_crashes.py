"""Crashes, a few seconds each, of every strategy: nothing is lost, nothing doubled (harness/case.py).

STREAMSPARK_CRASHES says how many at least (100 are every strategy at every step), STREAMSPARK_SEED of which kind. What fails
says its case, which `python -m tests.faults.harness --seed … --case …` does again.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from pyspark.sql import SparkSession

from tests.faults.harness.case import EARLY, Case, Tally
from tests.faults.harness.client import MEANWHILE
from tests.faults.harness.crash import STEPS
from tests.faults.harness.report import crashes_of
from tests.faults.harness.strategies import STRATEGIES

pytestmark = pytest.mark.long(minutes=7)

SEED = int(os.environ.get("STREAMSPARK_SEED", "3"))
ENOUGH = int(os.environ.get("STREAMSPARK_CRASHES", "300"))
CASES = max(len(STRATEGIES), -(-ENOUGH // (len(STEPS) - 2)))  # of twelve, two may come too late
ROUNDS = min(len(EARLY), -(-ENOUGH // (2 * CASES)) + 1)
tally: Tally = Counter()


@pytest.mark.parametrize("number", range(CASES))
def test_case(spark: SparkSession, number: int) -> None:
    global tally
    tally += Case(spark, SEED, number, rounds=ROUNDS).run()


def test_there_were_enough() -> None:
    """Of every strategy at every step, where all the cases have run."""
    done = {(strategy, step) for strategy, how, step in tally if how in ("kill", "raise")}
    wanted = {(strategy, step) for strategy in STRATEGIES for step in STEPS if step not in MEANWHILE}
    assert crashes_of(tally) >= ENOUGH * 0.9
    assert len(EARLY) > ROUNDS or wanted <= done
