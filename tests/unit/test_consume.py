"""The parts of a consumption that need no Spark."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone

import pytest

from dbt.adapters.streamspark import steps
from dbt.adapters.streamspark.changes.frontier import Frontier, TableVersion
from dbt.adapters.streamspark.changes.log import Commit
from dbt.adapters.streamspark.consume import user_metadata
from dbt.adapters.streamspark.consume.consumption import Consumption, StreamRead
from dbt.adapters.streamspark.consume.costs import Begun, Costs, Took, begun_from
from dbt.adapters.streamspark.consume.pins import Pins
from dbt.adapters.streamspark.errors import InvalidInterval, OffsetUnknown

NOW = datetime(2026, 11, 21, tzinfo=timezone.utc)


def at(version: int) -> Frontier:
    return Frontier.of(TableVersion("id1", "db.t", version, f"commit {version}"), timestamp=NOW)


def consumption(*reads: StreamRead, **options: object) -> Consumption:
    return Consumption("streamspark/model.p.m", "db.target", 4, "inv", reads, **options)  # type: ignore[arg-type]


def committed(plan: Consumption, txns: dict[str, int]) -> Commit:
    return Commit(9, NOW, {"userMetadata": plan.user_metadata()}, txns=txns)


def test_metadata_comes_back_as_it_was_written() -> None:
    kept = {"id-k": at(2), "id-o": at(1)}
    plan = consumption(
        StreamRead("s", "id-s", at(3), at(5), "x", query="q"), kept=kept, kept_queries={"id-k": "p"}, seen=7
    )
    found = user_metadata.read(committed(plan, {plan.consumer: 4}), plan.consumer)
    queries = {"id-s": "q", "id-k": "p"}
    entries = {"id-s": user_metadata.Entry("s", at(3)), **{key: user_metadata.Entry("", kept[key]) for key in kept}}
    assert found == user_metadata.Consumed(
        plan.consumer, 4, plan.attempt, {"id-s": at(5), **kept}, 7, queries, entries, "consume", plan.invocation
    )


def test_costs_are_carried_from_run_to_run() -> None:
    read, before = StreamRead("s", "id-s", at(3), at(5), "x"), Costs(Took(60.0, 1000))
    plan = consumption(read, begun=Begun(NOW.timestamp() - 40, 100, False, before))
    found = user_metadata.read(committed(plan, {plan.consumer: 4}), plan.consumer)
    assert found is not None and found.begun is not None
    costs = found.begun.ended(NOW)
    assert costs == Costs(Took(60.0, 1000, since=1), Took(40.0, 100))
    again = Begun(NOW.timestamp() + 5, 900, True, costs)
    assert again.ended(NOW) == Costs(Took(0.0, 900, 2), Took(40.0, 100, since=1))
    assert begun_from(again.to_dict()).before == costs


def test_initial_rows_have_no_from() -> None:
    body = json.loads(consumption(StreamRead("s", "id-s", None, at(5), "x")).user_metadata())
    assert body["streamspark"]["streams"]["id-s"]["from"] is None


@pytest.mark.parametrize("txns", [{}, {"streamspark/model.p.m": 3}, {"another": 4}])
def test_metadata_without_its_transaction_is_no_consumption(txns: dict[str, int]) -> None:
    plan = consumption(StreamRead("s", "id-s", at(3), at(5), "x"))
    assert user_metadata.read(committed(plan, txns), plan.consumer) is None


def test_metadata_of_another_consumer_is_not_ours() -> None:
    plan = consumption(StreamRead("s", "id-s", at(3), at(5), "x"))
    assert user_metadata.read(committed(plan, {plan.consumer: 4}), "streamspark/model.p.other") is None


def test_a_later_format_is_an_error() -> None:
    text = json.dumps({"streamspark": {"v": 2, "consumer": "c", "n": 1}})
    with pytest.raises(OffsetUnknown, match="upgrade dbt-streamspark"):
        user_metadata.read(Commit(1, NOW, {"userMetadata": text}, txns={"c": 1}), "c")


def test_a_rebuild_does_not_depend_on_what_was_in_the_target() -> None:
    body = json.loads(consumption(rebuild=True, seen=7).user_metadata())
    assert body["streamspark"]["seen"] is None


def test_every_attempt_has_its_own_id() -> None:
    assert consumption().attempt != consumption().attempt


def test_empty_when_no_stream_has_a_change() -> None:
    full, empty = (StreamRead("s", str(flag), at(3), at(5), "x", flag) for flag in (False, True))
    assert [consumption(*reads).is_empty for reads in ((), (empty,), (empty, full))] == [True, True, False]


def test_a_cursor_never_goes_back() -> None:
    assert StreamRead("s", "id-s", at(5), at(5), "x", True).is_empty
    with pytest.raises(
        InvalidInterval, match=r"stream s: the interval of db\.t would end at version 4, before its start 5"
    ):
        StreamRead("s", "id-s", at(5), at(4), "x")


def test_the_first_pin_wins_in_its_invocation() -> None:
    pins = Pins()
    assert (pins.pin("a", "t", 5), pins.pin("a", "t", 6), pins.pin("a", "u", 6), pins.pin("b", "t", 6)) == (5, 5, 6, 6)


def test_threads_get_one_pin() -> None:
    pins = Pins()
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda version: pins.pin("a", "t", version), range(200)))) == 1


def test_a_step_does_nothing_unless_armed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "_reached", Counter())
    steps.step("verify")
    monkeypatch.setenv(steps.ENVIRONMENT, "verify:raise:2")
    steps.step("verify")
    steps.step("done")
    with pytest.raises(steps.FaultInjected, match="at step verify"):
        steps.step("verify")
    steps.step("verify")


def test_a_callback_sees_the_steps_until_it_is_taken_off() -> None:
    seen: list[str] = []
    stop = steps.on_step(seen.append)
    steps.step("plan")
    stop()
    steps.step("verify")
    assert seen == ["plan"]
