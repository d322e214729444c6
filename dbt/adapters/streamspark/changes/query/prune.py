"""Columns that nobody reads are taken out of the tree, so that a leaf reads what the query uses and no more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import singledispatch

from dbt.adapters.streamspark.changes.query import algebra

Wanted = Iterator[tuple[algebra.Operator, set[str]]]


def prune(root: algebra.Operator, used: Iterable[str]) -> None:
    """Leave the operators, in place, with the columns that `used` (columns of `root`) and they themselves need. One
    operator may be the input of several."""
    needs: dict[int, set[str]] = defaultdict(set)
    _collect(root, set(used), needs)
    for node in root.walk():
        _trim(node, needs[id(node)])


def _collect(node: algebra.Operator, used: set[str], needs: dict[int, set[str]]) -> None:
    needs[id(node)] |= used
    for child, wanted in _wanted(node, used):
        _collect(child, wanted & set(child.columns), needs)


@singledispatch
def _wanted(node: algebra.Operator, used: set[str]) -> Wanted:
    """What the inputs have to give for the columns `used` of `node`: its own expressions stay as they are."""
    columns = used.union(*(term.columns for term in node.terms))
    yield from ((child, columns) for child in node.inputs)


@_wanted.register
def _(node: algebra.Project, used: set[str]) -> Wanted:
    yield node.child, set().union(*(term.columns for name, term in node.items if name in used))


@_wanted.register
def _(node: algebra.Aggregate, used: set[str]) -> Wanted:
    aggregates = [item for item in node.aggregates if item[0] in used]
    yield node.child, set().union(*(term.columns for _, term in (*node.keys, *aggregates)))


@_wanted.register
def _(node: algebra.Window, used: set[str]) -> Wanted:
    terms = [term for name, term in node.items if name in used]
    yield node.child, used.union(*(term.columns for term in (*terms, *node.partition)))


@_wanted.register
def _(node: algebra.UnionAll, used: set[str]) -> Wanted:
    for child, picks in zip(node.children, node.picks, strict=True):
        yield child, {pick for pick, name in zip(picks, node.names, strict=True) if name in used}


@singledispatch
def _trim(node: algebra.Operator, used: set[str]) -> None:
    """Most operators give what their inputs give."""


@_trim.register
def _(node: algebra.Scan, used: set[str]) -> None:
    node.names = {column: name for column, name in node.names.items() if name in used}


@_trim.register
def _(node: algebra.Project, used: set[str]) -> None:
    node.items = [item for item in node.items if item[0] in used]


@_trim.register
def _(node: algebra.Aggregate, used: set[str]) -> None:
    node.aggregates = [item for item in node.aggregates if item[0] in used]


@_trim.register
def _(node: algebra.Window, used: set[str]) -> None:
    node.items = [item for item in node.items if item[0] in used]
    read = set().union(*(term.columns for _, term in node.items))
    node.places = [item for item in node.places if item[0] in read]


@_trim.register
def _(node: algebra.UnionAll, used: set[str]) -> None:
    places = [place for place, name in enumerate(node.names) if name in used]
    node.names = [node.names[place] for place in places]
    node.picks = [[picks[place] for place in places] for picks in node.picks]
