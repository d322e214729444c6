"""What cannot be committed exactly once is refused, and a source whose files are gone is told from all else."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.consume.commit import commit
from dbt.adapters.streamspark.errors import ConsumptionRefused, StaleSource
from tests.consuming import APPEND, CREATE, FIRST, MERGE, Model, add, confs, make_source, newest, path_table

# Refusals


@pytest.mark.parametrize(
    ("statements", "why"),
    [
        ([], "no statement"),
        (["delete from {target} where id in (select id from {s})"], "Delta commits nothing for a DELETE"),
        (["with c as (select 1) delete from {target} where id = 1"], "Delta commits nothing for a DELETE|PARSE"),
        (["select * from {s}"], "must be one INSERT, MERGE, UPDATE or CREATE TABLE AS"),
        (["optimize {target}"], "must be one INSERT"),
        (["truncate table {target}"], "must be one INSERT"),
        (["create or replace table {target} (id int) using delta"], "must be one INSERT"),
        (["from {s} insert into {target} select id, v insert into {target} select id, v"], "must be one INSERT"),
        (["delete from {target} where id = 1", "insert into {target} select id, v from {s}"], "writes more than once"),
        (["insert into {target} select id, v from {s}"] * 2, "writes more than once"),
        (
            ["create or replace table {target} using delta tblproperties ('delta.setTransactionRetentionDuration' = "
             "'interval 1 day') as select id, v from {s}"],
            "would get delta.setTransactionRetentionDuration",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_one_atomic_commit_is_refused(model: Model, statements: list[str], why: str) -> None:
    add(model, 3)
    plan = model.plan()
    texts = [text.format(target=model.target, s=plan.reads[0].sql) for text in statements]
    with pytest.raises(Exception, match=why) as caught:
        commit(model.spark, plan, texts, model.plan)
    assert isinstance(caught.value, ConsumptionRefused) or "PARSE" in str(caught.value)
    assert (model.rows(), newest(model.spark, model.target)) == (FIRST, 0)


def test_a_target_that_forgets_transactions_is_refused(model: Model) -> None:
    add(model, 3)
    key = "delta.setTransactionRetentionDuration"
    model.spark.sql(f"alter table {model.target} set tblproperties ('{key}' = 'interval 30 days')")
    with pytest.raises(ConsumptionRefused, match=f"{key} = interval 30 days.* UNSET TBLPROPERTIES"):
        model.run(APPEND)
    assert model.rows() == FIRST
    model.spark.sql(f"alter table {model.target} unset tblproperties ('{key}')")
    model.run(APPEND)
    assert model.rows() == [*FIRST, (3, "r3")]


def test_a_default_that_forgets_transactions_is_refused(session: SparkSession, tmp_path: Path) -> None:
    model = Model(session, path_table(tmp_path, "t"), {"s": make_source(session, path_table(tmp_path, "source"))})
    session.conf.set("spark.databricks.delta.properties.defaults.setTransactionRetentionDuration", "interval 1 day")
    with pytest.raises(ConsumptionRefused, match=r"would get delta\.setTransactionRetentionDuration"):
        model.run(CREATE)


def test_a_write_into_another_table_is_not_taken_for_a_consumption(model: Model, tmp_path: Path) -> None:
    add(model, 3)
    elsewhere = path_table(tmp_path, "elsewhere")
    model.spark.sql(f"create table {elsewhere} (id int, v string) using delta")
    with pytest.raises(ConsumptionRefused, match="committed nothing into"):
        model.run(f"insert into {elsewhere} select id, v from {{s}}")
    assert not model.plan().is_empty


# Sources


def test_a_missing_source_file_names_table_and_since_when(model: Model) -> None:
    add(model, 3)
    plan = model.plan()
    for file in Path(model.sources["s"][len("delta.`") : -1]).glob("*.parquet"):
        file.unlink()
    with pytest.raises(StaleSource) as caught:
        model.run(APPEND, plan)
    message = str(caught.value)
    assert f"table {model.sources['s']}: a file that the changes since version 1 (2" in message
    assert "stream s is stale" in message and "--full-refresh" in message and "VACUUM" in message
    assert confs(model.spark) == [None, None, None]


def test_a_missing_target_file_is_not_the_sources_fault(model: Model) -> None:
    model.spark.sql(f"update {model.sources['s']} set v = 'new' where id = 1")
    plan = model.plan()
    for file in Path(model.target[len("delta.`") : -1]).glob("*.parquet"):
        file.unlink()
    with pytest.raises(Exception, match="FILE_NOT_EXIST") as caught:
        model.run(MERGE, plan)
    assert not isinstance(caught.value, StaleSource)
