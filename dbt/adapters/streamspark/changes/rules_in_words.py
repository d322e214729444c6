"""What `explain` says of the rule of each operator."""

from __future__ import annotations

from collections.abc import Callable

from dbt.adapters.streamspark.changes.differentiate.differentiation import Differentiation
from dbt.adapters.streamspark.changes.fallbacks import reasons
from dbt.adapters.streamspark.changes.query import algebra

WHOLE = "no rule: all of it at both ends, compared"
CLOCK = "tells the time: all of it at both ends, each at its own time, compared"
ONE_ROW = "its one row at both ends, compared"
NOT_IN = (
    "rows under the keys that a change touches, and rows without a key, at both ends; all rows at both ends where the "
    "right side has a NULL"
)
RULES_IN_WORDS: dict[type[algebra.Operator], str] = {
    algebra.Scan: "the table's own changes",
    algebra.Constant: "never changes",
    algebra.Project: "row by row, over its input's changes",
    algebra.Filter: "row by row, over its input's changes",
    algebra.Generate: "row by row, over its input's changes; elements that stay cancel out",
    algebra.UnionAll: "the changes of its inputs, tagged by branch",
    algebra.Join: "a term for each input that changed: inputs before it at the start, those after it at the end",
    algebra.OuterJoin: "rows under the keys that a change touches, joined at both ends",
    algebra.SemiJoin: "rows under the keys that a change touches, at both ends",
    algebra.Aggregate: "groups that a change touches, at both ends",
    algebra.Window: "partitions that a change touches, at both ends",
    algebra.TopK: "the first rows at both ends, compared",
}
Special = Callable[[Differentiation, algebra.Operator], bool]
# Asked in this order, before an operator's own words.
SPECIAL: dict[str, Special] = {
    ONE_ROW: lambda d, node: isinstance(node, algebra.Aggregate) and not node.keys,
    WHOLE: lambda d, node: any(reasons(node)),
    CLOCK: lambda d, node: d.has_two_times(node),
    NOT_IN: lambda d, node: isinstance(node, algebra.SemiJoin) and bool(node.members) and not node.pairs,
}


def rule_in_words(d: Differentiation, node: algebra.Operator) -> str:
    special = next((words for words, applies in SPECIAL.items() if applies(d, node)), None)
    if special is not None:
        return special
    words = RULES_IN_WORDS[type(node)]
    return f"{words}, {d.leaves[node.table.token].shape_of(d.appended)}" if isinstance(node, algebra.Scan) else words
