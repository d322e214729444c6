"""The harness finds what is wrong: each fault put into the protocol loses or doubles rows in a few crashes."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.faults.harness.case import Case
from tests.faults.harness.protocol_faults import FAULTS

CASES = 4


def found(spark: SparkSession, fault: str) -> str:
    """What the harness says; empty for nothing."""
    for number in range(CASES):
        try:
            Case(spark, 3, number, fault, "append", overtaken=0.7).run()
        except AssertionError as error:
            return str(error)
    return ""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_caught(spark: SparkSession, fault: str) -> None:
    said = found(spark, fault)
    print(f"\n{fault}: {said}")
    assert said
