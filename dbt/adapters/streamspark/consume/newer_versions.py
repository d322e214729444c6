"""SCD type 2 where all that has come is newer than what the target holds, and each key changed once: the usual case.

Then no event has to be put between others: of a key only the version that is open matters, which is closed, changed or
followed by another. What versions.py makes of any events it makes of these too, by windows over whole histories.
"""

from __future__ import annotations

from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.consume.columns import struct
from dbt.adapters.streamspark.consume.held_rows import held_data, held_key, held_rows
from dbt.adapters.streamspark.consume.key_events import Images
from dbt.adapters.streamspark.consume.merge import NOT_SO_SIMPLE
from dbt.adapters.streamspark.consume.scd import Scd
from dbt.adapters.streamspark.literals import literal

_SIMPLE = (
    "news <= 1 and olds <= 1 and one_commit and odd = 0 and open <= 1 and (begins is null or begins = last) "
    "and coalesce(first_at > last, true) and coalesce(first_at > ended, true)"
)


def newer_versions(scd: Scd, target: str) -> str:
    """A relation like Versions' actions, which fails with NOT_SO_SIMPLE where the case is not the usual one; empty for
    configurations in which it is not looked for."""
    config = scd.config
    if scd.late or config.partial or config.soft_deletes or config.apply_as_deletes or config.apply_as_truncates:
        return ""
    simple = f"if({_SIMPLE}, true, raise_error({literal(NOT_SO_SIMPLE)}))"  # asked of keys of which nothing comes too
    return (
        "(select key, action.begins, false as stale, action.ends, true as up, action.shown, "
        f"cast(null as string) as memory from (select * from {_by_key(scd, target)} where {simple}) "
        f"lateral view explode({_actions(scd)}) exploded as action)"
    )


def _actions(scd: Scd) -> str:
    """The versions of a key that are written: the one that was open, ended; the new one; or the one that stays open."""
    endless = f"cast(null as {scd.sequence_type})"
    closed = "named_struct('begins', begins, 'ends', at, 'shown', held)"
    kept, opened = (f"named_struct('begins', {start}, 'ends', {endless}, 'shown', new)" for start in ("begins", "at"))
    return (
        f"case when news = 0 then if(begins is null, array(), array({closed})) "
        f"when begins is null then array({opened}) "
        f"when {_differs(scd)} then array({closed}, {opened}) else array({kept}) end"
    )


def _differs(scd: Scd) -> str:
    """Whether the new image begins a version."""
    held, new = (struct((c, c.facts(c.of(image))) for c in scd.tracked) for image in ("held", "new"))
    return f"not ({held} <=> {new})" if scd.tracked else "false"


def _by_key(scd: Scd, target: str) -> str:
    """A row for each key that the change set is about. Of the change set: `news` and `olds`, how many new and old
    images, `first_at`, the first place of one, and `at`, that of the new one, whose data is `new`. Of the target: how
    many versions have no end (`open`) or no beginning (`odd`), `begins`, where the open one does, whose data is `held`,
    and `last` and `ended`, where the last one begins and ends."""
    return (
        "(select key, count_if(is_new) as news, count_if(not is_new) as olds, "
        "min(commit) <=> max(commit) as one_commit, min(at) as first_at, "
        "coalesce(max(at) filter (where is_new), max(at)) as at, first(data) filter (where is_new) as new, "
        "count_if(is_new is null and begins is null) as odd, count_if(is_new is null and ends is null) as open, "
        "max(begins) filter (where ends is null) as begins, "
        "first(data) filter (where is_new is null and ends is null) as held, "
        f"max(begins) as last, max(ends) as ended from {_rows(scd, target)} group by key)"
    )


def _rows(scd: Scd, target: str) -> str:
    """The images, and the target's versions of their keys, of which `is_new` is NULL."""
    images, order = Images(scd), scd.sequence_type
    none = f"cast(null as {order})"
    begins, ends = (f"t.{quoted(name)}" for name in (scd.config.valid_from, scd.config.valid_to))
    return (
        f"(select key, seq as at, commit, is_new, data, {none} as begins, {none} as ends from {images.rows()} "
        f"union all select {held_key(scd)}, {none}, null, null, {held_data(scd)}, {begins}, {ends} "
        f"from {held_rows(scd, target, images.keys())})"
    )
