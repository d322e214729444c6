"""The derivative of a query over an interval (paper, section 3.2): each operator's delta made of those of its inputs.

`RULES` is the contents page. Every rule needs the two ends only, no stored state, and gives signed rows (delta.py)
that are minimised once, at the top, where they have both signs.
"""

from collections.abc import Mapping
from typing import Any

from dbt.adapters.streamspark.changes.differentiate.aggregate import aggregate
from dbt.adapters.streamspark.changes.differentiate.inner_join import inner_join
from dbt.adapters.streamspark.changes.differentiate.linear import linear
from dbt.adapters.streamspark.changes.differentiate.opaque import opaque
from dbt.adapters.streamspark.changes.differentiate.outer_join import outer_join
from dbt.adapters.streamspark.changes.differentiate.scan import scan
from dbt.adapters.streamspark.changes.differentiate.semi_join import semi_join
from dbt.adapters.streamspark.changes.differentiate.top_k import top_k
from dbt.adapters.streamspark.changes.differentiate.union_all import union_all
from dbt.adapters.streamspark.changes.differentiate.window import window
from dbt.adapters.streamspark.changes.query import algebra

RULES: Mapping[type[algebra.Operator], Any] = {
    algebra.Scan: scan,
    algebra.Project: linear,
    algebra.Filter: linear,
    algebra.Generate: linear,
    algebra.UnionAll: union_all,
    algebra.Join: inner_join,
    algebra.OuterJoin: outer_join,
    algebra.SemiJoin: semi_join,
    algebra.Aggregate: aggregate,
    algebra.Window: window,
    algebra.TopK: top_k,
    algebra.Opaque: opaque,
}
