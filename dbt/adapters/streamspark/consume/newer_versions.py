"""SCD type 2 where all that has come is newer than what the target holds, and each key changed once: the usual case.

Then no event has to be put between others: of a key only the version that is open matters, which is closed, changed or
followed by another. What versions.py makes of any events it makes of these too, by windows over whole histories.
"""

from __future__ import annotations

from collections.abc import Iterator

from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.consume.key_events import Images
from dbt.adapters.streamspark.consume.merge import NOT_SO_SIMPLE, Merge, When
from dbt.adapters.streamspark.consume.scd import Scd
from dbt.adapters.streamspark.literals import literal

_SIMPLE = "news <= 1 and olds <= 1 and one_commit"


def newer_versions(scd: Scd, target: str) -> Merge | None:
    """Merge.simpler for Versions; None for configurations in which the case is not looked for."""
    config = scd.config
    if scd.late or config.partial or config.soft_deletes or config.apply_as_deletes or config.apply_as_truncates:
        return None
    keys = {key.name: key.of("s.key") for key in scd.stored_keys}
    first = {
        config.valid_from: "s.at",
        config.valid_to: f"cast(null as {scd.sequence_type})",
        config.is_current: "true",
    }
    added = When("s.news = 1", {**keys, **_new(scd), **first})
    return Merge(target, _by_key(scd), list(keys.items()), list(_matched(scd)), added, _open(scd))


def _matched(scd: Scd) -> Iterator[When]:
    """What becomes of the version that is open: ended, whether another begins or not, or the same with other values in
    columns that are not tracked."""
    ended = {scd.config.valid_to: "s.at", scd.config.is_current: "false"}
    yield When("s.news = 0", ended)
    tracked = {column.name for column in scd.tracked}
    differs = {c.name: f"not ({c.facts(c.of('t'))} <=> {c.facts(c.of('s.new'))})" for c in scd.values}
    begins = [test for name, test in differs.items() if name in tracked]
    changes = [test for name, test in differs.items() if name not in tracked]
    if begins:
        yield When(f"({' or '.join(begins)})", ended, adds=True)
    if changes:
        yield When(f"({' or '.join(changes)})", _new(scd))


def _new(scd: Scd) -> dict[str, str]:
    return {column.name: column.of("s.new") for column in scd.values}


def _open(scd: Scd) -> str:
    """Whether a version of the key is open. Asked of all of them, so that it also sees whether they are all older."""
    begins, ends = (f"t.{quoted(name)}" for name in (scd.config.valid_from, scd.config.valid_to))
    older = f"{begins} < s.first_at and coalesce({ends} < s.first_at, true)"
    return f"if({older}, {ends} is null, {_refused()})"


def _by_key(scd: Scd) -> str:
    """A row for each key that the change set is about: `news`, how many new images, `first_at`, the first place of an
    image, and `at`, that of the new one, whose data is `new`."""
    return (
        f"(select * from (select key, count_if(is_new) as news, count_if(not is_new) as olds, "
        "min(commit) <=> max(commit) as one_commit, min(seq) as first_at, "
        "coalesce(max(seq) filter (where is_new), max(seq)) as at, first(data) filter (where is_new) as new "
        f"from {Images(scd).rows()} group by key) where if({_SIMPLE}, true, {_refused()}))"
    )


def _refused() -> str:
    return f"cast(raise_error({literal(NOT_SO_SIMPLE)}) as boolean)"
