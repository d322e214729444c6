"""Inner and cross joins: a term for each input that changed (paper, section 3.2.1).

Δ(Q ⋈ R) = Q0 ⋈ ΔR + ΔQ ⋈ R1, folded left: in the term of one input, those before it are as at the start and those
after it as at the end. The last input's term is thus the first step on the way from start to end.
"""

from __future__ import annotations

from dbt.adapters.streamspark.changes.differentiate.delta import Delta, union
from dbt.adapters.streamspark.changes.differentiate.differentiation import START, Differentiation
from dbt.adapters.streamspark.changes.differentiate.stepwise import Step, stepwise
from dbt.adapters.streamspark.changes.query.algebra import Join


def inner_join(d: Differentiation, node: Join) -> Delta | None:
    """Terms of inputs that did not change are left out."""
    terms = []
    for place, child in enumerate(node.children):
        delta = d.kept(child)
        if delta is not None:
            terms.append(_term(d, node, place, delta))
    return union(node.columns, [term for term in terms if term is not None])


def _term(d: Differentiation, node: Join, place: int, delta: Delta) -> Delta | None:
    before, after = node.children[:place], node.children[place + 1 :]
    relations = [*(d.at(child, START) for child in before), delta.sql, *(d.after(child) for child in after)]
    order = f"concat('{len(node.children) - place:02d}', __ord) as __ord"
    ids = [(number, "__id") for number in range(len(node.children))]
    sql = stepwise(d, Step(node, place, delta, relations, ids, ["__sign", order, "__version", "__image"]))
    return None if sql is None else Delta(f"({sql})", delta.minus, delta.plus)
