"""Every fault of mutations.py is caught by a trap and, when it is asked for, by random queries:

    STREAMSPARK_MUTATION_CASES=60 pytest tests/spark/queries/test_mutations.py -s

prints which random query, of at most so many, found each.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from random import Random

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.spark.queries import test_documents, test_keys, test_traps
from tests.spark.queries.grammar import Grammar
from tests.spark.queries.history import History
from tests.spark.queries.mutations import MUTATIONS, applied
from tests.spark.queries.programs import Program
from tests.spark.queries.test_property import SEED, made, outcome
from tests.spark.queries.traps import check_ledger

pytestmark = pytest.mark.long(minutes=2)

CASES = int(os.environ.get("STREAMSPARK_MUTATION_CASES", "0"))
HISTORIES = 2
Trap = Callable[[History], None]


def on_pair(trap: Callable[[test_traps.TestTwoTables, History], None]) -> Trap:
    def run(history: History) -> None:
        trap(test_traps.TestTwoTables(), test_traps.filled_pair(history))

    return run


def on_shop(history: History) -> None:
    history.table("orders", "id int, order_name string")
    history.table("customers", "id int, customer_name string")
    history.view("ordersByCustomer", test_documents.TestJoinResultsBehavior.VIEW)
    history.run("insert into orders values (1, 'order1')", "insert into customers values (1, 'customer1')")
    test_documents.TestJoinResultsBehavior().test_append_only_joins_inserts_with_the_tables_as_they_were(history)


def on_not_in(history: History) -> None:
    test_traps.with_nulls(history)
    check_ledger(history, "select * from l where l.k not in (select k from r)", list(range(7)))


TRAPS: dict[str, Trap] = {
    "a_join_term_is_dropped": on_pair(test_traps.TestTwoTables.test_no_phantom_when_both_rows_come),
    "a_join_meets_the_wrong_end": on_pair(test_traps.TestTwoTables.test_no_phantom_when_both_matching_rows_go),
    "join_terms_in_no_order": on_pair(test_traps.TestTwoTables.test_no_phantom_when_both_rows_come),
    "keys_forget_null": test_traps.TestOneTable().test_null_group_keys,
    "keys_of_new_rows_only": test_traps.TestOneTable().test_a_group_that_becomes_empty_and_comes_back,
    "the_second_image_has_the_wrong_sign": test_traps.TestOneTable().test_update_coercion_through_a_filter,
    "nothing_is_minimised": on_pair(test_traps.TestTwoTables.test_no_phantom_when_both_rows_come),
    "keys_of_any_types_are_compared": test_keys.test_keys_of_two_types,
    "not_in_is_taken_for_not_exists": on_not_in,
    "a_semi_join_looks_at_its_left_side_only": on_not_in,
    "an_outer_join_looks_at_its_left_side_only": on_pair(
        test_traps.TestTwoTables.test_a_preserved_row_loses_and_finds_its_match
    ),
    "union_ids_without_the_branch": on_pair(test_traps.TestTwoTables.test_a_table_united_and_joined_with_itself),
    "element_ids_without_the_place": test_traps.TestOneTable().test_duplicates_are_rows_of_their_own,
    "windows_share_the_first_partition": test_traps.TestOneTable().test_windows_of_two_partitions,
    "a_window_restricts_to_the_rows_that_changed": test_traps.TestOneTable().test_windows_of_two_partitions,
    "the_count_bug": on_pair(test_traps.TestTwoTables.test_changing_what_a_subquery_gives),
    "ids_of_groups_leave_nulls_out": test_traps.TestOneTable().test_groups_of_nulls_in_one_column_or_the_other,
    "the_one_row_of_no_group_by_stays": test_traps.TestOneTable().test_no_group_by_has_one_row_always,
    "both_ends_at_one_time": test_traps.TestTimeAndFunctions().test_clocks_are_bound_to_each_end,
    "appended_rows_meet_updated_ones": on_shop,
}
# What the grammar has no words for: clocks, keys of two types, two windows side by side, append-only.
BY_TRAPS_ONLY = (
    "keys_of_any_types_are_compared",
    "windows_share_the_first_partition",
    "both_ends_at_one_time",
    "appended_rows_meet_updated_ones",
)


def test_every_fault_has_a_trap() -> None:
    assert TRAPS.keys() == MUTATIONS.keys()


@pytest.fixture(scope="module")
def programs(spark: SparkSession) -> Iterator[list[Program]]:
    """Made once, before any fault."""
    found = [made(spark, number)[0] for number in range(HISTORIES if CASES else 0)]
    yield found
    for program in found:
        program.history.drop()


def in_trap(spark: SparkSession, name: str) -> bool:
    history = History(spark, "query_mutations")
    try:
        TRAPS[name](history)
    except (AssertionError, PySparkException, Py4JError):  # a wrong change set, or SQL that Spark refuses
        return True
    finally:
        history.drop()
    return False


def in_random_queries(programs: list[Program]) -> str:
    """The first that fails; empty for none."""
    for case in range(CASES):
        number = case % HISTORIES
        rng = Random(f"{SEED}/{number}/{case}")
        query = Grammar(rng, programs[number].tables).query(rng.choice((1, 2, 2, 3))).sql
        try:
            outcome(programs[number].history, query, rng)
        except (AssertionError, PySparkException, Py4JError) as error:
            return f"random query {case}: {type(error).__name__}"
    return ""


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_fault_is_caught(spark: SparkSession, programs: list[Program], name: str) -> None:
    with applied(name):
        trap = in_trap(spark, name)
        random = "" if name in BY_TRAPS_ONLY else in_random_queries(programs)
    print(f"\n{name:45} trap: {'caught' if trap else 'missed':8} {random or '-'}")
    assert trap
    assert random or name in BY_TRAPS_ONLY or not CASES
