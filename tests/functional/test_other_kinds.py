"""Tables that another model, or another configuration, has made: what would give wrong rows stops, and writes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.functional.projects import READY, SOURCES, World, operate, run, run_logged
from tests.functional.test_differential import model
from tests.functional.test_scd2 import applied, stream

ORDERS = "select id, amount, city from {{ source('raw', 'orders') }}"
CHANGES = "{{ config(materialized='changes', initial_rows=true) }} " + ORDERS
DIFFERENTIAL = model(ORDERS, "unique_key='id', refresh='incremental'")
APPENDED = "{{ config(materialized='incremental', alias='%s') }} select id, amount from {{ stream('all_orders') }}"
OTHERS = {
    "to_differential": (
        CHANGES,
        DIFFERENTIAL,
        "none that streamspark/model.test.to_differential has made and that is kept",
    ),
    "to_changes": (DIFFERENTIAL, CHANGES, "has made and that holds the changes of its query"),
    "from_a_stream": (
        APPENDED % "from_a_stream",
        DIFFERENTIAL,
        "none that streamspark/model.test.from_a_stream has made and that is kept",
    ),
    "taken_over": (DIFFERENTIAL, APPENDED % "taken_over", "begins with all rows of its base table, beside which those"),
    "copied": (
        "{{ config(materialized='table') }} " + ORDERS,
        applied("all_orders", "unique_key='id'"),
        "would stay where they are gone from the source",
    ),
    "no_history": (
        applied("all_orders", "unique_key='id', scd_type=2"),
        applied("all_orders", "unique_key='id'"),
        "its table is a history (valid_from, valid_to, is_current)",
    ),
    "not_soft": (
        applied("all_orders", "unique_key='id', soft_deletes=true"),
        applied("all_orders", "unique_key='id', sequence_by='_commit_version'"),
        "its table is a table of soft deletes (is_deleted)",
    ),
    "asking": (
        DIFFERENTIAL,
        model(ORDERS + " {% if is_incremental() %} where id > 1 {% endif %}", "unique_key='id'"),
        "asks is_incremental(). Take that part out",
    ),
    "itself": (
        DIFFERENTIAL,
        model(ORDERS + " union all select * from {{ this }} where id > 100", "unique_key='id'"),
        "its query reads its own table",
    ),
}


class TestOthers:
    prepare = (
        f"create table {{raw}}.orders (id int, amount int, city string) using delta {READY}",
        "insert into {raw}.orders values (1, 5, 'Ulm'), (2, 7, 'Bonn'), (3, 9, null)",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        before = {f"{name}.sql": before for name, (before, _, _) in OTHERS.items()}
        return {"sources.yml": SOURCES, "all_orders.sql": stream("orders"), **before}

    def test_each_stops_and_writes_nothing(self, world: World) -> None:
        run("run")
        versions = {name: world.log(name).version for name in OTHERS}
        for name, (_, after, _) in OTHERS.items():
            world.model(f"{name}.sql", after)
        world.sql("delete from {raw}.orders where id = 1", "insert into {raw}.orders values (4, 1, 'Kiel')")
        results = run("run", passes=False)
        for name, (_, _, said) in OTHERS.items():
            assert results[name].status == "error" and said in str(results[name].message), (name, results[name].message)
            assert world.log(name).version == versions[name]
        assert "model.test.taken_over has not taken from a stream" in str(results["taken_over"].message)

    def test_the_model_before_goes_on(self, world: World) -> None:
        for name, (before, _, _) in OTHERS.items():
            world.model(f"{name}.sql", before)
        run("run")
        assert world.rows("select id from {dbt}.to_changes") == [(2,), (3,), (4,)]
        assert world.rows("select id from {dbt}.no_history where is_current") == [(2,), (3,), (4,)]
        assert world.rows("select id from {dbt}.not_soft where is_deleted") == [(1,)]

    def test_a_renamed_model_does_not_append_all_once_more(self, world: World) -> None:
        world.model("from_a_stream.sql", "{{ config(enabled=false) }} select 1 as one")
        world.model("all_rows.sql", APPENDED % "from_a_stream")
        results = run("run", "--select", "all_rows", passes=False)
        said = (
            "has rows that streamspark/model.test.from_a_stream took from a stream that streamspark/model.test.all_rows"
        )
        assert said in str(results["all_rows"].message)


class TestEmptyTexts:
    """Delta keeps an empty text in a partition column as NULL, where no key finds it."""

    prepare = TestOthers.prepare
    KEYED = "unique_key=['id', 'city'], partition_by='city', refresh='incremental'"

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        summed = ORDERS.replace("id, amount, city", "city, sum(amount) as amount") + " group by city"
        return {
            "sources.yml": SOURCES,
            "all_orders.sql": stream("orders"),
            "keyed.sql": model(ORDERS, self.KEYED),
            "summed.sql": model(summed, "unique_key='city', partition_by=['city'], refresh='incremental'"),
            "applied.sql": applied("all_orders", "unique_key=['id', 'city'], partition_by='city'"),
            "by_id.sql": model(ORDERS, "partition_by='city', refresh='incremental'"),
        }

    def test_such_a_row_is_refused_where_rows_are_told_apart_by_it(self, world: World) -> None:
        run("run")
        world.sql("insert into {raw}.orders values (4, 1, '')")
        results = run("run", passes=False)
        for name in ("keyed", "summed", "applied"):
            assert "a row has an empty text in city, by which the table is partitioned" in str(results[name].message)
        assert results["by_id"].status == "success"
        world.sql("update {raw}.orders set city = 'Kiel' where id = 4")
        run("run")
        for name in ("keyed", "applied", "by_id"):
            assert world.rows(f"select id, city from {{dbt}}.{name} where id > 2") == [(3, None), (4, "Kiel")]
        assert world.rows("select amount from {dbt}.summed where city = 'Kiel' or city is null") == [(1,), (9,)]


class TestStreamMadeAnew:
    """Its consumers would begin with all rows once more, beside those that they have."""

    prepare = (
        f"create table {{raw}}.orders (id int, amount int) using delta {READY}",
        "insert into {raw}.orders values (1, 5), (2, 7), (3, 9)",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        log = "{{ config(materialized='incremental') }} select id, _change_type from {{ stream('all_orders') }}"
        return {
            "sources.yml": SOURCES,
            "all_orders.sql": stream("orders"),
            "log.sql": log,
            "dim.sql": applied("all_orders", "unique_key='id'"),
        }

    def test_consumers_that_keep_rows_stop(self, world: World) -> None:
        run("run")
        run("run", "--full-refresh", "--select", "all_orders")
        world.sql("delete from {raw}.orders where id = 3")
        versions = {name: world.log(name).version for name in ("log", "dim")}
        results = run("run", passes=False)
        for name, version in versions.items():
            assert "before that stream was made anew" in str(results[name].message), results[name].message
            assert world.log(name).version == version
        run("run", "--full-refresh", "--select", "log", "dim")
        world.sql("insert into {raw}.orders values (4, 1)")
        run("run")
        assert world.rows("log") == [(1, "insert"), (2, "insert"), (4, "insert")]
        assert world.rows("dim") == [(1, 5), (2, 7), (4, 1)]


class TestOtherNames:
    """A consumer and a stream that are called otherwise, while changes are to be read."""

    prepare = TestStreamMadeAnew.prepare
    LOG = "{{ config(materialized='incremental', alias='log') }} select id, _change_type from {{ stream('later') }}"
    STREAM = "{{ config(materialized='stream'%s) }} select * from {{ source('raw', 'orders') }}"

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"sources.yml": SOURCES, "later.sql": self.STREAM % "", "log.sql": self.LOG}

    def test_changes_are_not_lost_unsaid_nor_read_twice(self, world: World) -> None:
        run("run")
        world.sql("insert into {raw}.orders values (4, 1)")
        run("run")
        world.model("log.sql", "{{ config(alias='unused') }} select 1 as x")
        world.model("renamed.sql", self.LOG)
        results = run("run", "--select", "renamed", passes=False)
        assert "has rows that streamspark/model.test.log took from a stream" in str(results["renamed"].message)
        assert "go on with consumer: model.test.log in its config" in str(results["renamed"].message)
        world.model("log.sql", self.LOG)
        (Path(world.project.project_root) / "models" / "renamed.sql").unlink()
        world.sql("insert into {raw}.orders values (5, 1)")
        world.model("later.sql", self.STREAM % ", alias='elsewhere'")
        _, log = run_logged("run")
        assert (
            "log has " in log and f"{world.raw}.orders up to version 2, by a stream that its model reads no more" in log
        )
        assert "begins at version 3: the changes between are left out" in log
        world.model("later.sql", self.STREAM % ", alias='elsewhere', at={'version': 2}")
        run("run", "--full-refresh", "--select", "later")
        _, log = run_logged("run")
        assert "left out" not in log
        assert world.rows("log") == [(4, "insert"), (5, "insert")]


class TestAnotherName:
    prepare = TestStreamMadeAnew.prepare
    LOG = "{{ config(materialized='incremental', alias='log'%s) }} select id from {{ stream('later') }}"

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"sources.yml": SOURCES, "later.sql": TestOtherNames.STREAM % "", "log.sql": self.LOG % ""}

    def test_a_renamed_consumer_goes_on_by_the_name_that_it_had(self, world: World) -> None:
        run("run")
        world.sql("insert into {raw}.orders values (7, 1)")
        run("run")
        world.sql("insert into {raw}.orders values (8, 1)")
        world.model("renamed.sql", self.LOG % ", consumer='model.test.log'")
        world.model("log.sql", (self.LOG % "").replace("'log'", "'another'"))
        results = run("run", "--threads", "1", passes=False)
        assert "would consume as one, streamspark/model.test.log" in str(results["renamed"].message)
        (Path(world.project.project_root) / "models" / "log.sql").unlink()
        run("run")
        assert world.rows("log") == [(7,), (8,)]
        assert operate("consumer_history", model="renamed")[0]["history"][0]["consumption"] == 3
        assert operate("stream_backlog", stream="later", consumer="renamed")[0]["versions"] == 0
