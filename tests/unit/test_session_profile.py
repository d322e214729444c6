"""The profile: two lines are enough, and what is refused says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.streamspark.credentials import StreamsparkCredentials


def credentials(**profile: Any) -> StreamsparkCredentials:
    data = StreamsparkCredentials.translate_aliases({"schema": "analytics", **profile})
    StreamsparkCredentials.validate(data)
    return StreamsparkCredentials.from_dict(data)


def test_type_and_schema_are_enough() -> None:
    made = credentials()
    assert (made.type, made.method, made.database) == ("streamspark", "session", None)
    options = made.launch_options()
    assert options.master == "local[*]"
    assert options.warehouse == Path("spark-warehouse").absolute()


def test_a_schema_is_needed() -> None:
    with pytest.raises(DbtConfigError, match="schema"):
        credentials(schema="")


@pytest.mark.parametrize("method", ["connect", "thrift"])
def test_remote_methods_come_later(method: str) -> None:
    with pytest.raises(DbtConfigError, match=f"{method}` comes later.*session"):
        credentials(method=method)


def test_an_unknown_method_names_the_allowed_ones() -> None:
    with pytest.raises(DbtConfigError, match=r"odbc.*Allowed: session, connect, thrift"):
        credentials(method="odbc")


@pytest.mark.parametrize("key", ["warehous_dir", "warehouse_directory", "driver_mem", "spark_configs"])
def test_a_misspelt_key_is_refused(key: str) -> None:
    with pytest.raises(DbtConfigError, match=f"`{key}`, which is no setting. Did you mean {key[:6]}"):
        credentials(**{key: "x"})


def test_what_only_dbt_spark_knows_is_left_alone() -> None:
    assert credentials(connect_retries=3, poll_interval=5, threads=2).schema == "analytics"


def test_database_need_not_be_the_schema() -> None:
    assert credentials(database="lake").database == "lake"
    assert credentials(catalog="lake").database == "lake"


def test_sparks_own_catalog_means_two_part_names() -> None:
    assert credentials(catalog="spark_catalog").database is None


def test_what_dbt_spark_calls_server_side_parameters_is_spark_config() -> None:
    made = credentials(server_side_parameters={"spark.sql.ansi.enabled": False, "spark.executor.cores": 2})
    assert made.launch_options().spark_config == {
        "spark.sql.ansi.enabled": "false",
        "spark.executor.cores": "2",
    }


def test_a_warehouse_dir_is_under_the_project_unless_absolute() -> None:
    assert credentials(warehouse_dir="/data/lake").launch_options().warehouse == Path("/data/lake")


def test_keys_of_the_methods_that_come_later_are_refused_without_their_values() -> None:
    with pytest.raises(DbtConfigError, match=r"`host`, `token`.*come later.*`master`") as refused:
        credentials(host="cluster", token="secret")
    assert "secret" not in str(refused.value)
