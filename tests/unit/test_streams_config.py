"""A stream's configuration: what is taken, and what each refusal says. No Spark."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest

from dbt.adapters.streamspark.errors import InvalidStreamConfig
from dbt.adapters.streamspark.streams.config import NOW, StartPoint, StreamConfig, parse_changes_config, parse_config


def test_defaults() -> None:
    assert parse_config({"mode": None, "materialized": "stream", "unique_key": None}, "s") == StreamConfig()
    assert StreamConfig().start == NOW


@pytest.mark.parametrize(
    ("raw", "start"),
    [
        ({"at": {"version": 3}}, StartPoint("at", "version", 3)),
        ({"before": {"version": "3"}}, StartPoint("before", "version", 3)),
        ({"at": {"timestamp": "2026-01-31"}}, StartPoint("at", "timestamp", "2026-01-31")),
        ({"at": {"timestamp": date(2026, 1, 31)}}, StartPoint("at", "timestamp", "2026-01-31")),
        ({"at": {"timestamp": datetime(2026, 1, 31, 12)}}, StartPoint("at", "timestamp", "2026-01-31 12:00:00")),
        ({"before": {"stream": "other"}}, StartPoint("before", "stream", "other")),
        ({"at": {"version": 3}, "show_initial_rows": True}, StartPoint("at", "version", 3)),
    ],
)
def test_start(raw: dict[str, Any], start: StartPoint) -> None:
    assert parse_config(raw, "s").start == start


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"mode": "append-only"}, "mode = 'append-only' is not known. Did you mean append_only? Allowed: standard, "),
        ({"metadata_columns": "oracle"}, "Allowed: delta, snowflake, singdata"),
        ({"show_initial_rows": "yes"}, "show_initial_rows = 'yes' is neither true nor false"),
        ({"enable_tracking": 1}, "enable_tracking = 1 is neither true nor false"),
        ({"on_configuration_change": "ignore"}, "Allowed: apply, continue, fail"),
        ({"on_stale": "skip"}, "Allowed: fail, full_refresh, rebase"),
        ({"on_stale": "rebase", "mode": "append_only"}, "on_stale = 'rebase' contradicts mode = 'append_only'"),
        ({"max_data_extension_days": -1}, "max_data_extension_days = -1 is no whole number of days"),
        ({"unique_key": []}, "unique_key = [] names no column"),
        ({"unique_key": [1]}, "unique_key = [1] is no column name"),
        ({"unique_key": ["a", "A"]}, "names a column twice"),
        ({"at": 3}, "at = 3 is no point in time. Allowed: {version: 12}"),
        ({"at": {"version": 3, "timestamp": "x"}}, "is no point in time"),
        ({"at": {"offset": 3}}, "is no point in time"),
        ({"before": {"version": -1}}, "has no table version in it"),
        ({"at": {"timestamp": ""}}, "has no timestamp in it"),
        ({"at": {"version": 3}, "before": {"version": 5}}, "at = {'version': 3} and before = {'version': 5}"),
        ({"mode": "append_only", "unique_key": "id"}, "unique_key = ['id'] contradicts mode = 'append_only'"),
        ({"mode": "insert_only", "enable_tracking": True}, "enable_tracking = True contradicts mode = 'insert_only'"),
        (
            {"show_inital_rows": True},
            "no configuration of a stream. Did you mean show_initial_rows?",
        ),
    ],
)
def test_refusals_name_key_value_and_what_is_allowed(raw: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidStreamConfig) as error:
        parse_config(raw, "db.orders_stream")
    assert "stream db.orders_stream: " in str(error.value)
    assert said in str(error.value)


def test_what_is_not_a_streams_is_left_alone() -> None:
    raw = {"tags": ["x"], "file_format": "delta", "on_schema_change": "ignore", "begin": "2020-01-01", "meta": {"a": 1}}
    assert parse_config(raw, "s") == StreamConfig()


def test_a_changes_model_has_keys_of_its_own() -> None:
    given = {"format": "redo_log", "initial_rows": "true", "mode": None, "file_format": "delta", "tags": []}
    assert parse_changes_config(given, "m") == {"format": "redo_log", "initial_rows": True}


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"mode": "standard"}, "mode = 'standard' is not known. Allowed: auto, strict"),
        ({"format": "mindelta"}, "Did you mean min_delta?"),
        ({"initial_row": True}, "initial_row is no configuration of a changes model. Did you mean initial_rows?"),
    ],
)
def test_a_changes_model_says_what_is_wrong(raw: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidStreamConfig) as error:
        parse_changes_config(raw, "m")
    assert said in str(error.value)
