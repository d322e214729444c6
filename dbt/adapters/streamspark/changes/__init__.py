"""Changes of Delta tables between two versions. Works on any PySpark and Delta session; imports no dbt.

`read_interval` is the way in; `readers/` lists the ways to read, `file_changes` decides what is read at all.
"""

from dbt.adapters.streamspark.changes.changes import changes
from dbt.adapters.streamspark.changes.frontier import Frontier, TableVersion
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.read import ChangeSet, read_interval
from dbt.adapters.streamspark.errors import UnsupportedQuery

__all__ = ["ChangeSet", "Frontier", "TableLog", "TableVersion", "UnsupportedQuery", "changes", "read_interval"]
