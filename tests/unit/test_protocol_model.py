"""The protocol of consume/, in a model that is searched through whole: it is safe, and each of its guards is needed."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.model.guards import COMFORT, NEEDED
from tests.model.search import Found
from tests.model.search import search as searched
from tests.model.world import World, first_world

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "protocol-model.md"
SMALL = first_world(starts=3, commits=1, restores=1, cleanups=1)
WORLDS = {
    "restores and cleanup": SMALL,
    "two restores": first_world(starts=3, commits=1, restores=2),
    "a target replaced": first_world(starts=2, commits=1, restores=1, cleanups=1, replaces=1),
    "other writers": first_world(starts=3, commits=1, cleanups=1, others=1),
    "four runs": first_world(starts=4, commits=2),
}
# the smallest worlds in which it goes wrong
BREAKS = {"replaced": first_world(2, replaces=1), "log end": first_world(2, cleanups=1, others=1)}
BREAKS["txn kept"] = BREAKS["log end"]


@cache
def search(world: World, without: str = "") -> Found:
    return searched(world, without)


@pytest.mark.parametrize("world", WORLDS.values(), ids=list(WORLDS))
def test_the_protocol_is_safe(world: World) -> None:
    found = search(world)
    assert found.wrong == "", str(found)
    assert found.worlds > 5_000


@pytest.mark.parametrize("guard", NEEDED)
def test_without_it_a_change_is_lost_or_doubled(guard: str) -> None:
    found = search(BREAKS.get(guard, SMALL), guard)
    print(f"\nwithout {guard}:\n{found}")
    assert found.wrong and found.trace


@pytest.mark.parametrize("guard", COMFORT)
def test_without_it_nothing_is_lost_or_doubled(guard: str) -> None:
    assert search(SMALL, guard).wrong == ""


def test_numbers_above_the_restored_one_keep_runs_from_being_refused() -> None:
    assert "ConsumptionRefused" not in search(SMALL).stops
    assert "ConsumptionRefused" in search(SMALL, "above").stops


@pytest.mark.parametrize("guard", ["sequence", "verify"])
def test_the_page_shows_what_is_found(guard: str) -> None:
    assert f"```\n{search(SMALL, guard)}\n```" in PAGE.read_text()


def test_the_page_names_every_guard_and_where_it_is() -> None:
    rows = re.findall(r"^\| `(.+?)` \| (.+?) \| `(.+?)`", PAGE.read_text(), re.MULTILINE)
    assert {name: (what, where) for name, what, where in rows} == NEEDED | COMFORT
