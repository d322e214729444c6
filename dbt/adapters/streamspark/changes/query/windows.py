"""Window functions of a SELECT."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dbt.adapters.streamspark.changes.query.algebra import Item, Term, Window
from dbt.adapters.streamspark.changes.query.joins import JoinTree
from dbt.adapters.streamspark.changes.query.lowering import Lowering
from dbt.adapters.streamspark.changes.query.not_covered import Node, NotCovered
from dbt.adapters.streamspark.changes.query.scope import bound
from dbt.adapters.streamspark.changes.query.ties import with_ties_broken


def named_windows(select: exp.Select, node: Node) -> Node:
    """`node` with each `over w` written out."""
    named = {window.name.lower(): window for window in select.args.get("windows") or []}

    def written_out(part: Node) -> Node:
        if isinstance(part, exp.Query):
            return part.copy()  # a new node is not gone into
        if not isinstance(part, exp.Window) or not part.alias:
            return part
        definition = named.get(part.alias.lower())
        if definition is None or any(part.args.get(key) for key in ("partition_by", "order", "spec")):
            raise NotCovered("a window made of another one", part)
        keys = {key: definition.args.get(key) for key in ("partition_by", "order", "spec")}
        return exp.Window(this=part.this.copy(), over="OVER", **keys)

    return node.transform(written_out) if named else node


def lower_windows(low: Lowering, tree: JoinTree, bound_nodes: Sequence[Node], where: str) -> list[Node]:
    """The expressions with each window function a column, which `tree` has from now on; `where` is the place of the
    first of them in the SQL."""
    roots = [exp.Paren(this=node.copy()) for node in bound_nodes]
    names: dict[str, str] = {}
    items: list[Item] = []
    partitions: list[dict[str, Term]] = []
    places = _Places(low)
    for window in [found for root in roots for found in _outermost(root)]:
        key = window.sql("spark", comments=False)
        if key not in names:
            names[key] = low.names.new()
            items.append((names[key], Term.of(with_ties_broken(window, places.of))))
            partitions.append(_partition(window))
        window.replace(bound(names[key]))
    if items:
        tree.become(Window(tree.node, items, _common(partitions), places.items, place=where))
    return [root.this for root in roots]


class _Places:
    """Numbers of rows by which windows tell ties, each once."""

    def __init__(self, low: Lowering) -> None:
        self._low = low
        self._names: dict[str, str] = {}
        self.items: list[Item] = []

    def of(self, numbering: exp.Window) -> str:
        term = Term.of(numbering)
        if term.sql not in self._names:
            self._names[term.sql] = self._low.names.new()
            self.items.append((self._names[term.sql], term))
        return self._names[term.sql]


def _outermost(root: Node) -> list[exp.Window]:
    windows = list(root.find_all(exp.Window))
    if any(window.find_ancestor(exp.Window) for window in windows):
        raise NotCovered("a window inside a window", root.this)
    return windows


def _partition(window: exp.Window) -> dict[str, Term]:
    terms = [Term.of(node) for node in window.args.get("partition_by") or []]
    return {term.sql: term for term in terms if term.columns}


def _common(partitions: Sequence[dict[str, Term]]) -> list[Term]:
    """What every window is partitioned by: a row's windows all lie inside the rows that share it."""
    first, *others = partitions
    return [term for sql, term in first.items() if all(sql in other for other in others)]
