"""Processes consume at the same time while others change the source: no row lost, none doubled, all in order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.faults.harness.races import RACES, Race, run

pytestmark = pytest.mark.skipif("STREAMSPARK_UNRUN" not in os.environ, reason="written, but never run yet")


@pytest.mark.parametrize("race", RACES, ids=str)
def test_race(spark: SparkSession, tmp_path: Path, race: Race) -> None:
    done = run(spark, race, tmp_path)
    assert done["source"] and done["committed"] + done["planned again"] > race.targets
    assert race.targets > 1 or done["planned again"] + done["skipped"] + done["fenced"], "nobody was in another's way"
