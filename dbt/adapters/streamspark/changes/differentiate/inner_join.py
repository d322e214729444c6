"""Inner and cross joins: a term for each input that changed (paper, section 3.2.1).

Δ(Q ⋈ R) = Q0 ⋈ ΔR + ΔQ ⋈ R1, folded left: in the term of one input, those before it are as at the start and those
after it as at the end. The last input's term is thus the first step on the way from start to end.
"""

from __future__ import annotations

from dbt.adapters.streamspark.changes.differentiate.delta import Delta, union
from dbt.adapters.streamspark.changes.differentiate.differentiation import START, Differentiation
from dbt.adapters.streamspark.changes.differentiate.equalities import in_one_type
from dbt.adapters.streamspark.changes.differentiate.rows import joined
from dbt.adapters.streamspark.changes.query.algebra import Join


def inner_join(d: Differentiation, node: Join) -> Delta | None:
    """Terms of inputs that did not change are left out."""
    terms = []
    for place, child in enumerate(node.children):
        delta = d.kept(child)
        if delta is not None:
            terms.append(_term(d, node, place, delta))
    return union(node.columns, terms)


def _term(d: Differentiation, node: Join, place: int, delta: Delta) -> Delta:
    numbers = range(len(node.children))
    inputs = [delta.sql if number == place else _met(d, node, place, number, delta) for number in numbers]
    step = f"concat('{len(node.children) - place:02d}', q{place}.__ord) as __ord"
    sql = joined(
        node, inputs, first=place, carried=[f"q{place}.__sign", step, f"q{place}.__version", f"q{place}.__image"]
    )
    return Delta(f"({sql})", delta.minus, delta.plus)


def _met(d: Differentiation, node: Join, place: int, number: int, delta: Delta) -> str:
    """The rows of another input that the delta of input `place` may meet."""
    child = node.children[number]
    relation = d.at(child, START) if number < place else d.after(child)
    mine = node.children[place]
    pairs = [pair for c in node.conditions if (pair := c.pair(mine.columns, child.columns)) is not None]
    own, others = in_one_type(d, mine, child, pairs)
    return d.met(relation, others, delta, own)
