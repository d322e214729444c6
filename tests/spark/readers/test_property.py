"""All readers, the view and the model agree on random tables under random statements.

STREAMSPARK_EXAMPLES sets how many tables are tried, STREAMSPARK_SEED (a number) which; without it they are always the
same.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.read import read_interval
from dbt.adapters.streamspark.changes.view_sql import view_sql
from tests.spark.large_files import large_files
from tests.spark.readers import expected
from tests.spark.readers.expected import Change
from tests.spark.readers.table_program import COLUMNS, OPERATIONS, TableProgram, Version

pytestmark = pytest.mark.long(minutes=1)

EXAMPLES = int(os.environ.get("STREAMSPARK_EXAMPLES", "6"))
SEED = os.environ.get("STREAMSPARK_SEED")
seeded = seed(int(SEED)) if SEED else lambda test: test  # a seed counts more than derandomize

PROPERTIES = st.fixed_dictionaries(
    {"delta.enableDeletionVectors": st.sampled_from(["true", "false"]), "delta.enableChangeDataFeed": st.just("true")},
    optional={
        "delta.columnMapping.mode": st.sampled_from(["name", "id"]),
        "delta.enableTypeWidening": st.just("true"),
        "delta.writePartitionColumnsToParquet": st.just("false"),
        "delta.enableInCommitTimestamps": st.just("true"),
    },
)
STEPS = st.lists(st.tuples(st.sampled_from(sorted(OPERATIONS)), st.integers(0, 11)), min_size=3, max_size=8)


def changes_of(frame: DataFrame, with_ids: bool = True) -> Counter[Change]:
    """A delta-dialect change set as the model writes it; row ids must be unique on each side."""
    names = [name for name in frame.columns if not name.startswith("_")]
    rows = frame.collect()
    sides = Counter((row["_row_id"], row["_change_type"] in ("delete", "update_preimage")) for row in rows)
    assert all(count == 1 for count in sides.values())
    return Counter(
        (row["_change_type"], row["_row_id"] if with_ids else "", expected.shown({n: row[n] for n in names}))
        for row in rows
    )


# A shrink would take minutes a step: the failing program is printed whole instead.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
SETTINGS = {"deadline": None, "derandomize": True, "suppress_health_check": list(HealthCheck), "phases": PHASES}


@seeded
@settings(max_examples=EXAMPLES, **SETTINGS)
@given(
    columns=st.lists(st.sampled_from(sorted(COLUMNS)), unique=True, max_size=4),
    properties=PROPERTIES,
    partitioned=st.booleans(),
    steps=STEPS,
    cut=st.integers(0, 10),
)
def test_readers_agree_with_the_model(
    spark: SparkSession,
    columns: list[str],
    properties: dict[str, str],
    partitioned: bool,
    steps: list[tuple[str, int]],
    cut: int,
) -> None:
    if any(" " in column for column in columns):  # Delta refuses such a name in a table without a mapping
        properties = {"delta.columnMapping.mode": "name", **properties}
    table = TableProgram(spark, "default.prop_t", tuple(columns), properties, partitioned)
    table.create()
    table.step("insert", 5)
    for operation, number in steps:
        table.step(operation, number)
    log = TableLog(spark, table.name)
    middle = cut % log.version
    for start, end in {(0, log.version), (middle, log.version), (0, middle)}:
        check_interval(table, log, start, end)
    check_view(table, log, middle)


def check_interval(table: TableProgram, log: TableLog, start: int, end: int) -> None:
    spark, versions = table.spark, table.versions
    want = expected.min_delta(versions[start], versions[end])
    assert changes_of(read_interval(spark, log, start, end).dataframe) == want
    with large_files():
        assert changes_of(read_interval(spark, log, start, end).dataframe) == want
    assert changes_of(read_interval(spark, log, start, end, reader="snapshot_diff").dataframe) == want
    by_key = expected.min_delta_by_key(versions[start], versions[end])
    keyed = read_interval(spark, log, start, end, unique_key=("id",)).dataframe
    assert changes_of(keyed, with_ids=False) == by_key
    inserted = read_interval(spark, log, start, end, mode="append_only").dataframe
    assert changes_of(inserted) == expected.appended(versions, start, end)
    files = read_interval(spark, log, start, end, mode="insert_only").dataframe
    assert changes_of(files, with_ids=False) == expected.arrived(versions, start, end)
    if feed_covers(versions, start, end):
        fed = read_interval(spark, log, start, end, reader="cdf", unique_key=("id",)).dataframe
        assert changes_of(fed, with_ids=False) == by_key


def feed_covers(versions: list[Version], start: int, end: int) -> bool:
    """Delta refuses to read the change data feed across a column renamed, dropped or widened. All else it covers,
    CREATE OR REPLACE and RESTORE too."""
    return not any(v.operation in ("rename_column", "drop_column", "widen") for v in versions[start + 1 : end + 1])


def check_view(table: TableProgram, log: TableLog, start: int) -> None:
    text = view_sql(log, table.name, start)
    want = expected.min_delta(table.versions[start], table.versions[log.version])
    assert changes_of(table.spark.sql(text)) == want
