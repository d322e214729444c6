"""A cursor moved without consuming: a commit without rows, under the consumer's next number, with other offsets."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import SparkSession

from dbt.adapters.streamspark.consume.commit import Outcome, commit
from dbt.adapters.streamspark.consume.consumption import Consumption
from dbt.adapters.streamspark.consume.keep_alive import nothing
from dbt.adapters.streamspark.errors import Fenced

ADVANCE = "advance"
REWIND = "rewind"


def move(spark: SparkSession, consumption: Consumption, action: str) -> Outcome:
    """Commit the offsets of `consumption`, of which no row is written, as ADVANCE or REWIND.

    Raises Fenced when another run consumed since it was planned: whoever moves a cursor has to look again first. And
    what `commit` raises.
    """

    def look_again() -> Consumption:
        raise Fenced(
            f"{consumption.consumer} consumed into {consumption.target} meanwhile, so its offset was not moved. Look "
            "at consumer_history, and ask again while no run is going on."
        )

    return commit(spark, replace(consumption, action=action), [nothing(consumption.target)], look_again)
