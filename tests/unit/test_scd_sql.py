"""The SQL of histories and ordered changes as text, and what it refuses. What it does is in tests/spark/test_scd.py and
test_scd_rules.py."""

from __future__ import annotations

from typing import Any

import pytest
import sqlglot
from pyspark.sql.types import ArrayType, IntegerType, MapType, StringType

from dbt.adapters.streamspark.consume.apply_changes import ApplyChanges
from dbt.adapters.streamspark.consume.changes_applied import Applied, changes_applied
from dbt.adapters.streamspark.consume.columns import Column
from dbt.adapters.streamspark.consume.current_rows import CurrentRows
from dbt.adapters.streamspark.consume.scd_config import ScdConfig
from dbt.adapters.streamspark.consume.versions import Versions
from dbt.adapters.streamspark.errors import ConsumptionRefused

ID, ODD, TS, OP = Column("id", "int"), Column("a `b`.c", "string"), Column("ts", "int"), Column("op", "string")
TOUCHED = Column("touched", "array<string>")
DATA = (ID, ODD, TS, OP, TOUCHED)
DELTA = (
    Column("_change_type", "string"), Column("_commit_version", "bigint"), Column("_commit_timestamp", "timestamp"),
    Column("_row_id", "string"),
)  # fmt: skip
SNOWFLAKE = (Column("METADATA$ACTION", "string"), Column("METADATA$ISUPDATE", "boolean"))
SINGDATA = (
    Column("__change_type", "string"), Column("__commit_version", "bigint"), Column("__commit_timestamp", "timestamp"),
)  # fmt: skip


def made(*columns: Column, **config: Any) -> Any:
    return changes_applied("model.t.m", "`rows`", columns, ScdConfig(**{"unique_key": ("id",), **config}))


def extra(applied: Applied) -> list[str]:
    assert not isinstance(applied, ApplyChanges)
    return [column.name for column in applied.scd.extra]


def test_which_sql_a_configuration_gets() -> None:
    assert isinstance(made(*DATA, *DELTA), ApplyChanges)
    assert isinstance(made(*DATA, *DELTA, sequence_by="ts"), CurrentRows)
    assert isinstance(made(*DATA, *DELTA, scd_type=2), Versions)


@pytest.mark.parametrize(
    ("config", "columns"),
    [
        ({"scd_type": 2}, ["valid_from", "valid_to", "is_current"]),
        ({"scd_type": 2, "sequence_by": "_commit_version"}, ["valid_from", "valid_to", "is_current"]),
        ({"scd_type": 2, "sequence_by": "TS"}, ["valid_from", "valid_to", "is_current", "__history"]),
        ({"scd_type": 2, "soft_deletes": True}, ["valid_from", "valid_to", "is_current", "is_deleted"]),
        ({"scd_type": 2, "valid_from": "f", "valid_to": "t", "is_current": "c"}, ["f", "t", "c"]),
        ({"sequence_by": "ts"}, []),
        ({"sequence_by": "ts", "except_columns": ("TS",)}, ["__sequence"]),
        ({"sequence_by": "ts", "columns": ("op",)}, ["__sequence"]),
        ({"sequence_by": "ts", "ignore_null_updates": True}, ["__history"]),
        ({"sequence_by": "ts", "soft_deletes": True}, ["is_deleted", "__history"]),
        ({"sequence_by": "_commit_version", "ignore_null_updates": True}, []),
        ({"soft_deletes": True}, ["is_deleted"]),
    ],
)
def test_the_columns_that_a_target_has_more(config: dict[str, Any], columns: list[str]) -> None:
    assert extra(made(*DATA, *DELTA, **config)) == columns


def test_the_order_gives_its_type() -> None:
    assert [column.type for column in made(*DATA, *DELTA, scd_type=2).scd.extra[:2]] == ["timestamp", "timestamp"]
    assert [column.type for column in made(*DATA, *DELTA, scd_type=2, sequence_by="ts").scd.extra[:2]] == ["int", "int"]


CONFIGS: list[dict[str, Any]] = [
    {"scd_type": 2, "sequence_by": "ts", "apply_as_deletes": "op = 'D' -- gone"},
    {"scd_type": 2, "soft_deletes": True, "track_history_columns": ("OP",)},
    {"scd_type": 2, "sequence_by": "ts", "columns_to_update": "touched", "except_columns": ("touched",)},
    {"sequence_by": "ts", "soft_deletes": True, "ignore_null_updates": ("op",)},
    {"apply_as_truncates": "op = 'T'", "columns_to_update": ("op",)},
]


@pytest.mark.parametrize("config", CONFIGS, ids=str)
@pytest.mark.parametrize("metadata", [DELTA, SNOWFLAKE, SINGDATA], ids=lambda columns: columns[0].name)
def test_it_is_one_statement_over_the_view_and_the_target(config: dict[str, Any], metadata: tuple[Column, ...]) -> None:
    ordered = config.get("scd_type") == 2 or "apply_as_truncates" in config
    if ordered and "sequence_by" not in config and metadata is not DELTA:
        with pytest.raises(ConsumptionRefused, match="needs sequence_by"):
            made(*DATA, *metadata, **config)
        return
    applied = made(*DATA, *metadata, **config)
    target = [*applied.scd.data, *applied.scd.extra, Column("of others", "int")]
    merge, upserts = applied.merge("db.t", target).sql(), applied.upserts()
    parsed = sqlglot.parse_one(merge, dialect="spark")
    assert type(parsed) is sqlglot.exp.Merge
    assert type(sqlglot.parse_one(upserts, dialect="spark")) is sqlglot.exp.Select
    assert "from `rows`" in merge and "from `rows`" in upserts
    assert "db.t" in merge.removeprefix("merge into db.t") and "db.t" not in upserts
    assert "of others" not in parsed.args["whens"].sql("spark")


def test_rows_take_the_types_of_the_target() -> None:
    applied = made(*DATA, *DELTA, scd_type=2, sequence_by="ts")
    target = [
        Column("ID", "bigint"),
        ODD,
        *(Column(c.name, "bigint") for c in applied.scd.extra[:2]),
        *applied.scd.extra[2:],
    ]
    merge = applied.merge("db.t", target).sql()
    assert "cast(`id` as bigint)" in merge and "cast(`ts` as bigint)" in merge
    assert "insert (`ID`, `valid_from`, `a ``b``.c`, `valid_to`, `is_current`, `__history`)" in merge


def test_a_reserved_word_and_quotes_are_quoted() -> None:
    odd = Column("it's `select`", "string")
    merge = (
        made(ID, odd, *DELTA, scd_type=2, unique_key=("ID", "IT'S `select`"))
        .merge("db.t", [ID, odd, *made(ID, odd, *DELTA, scd_type=2).scd.extra])
        .sql()
    )
    assert "t.`it's ``select``` <=> s.key.`it's ``select```" in merge
    assert r"named_struct('id', `id`, 'it\'s `select`', `it's ``select```)" in merge


@pytest.mark.parametrize(
    ("columns", "config", "said"),
    [
        ((*DATA, *SNOWFLAKE), {"scd_type": 2}, "scd_type 2 needs sequence_by"),
        ((*DATA, *SINGDATA), {"scd_type": 2}, "scd_type 2 needs sequence_by"),
        ((*DATA, DELTA[0]), {"scd_type": 2}, "scd_type 2 needs sequence_by"),
        ((*DATA, *DELTA), {"sequence_by": "nope"}, "its sequence_by has nope, which its SELECT has not"),
        ((*DATA, *DELTA), {"sequence_by": "ts", "columns_to_update": "x"}, "its columns_to_update has x"),
        ((*DATA, *DELTA), {"except_columns": ("op", "x", "y")}, "its except_columns has x, y"),
        ((*DATA, *DELTA), {"scd_type": 2, "track_history_columns": ("x",)}, "its track_history_columns has x"),
        ((*DATA, *DELTA), {"ignore_null_updates": ("x",)}, "its ignore_null_updates has x"),
        (
            (*DATA, Column("Valid_To", "int"), *DELTA),
            {"scd_type": 2},
            "its SELECT has valid_to, and apply_changes adds",
        ),
        ((*DATA, Column("is_deleted", "int"), *DELTA), {"soft_deletes": True}, "or the added one by is_deleted='...'"),
        (DATA, {"scd_type": 2, "sequence_by": "ts"}, "no change type column"),
    ],
)
def test_refusals_name_the_model(columns: tuple[Column, ...], config: dict[str, Any], said: str) -> None:
    with pytest.raises(ConsumptionRefused, match=r"model\.t\.m") as error:
        made(*columns, **config)
    assert said in str(error.value)


def test_a_map_with_other_keys_than_strings_cannot_be_remembered() -> None:
    odd = Column("m", "array<map<int,string>>", ArrayType(MapType(IntegerType(), StringType())))
    with pytest.raises(ConsumptionRefused, match="its column m is a map whose keys are no strings"):
        made(*DATA, odd, *DELTA, scd_type=2, sequence_by="ts")
    made(*DATA, odd, *DELTA, scd_type=2)


def test_a_target_that_was_made_otherwise_is_refused() -> None:
    with pytest.raises(ConsumptionRefused, match=r"has no column valid_from, valid_to, is_current.*--full-refresh"):
        made(*DATA, *DELTA, scd_type=2).merge("db.t", [*DATA])
