"""Partitions that a change touches, at both ends, of rows that are read at the end alone (docs/decisions/0040)."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.differentiate.delta import MINUS, PLUS, UNVERSIONED, Delta
from dbt.adapters.streamspark.changes.differentiate.differentiation import END, Differentiation
from dbt.adapters.streamspark.changes.differentiate.rows import rows
from dbt.adapters.streamspark.changes.query.algebra import Window

AT_END = "__at_end"


def from_end(d: Differentiation, node: Window, delta: Delta) -> Delta:
    """The operator over its input's rows in the partitions that `delta`, the minimal one of the input, touches: minus
    those of the start, plus those of the end. At the start there were those of the end that have not come, and those
    that went."""
    both = f"({_of_the_end(d, node, delta)} union all {_gone(node, delta)})"
    signs = (f"if({AT_END}, 1, -1) as __sign", f"if({AT_END}, '1', '0') as __ord", *UNVERSIONED)
    rows_of_both = d.timed(rows(node, [both], (AT_END,)))
    return Delta(f"(select {', '.join((*node.columns, '__id', *signs))} from ({rows_of_both}))")


def _of_the_end(d: Differentiation, node: Window, delta: Delta) -> str:
    """The rows of the end, those that have not come once for either end."""
    keys = d.keys([(delta, node.partition)])
    ends = f"explode(if(__came is null, array(false, true), array(true))) as {AT_END}"
    came = f"(select __id as __came from {delta.sql} q where __sign = {PLUS})"
    restricted = d.restricted(node.child, END, keys, node.partition)
    return f"select {_listed(node)}, {ends} from {restricted} q left join {came} on __id = __came"


def _gone(node: Window, delta: Delta) -> str:
    return f"select {_listed(node)}, false as {AT_END} from {delta.sql} q where __sign = {MINUS}"


def _listed(node: Window) -> str:
    return ", ".join((*node.child.columns, "__id"))
