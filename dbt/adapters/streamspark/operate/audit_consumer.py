"""`audit_consumer`: whether a target is what its query gives at its offset, row by row, both ways."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.streamspark.consume.change_checks import audit
from dbt.adapters.streamspark.consume.surplus import surplus
from dbt.adapters.streamspark.operate.scope import Scope
from dbt.adapters.streamspark.operate.shown import Shown


@dataclass(frozen=True)
class Named:
    """A table by its name."""

    name: str

    def render(self) -> str:
        return self.name

    def __str__(self) -> str:
        return self.name


def audit_consumer(scope: Scope, name: str, query: str | None = None) -> Shown:
    """Facts `target`, `missing` and `surplus` (rows), `is_equal`; it fails where they differ. `query`: what another
    model than a changes or differential one is to hold.

    Raises UnknownName, InvalidQuery, StaleSource.
    """
    target = Named(scope.table(name).name)
    found = audit(scope.spark, target.name, surplus(scope.spark, target, query, None))
    facts = {"target": found.target, "missing": found.missing, "surplus": found.surplus, "is_equal": found.is_equal}
    return Shown(facts, failure="" if found.is_equal else str(found))
