"""A base table: its leaf reader knows (docs/concepts/readers.md; paper, section 3.2.2)."""

from __future__ import annotations

from dbt.adapters.streamspark.changes.differentiate.delta import Delta
from dbt.adapters.streamspark.changes.differentiate.differentiation import Differentiation
from dbt.adapters.streamspark.changes.file_changes import ADDED_ONLY, INITIAL_ROWS, REMOVED_ONLY
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.changes.query.algebra import Scan

_IS_NEW = "__type in ('insert', 'update_postimage')"


def scan(d: Differentiation, node: Scan) -> Delta:
    """The table's own changes; both halves of an update are rows of one id. Where it is read more than once, they may
    be equal in the columns of this scan."""
    leaf = d.leaves[node.table.token]
    columns = [f"__data.{quoted(column)} as {name}" for column, name in node.names.items()]
    signs = [f"if({_IS_NEW}, 1, -1) as __sign", f"if({_IS_NEW}, '1', '0') as __ord", "__version", "__image"]
    listed = ", ".join((*columns, "__row as __id", *signs))
    shape = leaf.shape_of(d.appended)
    view = d.changes_of(node.table)
    minus, plus = shape not in (ADDED_ONLY, INITIAL_ROWS), shape != REMOVED_ONLY
    return Delta(f"(select {listed} from {view})", minus, plus, net=leaf.scans == 1)
