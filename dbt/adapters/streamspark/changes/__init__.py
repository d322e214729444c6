"""Changes of Delta tables, and of queries over them, between two points. Works on any PySpark and Delta session;
imports no dbt.

| module | what it gives |
|---|---|
| `changes`, `explain` | the change set of any query, and how it is computed |
| `read` | the changes of one table: `readers/` lists the ways, `file_changes` decides what is read at all |
| `change_query`, `formats` | a query over an interval, in each format |
| `query/` | SQL made into operators (`lower` is the contents page) |
| `differentiate/` | a rule per operator (`RULES` is the contents page) |
"""

from dbt.adapters.streamspark.changes.change_plan import ChangePlan
from dbt.adapters.streamspark.changes.changes import changes
from dbt.adapters.streamspark.changes.explain import explain
from dbt.adapters.streamspark.changes.frontier import Frontier, TableVersion
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.read import ChangeSet, read_interval
from dbt.adapters.streamspark.errors import UnsupportedQuery

__all__ = [
    "ChangePlan",
    "ChangeSet",
    "Frontier",
    "TableLog",
    "TableVersion",
    "UnsupportedQuery",
    "changes",
    "explain",
    "read_interval",
]
