"""The MERGE of apply_changes as text, and what it refuses. What it does is in tests/functional."""

from __future__ import annotations

import pytest

from dbt.adapters.streamspark.consume.apply_changes import ApplyChanges, Column
from dbt.adapters.streamspark.errors import ConsumptionRefused

ID, V, M = Column("id", "int"), Column("v", "string"), Column("m", "map<string,int>")
DELTA = (Column("_change_type", "string"), Column("_commit_version", "bigint"), Column("_row_id", "string"))
SNOWFLAKE = (Column("METADATA$ACTION", "string"), Column("METADATA$ISUPDATE", "boolean"))
SINGDATA = (Column("__change_type", "string"),)


def changes(*columns: Column, key: tuple[str, ...] = ("id",)) -> ApplyChanges:
    return ApplyChanges("model.t.m", "`rows`", columns, key)


@pytest.mark.parametrize(
    ("metadata", "upsert"),
    [
        (DELTA, "`_change_type` in ('insert', 'update_postimage')"),
        (SNOWFLAKE, "`METADATA$ACTION` = 'INSERT'"),
        (SINGDATA, "`__change_type` in ('INSERT', 'UPDATE_AFTER')"),
    ],
)
def test_the_dialect_is_known_by_its_columns_and_none_is_written(metadata: tuple[Column, ...], upsert: str) -> None:
    made = changes(ID, V, *metadata)
    assert made.dialect.upsert == upsert
    assert made.data == [ID, V]


def test_the_merge() -> None:
    text = changes(ID, V, *DELTA).merge("db.t", [ID, V]).sql()
    assert "on t.`id` <=> s.__streamspark_key.`id`" in text
    assert "when matched and (not (t.`v` <=> s.__streamspark_row.`v`)) then update set" in text
    assert text.index("then delete") < text.index("then update") < text.index("then insert")


def test_columns_that_the_target_lacks_are_left_out() -> None:
    text = changes(ID, V, *DELTA).merge("db.t", [ID]).sql()
    assert "insert (`id`) values" in text


def test_maps_cannot_be_compared_and_count_as_different() -> None:
    assert "when matched and (true) then update" in changes(ID, M, *DELTA).merge("db.t", [ID, M]).sql()


def test_odd_names_are_quoted() -> None:
    odd = Column("a `b`.c", "int")
    text = changes(odd, V, *DELTA, key=("A `b`.C",)).merge("db.t", [odd, V]).sql()
    assert "t.`a ``b``.c` <=> s.__streamspark_key.`a ``b``.c`" in text


@pytest.mark.parametrize(
    ("columns", "key", "said"),
    [
        ((ID, V), ("id",), "no change type column; apply_changes needs one of _change_type, METADATA$ACTION, __change"),
        ((ID, *DELTA, *SINGDATA), ("id",), "several change type columns"),
        ((V, *DELTA), ("id", "v"), "its unique_key has id, which its SELECT has not"),
        ((ID, *DELTA), (), "needs a unique_key"),
    ],
)
def test_refusals_name_the_model(columns: tuple[Column, ...], key: tuple[str, ...], said: str) -> None:
    with pytest.raises(ConsumptionRefused, match=r"model\.t\.m") as error:
        changes(*columns, key=key)
    assert said in str(error.value)
