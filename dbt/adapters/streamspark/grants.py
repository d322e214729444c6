"""The config `grants`: Spark's catalog knows no rights, so that only a macro of the project's own can give any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

MACROS = ("streamspark__apply_grants", "spark__apply_grants", "default__apply_grants", "apply_grants")

FindMacro = Callable[[str], Any]


def check_grants(model: Any, find_macro: FindMacro) -> None:
    """Raises DbtRuntimeError for a model with grants that nothing can apply: dbt applies them after the rows are
    committed, and a run that has done its work would end as a failure. `find_macro` is None for an unknown name."""
    if model.config.get("grants") and not any(_is_projects(find_macro(name)) for name in MACROS):
        raise DbtRuntimeError(
            f"{model.unique_id} has grants, and Spark's catalog has no GRANT. Give the rights where the tables' files "
            "lie and take the config out, or apply it in a macro streamspark__apply_grants of the project's own."
        )


def _is_projects(macro: Any) -> bool:
    """Not dbt's own."""
    return macro is not None and macro.package_name != "dbt"
