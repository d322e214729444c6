"""Which SQL applies a model's change rows: that of a copy, of current rows with an order, or of a history."""

from __future__ import annotations

from typing import TypeAlias

from dbt.adapters.streamspark.consume.apply_changes import ApplyChanges
from dbt.adapters.streamspark.consume.columns import Column
from dbt.adapters.streamspark.consume.current_rows import CurrentRows
from dbt.adapters.streamspark.consume.scd import Scd
from dbt.adapters.streamspark.consume.scd_config import ScdConfig
from dbt.adapters.streamspark.consume.versions import Versions

Applied: TypeAlias = "ApplyChanges | CurrentRows | Versions"


def changes_applied(
    model: str, source: str, columns: tuple[Column, ...], config: ScdConfig, one_stream: bool = True
) -> Applied:
    """`source` is the relation of the model's rows (SQL), which have these columns; `one_stream` as in Scd. The result
    gives the SELECT of a new target's rows, `upserts()`, and the MERGE into one that is there, `merge(target, its)`.

    Raises ConsumptionRefused for a SELECT that lacks what the configuration needs.
    """
    if config.is_plain:
        return ApplyChanges(model, source, columns, config.unique_key)
    scd = Scd(model, source, columns, config.unique_key, config, one_stream=one_stream)
    return Versions(scd) if config.history else CurrentRows(scd)
