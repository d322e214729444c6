"""The minimal difference of two sets of rows that carry ids: the top of every MINIMIZE plan.

The inputs are relations with `__row` (id), `__rcv` (commit that wrote this image, NULL where unknown) and `__data`
(struct of the columns); the old one has `__gone` (commit that took the row away) as well. Paper, sections 2.1, 3.2.3.
"""

from __future__ import annotations

from pyspark.sql.types import StructType

from dbt.adapters.streamspark.changes.equal_values import comparable

_ROWS = "array(if(o.__row is null, null, {old}), if(n.__row is null, null, {new}))"
_OLD = (
    "named_struct('__type', if(n.__row is null, 'delete', 'update_preimage'), "
    "'__version', coalesce({changed}, o.__gone), "
    "'__image', o.__rcv, '__row', cast(o.__row as string), '__data', o.__data)"
)
_NEW = (
    "named_struct('__type', if(o.__row is null, 'insert', 'update_postimage'), "
    "'__version', {changed}, '__image', n.__rcv, '__row', cast(n.__row as string), '__data', n.__data)"
)


def minimise(old: str, new: str, data: StructType, changed: str = "n.__rcv") -> str:
    """SQL that pairs the rows of relation `old` and relation `new` by id and returns internal change rows.

    Pairs of one image, and pairs of equal values, are no change. `changed` is the SQL of the version in which
    a row of `new` (alias n) came to be. Returns columns `__type`, `__version`, `__image`, `__row`, `__data`.
    """
    same = f"{comparable('o.__data', data)} <=> {comparable('n.__data', data)}"
    rows = _ROWS.format(old=_OLD.format(changed=changed), new=_NEW.format(changed=changed))
    return (
        f"select inline(filter({rows}, r -> r is not null)) from {old} o full outer join {new} n "
        f"on o.__row = n.__row where not (o.__row is not null and n.__row is not null "
        f"and (o.__rcv <=> n.__rcv or {same}))"
    )
