"""Crashes, a few seconds each: nothing is lost, nothing doubled (harness/case.py).

Cases 0 to 3 (append, merge, both of apply_changes) have been seen to pass. Case 4 (insert_overwrite) fails: rows are
missing, and whether the model in the harness or the adapter is wrong is not known yet. Later ones have not run.

STREAMSPARK_CRASHES says how many at least, STREAMSPARK_SEED of which kind. What fails says its case, which
`python -m tests.faults.harness --seed … --case …` does again.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from pyspark.sql import SparkSession

from tests.faults.harness.case import ROUNDS, Case, Tally
from tests.faults.harness.crash import STEPS
from tests.faults.harness.report import crashes_of
from tests.faults.harness.strategies import STRATEGIES

SEED = int(os.environ.get("STREAMSPARK_SEED", "3"))
ENOUGH = int(os.environ.get("STREAMSPARK_CRASHES", "44"))
CASES = -(-ENOUGH // (ROUNDS - 1))  # of twelve, one may come too late
tally: Tally = Counter()


@pytest.mark.parametrize("number", range(CASES))
def test_case(spark: SparkSession, number: int) -> None:
    global tally
    tally += Case(spark, SEED, number).run()


def test_there_were_enough() -> None:
    """Of every strategy at every step, where all the cases have run."""
    cases = {(strategy, step) for strategy, how, step in tally if how in ("kill", "raise")}
    assert crashes_of(tally) >= ENOUGH * 0.8
    missed = {(strategy, step) for strategy in STRATEGIES for step in STEPS if step not in ("delay", "writing")} - cases
    assert not missed or ENOUGH < 300
