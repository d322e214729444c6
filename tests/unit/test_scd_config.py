"""The configuration of apply_changes: what is taken, and what each refusal says."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.streamspark.consume.scd_config import ScdConfig
from dbt.adapters.streamspark.errors import InvalidStreamConfig
from dbt.adapters.streamspark.streams.scd_config import parse_scd_config

KEY = {"unique_key": "id"}


def parsed(**config: Any) -> ScdConfig:
    return ScdConfig(**parse_scd_config({**KEY, **config}, "model.t.m"))


def test_by_default_a_target_is_a_copy() -> None:
    assert parsed() == ScdConfig(("id",))
    assert parsed().is_plain
    assert parsed(scd_type="1", soft_deletes="false", sequence_by=None).is_plain


def test_everything_is_taken() -> None:
    config = parsed(
        unique_key=["id", "Name"], scd_type="2", sequence_by="ts", apply_as_deletes="op = 'D'", soft_deletes="true",
        except_columns="op", track_history_columns=["a"], ignore_null_updates=["a", "b"], columns_to_update="touched",
        valid_from="begins", valid_to="ends", is_current="live", is_deleted="gone",
    )  # fmt: skip
    assert config == ScdConfig(
        ("id", "Name"), 2, "ts", "op = 'D'", None, True, (), ("op",), ("a",), (), ("a", "b"), "touched",
        "begins", "ends", "live", "gone",
    )  # fmt: skip
    assert config.history and config.partial and not config.is_plain


def test_keys_of_others_are_left_alone() -> None:
    assert parsed(materialized="incremental", merge_update_columns=["a"], column_types={}, tags=[]).is_plain


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"unique_key": None}, "needs a unique_key"),
        ({"unique_key": 3}, "unique_key = 3 is no column name nor a list"),
        ({"scd_type": 3}, "scd_type = 3 is not known. Allowed: 1, 2"),
        ({"scd_type": True}, "scd_type = True is not known"),
        ({"sequence_by": ["a", "b"]}, "sequence_by = ['a', 'b'] is no column name"),
        ({"apply_as_deletes": ["op"]}, "apply_as_deletes = ['op'] is no SQL predicate"),
        ({"apply_as_truncates": ""}, "apply_as_truncates = '' is no SQL predicate"),
        ({"soft_deletes": "sometimes"}, "soft_deletes = 'sometimes' is neither true nor false"),
        ({"ignore_null_updates": "name"}, "ignore_null_updates = 'name' is neither true nor false nor a list"),
        ({"columns_to_update": 3}, "columns_to_update = 3 is neither a list of column names nor the name"),
        ({"except_columns": ["a", "A"]}, "except_columns = ['a', 'A'] names a column twice"),
        ({"track_history_column": "a"}, "Did you mean track_history_columns or track_history_except_columns?"),
        ({"apply_as_delete": "a"}, "Did you mean apply_as_deletes?"),
        ({"track_history_columns": "a"}, "track_history_columns = 'a' contradicts scd_type = 1"),
        ({"track_history_except_columns": "a", "scd_type": 1}, "contradicts scd_type = 1"),
        ({"valid_from": "a"}, "valid_from = 'a' contradicts scd_type = 1"),
        (
            {"scd_type": 2, "track_history_columns": "a", "track_history_except_columns": "b"},
            "track_history_except_columns = 'b' contradicts track_history_columns",
        ),
        ({"columns": "a", "except_columns": "b"}, "except_columns = 'b' contradicts columns"),
        ({"scd_type": 2, "apply_as_truncates": "x"}, "apply_as_truncates = 'x' contradicts scd_type = 2"),
        ({"soft_deletes": True, "apply_as_truncates": "x"}, "contradicts soft_deletes = True"),
        ({"is_deleted": "gone"}, "is_deleted = 'gone' names a column that only soft_deletes makes"),
        ({"except_columns": ["ID", "x"]}, "except_columns = ['ID', 'x'] contradicts unique_key, which has id"),
        ({"scd_type": 2, "valid_to": "VALID_FROM"}, "valid_to = 'VALID_FROM' contradicts valid_from"),
    ],
)
def test_refusals_name_model_key_and_value(config: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidStreamConfig) as error:
        parsed(**config)
    assert str(error.value).startswith("model model.t.m: ")
    assert said in str(error.value)
