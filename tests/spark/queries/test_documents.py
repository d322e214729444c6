"""The documents' own examples: the paper's listings on views and change formats, Snowflake's on joins, row by row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes import changes
from tests.spark.queries.history import History

Shown = tuple[Any, ...]


def rendered(history: History, query: str, start: int, end: int | None = None, **options: Any) -> list[Shown]:
    """(values…, action, is update, row id), as the paper prints them."""
    points = history.points
    frame = changes(
        history.session,
        query,
        points[start],
        points[-1 if end is None else end],
        metadata_columns="snowflake",
        **options,
    )
    return sorted((tuple(row) for row in frame.collect()), key=lambda row: (repr(row[:-3]), row[-3]))


def without_ids(rows: list[Shown]) -> list[Shown]:
    return [row[:-1] for row in rows]


def same_ids(rows: list[Shown]) -> list[list[Shown]]:
    """The rows (values and action) that share an id, of the ids that are shared."""
    by_id: dict[str, list[Shown]] = {}
    for row in rows:
        by_id.setdefault(row[-1], []).append(row[:-2])
    return sorted(group for group in by_id.values() if len(group) > 1)


@pytest.fixture(scope="module")
def people(spark: SparkSession) -> Iterator[History]:
    """Listings 1 and 2: a statement a commit."""
    history = History(spark, "paper_people")
    history.table("people", "id int, name string")
    history.run("insert into people values (1, 'Jeff'), (2, 'Donny')")
    yield history.marked(
        ["insert into people values (3, 'Walter'), (4, 'Maud'), (5, 'Uli')"],
        ["update people set name = 'Jeffrey' where id = 1"],
        ["update people set name = 'Maude' where id = 4"],
        ["delete from people where id in (2, 5)"],
    )
    history.drop()


class TestPeople:
    def test_listing_3_redo_log(self, people: History) -> None:
        found = rendered(people, "select * from people", 0, format="redo_log")
        assert without_ids(found) == [
            (1, "Jeff", "DELETE", True), (1, "Jeffrey", "INSERT", True), (2, "Donny", "DELETE", False),
            (3, "Walter", "INSERT", False), (4, "Maud", "DELETE", True), (4, "Maud", "INSERT", False),
            (4, "Maude", "INSERT", True), (5, "Uli", "DELETE", False), (5, "Uli", "INSERT", False),
        ]  # fmt: skip
        assert same_ids(found) == [
            [(1, "Jeff", "DELETE"), (1, "Jeffrey", "INSERT")],
            [(4, "Maud", "DELETE"), (4, "Maud", "INSERT"), (4, "Maude", "INSERT")],
            [(5, "Uli", "DELETE"), (5, "Uli", "INSERT")],
        ]

    def test_the_redo_log_is_in_the_order_of_the_commits(self, people: History) -> None:
        frame = changes(people.session, "people", people.points[0], people.points[-1], format="redo_log")
        rows = [(row["_commit_version"], row["_change_type"], row["id"]) for row in frame.collect()]
        assert [version for version, *_ in rows] == [2, 2, 2, 3, 3, 4, 4, 5, 5]
        assert sorted(rows) == [
            (2, "insert", 3), (2, "insert", 4), (2, "insert", 5), (3, "update_postimage", 1), (3, "update_preimage", 1),
            (4, "update_postimage", 4), (4, "update_preimage", 4), (5, "delete", 2), (5, "delete", 5),
        ]  # fmt: skip

    def test_listing_4_append_only(self, people: History) -> None:
        assert without_ids(rendered(people, "select * from people", 0, format="append_only")) == [
            (3, "Walter", "INSERT", False), (4, "Maud", "INSERT", False), (5, "Uli", "INSERT", False),
        ]  # fmt: skip

    def test_listing_5_minimum_delta(self, people: History) -> None:
        found = rendered(people, "people", 0)
        assert without_ids(found) == [
            (1, "Jeff", "DELETE", True), (1, "Jeffrey", "INSERT", True), (2, "Donny", "DELETE", False),
            (3, "Walter", "INSERT", False), (4, "Maude", "INSERT", False),
        ]  # fmt: skip
        assert same_ids(found) == [[(1, "Jeff", "DELETE"), (1, "Jeffrey", "INSERT")]]

    def test_listing_9_what_each_consumption_gets(self, people: History) -> None:
        """The first two consumptions, and the third, whose transaction began before the deletes."""
        query = "select name from people"
        assert [row[:-1] for row in rendered(people, query, 0, 1)] == [
            ("Maud", "INSERT", False),
            ("Uli", "INSERT", False),
            ("Walter", "INSERT", False),
        ]
        assert [row[:-1] for row in rendered(people, query, 1, 3)] == [
            ("Jeff", "DELETE", True), ("Jeffrey", "INSERT", True), ("Maud", "DELETE", True), ("Maude", "INSERT", True),
        ]  # fmt: skip

    def test_section_2_2_1_a_query_that_is_not_monotone_has_a_redo_log(self, people: History) -> None:
        found = changes(
            people.session, "select count(*) n from people", people.points[0], people.points[-1], format="redo_log"
        )
        rows = [(row["_commit_version"], row["_change_type"], row["n"]) for row in found.collect()]
        assert sorted(rows) == [
            (2, "update_postimage", 5),
            (2, "update_preimage", 2),
            (5, "update_postimage", 3),
            (5, "update_preimage", 5),
        ]

    def test_section_2_2_2_coercion(self, people: History) -> None:
        """An update into the filter is an insert, one out of it a delete; an excluded column changes nothing."""
        found = rendered(people, "select id, name from people where name <> 'Jeff' and name <> 'Maude'", 1, 3)
        assert without_ids(found) == [(1, "Jeffrey", "INSERT", False), (4, "Maud", "DELETE", False)]
        assert rendered(people, "select id from people", 1, 3) == []


@pytest.fixture(scope="module")
def owners(spark: SparkSession) -> Iterator[History]:
    """Listings 6 to 8."""
    history = History(spark, "paper_owners")
    history.table("people", "id int, name string")
    history.table("items", "id int, oid int, item string, desc string")
    history.run(
        "insert into people values (1, 'Jeffrey'), (2, 'Donny'), (3, 'Walter'), (4, 'Maude')",
        "insert into items values (11, 2, 'Ball', 'Bowling'), (12, 2, 'Surfboard', 'Yater'), (13, 1, 'Car', '1973'), "
        "(14, 1, 'Rug', 'Classic'), (15, 4, 'Autobahn', 'LP')",
    )
    history.view("owner_and_items", "select name, item from people join items on people.id = oid")
    yield history.marked(
        [
            "update items set item = 'Ford' where id = 13",
            "update items set oid = 4 where id = 14",
            "update items set desc = 'Techno' where id = 15",
            "delete from people where id = 2",
        ]
    )
    history.drop()


class TestOwners:
    def test_listing_7_the_view(self, owners: History) -> None:
        rows = sorted(tuple(row) for row in owners.at("select * from owner_and_items", 0))
        assert rows == [
            ("Donny", "Ball"),
            ("Donny", "Surfboard"),
            ("Jeffrey", "Car"),
            ("Jeffrey", "Rug"),
            ("Maude", "Autobahn"),
        ]

    @pytest.mark.parametrize(
        "query", ["owner_and_items", "select * from owner_and_items", "paper_owners.owner_and_items"]
    )
    def test_listing_8_changes_on_a_view(self, owners: History, query: str) -> None:
        found = rendered(owners, query, 0)
        assert without_ids(found) == [
            ("Donny", "Ball", "DELETE", False), ("Donny", "Surfboard", "DELETE", False), ("Jeffrey", "Car", "DELETE", True),
            ("Jeffrey", "Ford", "INSERT", True), ("Jeffrey", "Rug", "DELETE", False), ("Maude", "Rug", "INSERT", False),
        ]  # fmt: skip
        assert same_ids(found) == [[("Jeffrey", "Car", "DELETE"), ("Jeffrey", "Ford", "INSERT")]]


class TestJoinResultsBehavior:
    """Snowflake: orders x Δcustomers + Δorders x customers + Δorders x Δcustomers."""

    VIEW = "select * from orders natural join customers"

    @pytest.fixture
    def shop(self, spark: SparkSession) -> Iterator[History]:
        history = History(spark, "snowflake_joins")
        history.table("orders", "id int, order_name string")
        history.table("customers", "id int, customer_name string")
        history.view("ordersByCustomer", self.VIEW)
        history.run("insert into orders values (1, 'order1')", "insert into customers values (1, 'customer1')")
        yield history
        history.drop()

    def test_each_term(self, shop: History) -> None:
        shop.marked(["insert into orders values (1, 'order2')"], ["insert into customers values (1, 'customer2')"])
        view = "ordersByCustomer"
        assert rendered(shop, view, 0, 0) == []
        only_orders = (1, "order2", "customer1", "INSERT", False)
        assert without_ids(rendered(shop, view, 0, 1)) == [only_orders]
        found = rendered(shop, view, 0, 2)
        assert without_ids(found) == [
            (1, "order1", "customer2", "INSERT", False),
            only_orders,
            (1, "order2", "customer2", "INSERT", False),
        ]
        assert len({row[-1] for row in found}) == 3
        assert without_ids(rendered(shop, view, 1, 2)) == [without_ids(found)[0], without_ids(found)[2]]

    def test_append_only_is_the_same_where_rows_only_come(self, shop: History) -> None:
        shop.marked(["insert into orders values (1, 'order2')", "insert into customers values (1, 'customer2')"])
        standard, appended = (
            rendered(shop, "ordersByCustomer", 0, format=name) for name in ("min_delta", "append_only")
        )
        assert len(standard) == 3 and standard == appended

    def test_append_only_joins_inserts_with_the_tables_as_they_were(self, shop: History) -> None:
        """Deltas hold inserts only; the tables hold all that there was before the offset, updates included."""
        shop.run("update customers set customer_name = 'renamed before'")
        shop.marked(
            [
                "update customers set customer_name = 'renamed after'",
                "insert into orders values (1, 'order2'), (9, 'alone')",
                "insert into customers values (1, 'customer2')",
                "update orders set order_name = 'changed' where order_name = 'order2'",
                "delete from orders where order_name = 'order1'",
            ]
        )
        assert without_ids(rendered(shop, "ordersByCustomer", 0, format="append_only")) == [
            (1, "order1", "customer2", "INSERT", False),
            (1, "order2", "customer2", "INSERT", False),
            (1, "order2", "renamed before", "INSERT", False),
        ]
