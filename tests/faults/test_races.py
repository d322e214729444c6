"""Processes consume at the same time while others change the source: no row lost, none doubled, all in order."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.faults.harness.races import RACES, Race, run


@pytest.mark.parametrize("race", RACES, ids=str)
def test_race(spark: SparkSession, tmp_path: Path, race: Race) -> None:
    done = run(spark, race, tmp_path)
    assert done["source"] and done["committed"] + done["planned again"] + done["skipped"] >= race.commits - race.targets
    assert race.clients < 8 or done["planned again"] + done["skipped"] + done["fenced"], "nobody was in another's way"
