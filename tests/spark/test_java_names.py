"""Names of Java classes in a session that the adapter has started."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.java_names import RememberingView


@pytest.fixture
def lookups(spark: SparkSession) -> Iterator[Counter[str]]:
    """How often the JVM was asked for each name."""
    asked: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        client = spark.sparkContext._gateway._gateway_client
        send = client.send_command

        def counted(command: str, *arguments: Any, **options: Any) -> Any:
            if command.startswith("r\nu\n"):
                asked[command.split("\n")[2]] += 1
            return send(command, *arguments, **options)

        patch.setattr(client, "send_command", counted)
        yield asked


def test_pyspark_asks_for_a_class_once(spark: SparkSession, lookups: Counter[str]) -> None:
    assert isinstance(spark._jvm, RememberingView)
    view = RememberingView.of(spark._jvm)
    assert view.PythonUtils is view.PythonUtils
    assert lookups == {"PythonUtils": 1}


def test_a_name_without_a_class_is_asked_for_again(spark: SparkSession, lookups: Counter[str]) -> None:
    view = RememberingView.of(spark._jvm)
    assert view.org is not view.org
    assert lookups == {"org": 2}
