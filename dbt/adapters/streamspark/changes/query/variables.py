"""Session variables (DECLARE VARIABLE): their values are of the session and of the moment, not of an end."""

from __future__ import annotations

import re

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.errors import UnsupportedQuery

_REFERENCE = re.compile(r"variablereference\((.*?)=")  # as Spark writes it into a plan
_ALL_FIELDS = 2**31 - 1


def refuse_variables(frame: DataFrame) -> None:
    """Raises UnsupportedQuery where the query reads a variable of the session. In one without any nothing is asked."""
    if frame.sparkSession._jsparkSession.sessionState().catalogManager().tempVariableManager().isEmpty():
        return
    plan = frame._jdf.queryExecution().analyzed().treeString(False, False, _ALL_FIELDS, False, False)
    found = _REFERENCE.search(str(plan))
    if found is not None:
        raise UnsupportedQuery(
            f"variable {found.group(1)} may have another value each time it is asked, so that the query's changes "
            "cannot be told. Write its value into the query."
        )
