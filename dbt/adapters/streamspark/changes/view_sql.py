"""The text of a stream's persistent view: its pending changes in plain SQL, for any session on the catalog.

A view cannot call this package, so standard mode compares two snapshots (the portable reader), insert-only reads
the files that were not there, and append-only, which two snapshots cannot tell, goes through Spark's own CHANGES.
"""

from __future__ import annotations

from dbt.adapters.streamspark.changes.file_changes import INITIAL_ROWS
from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.projection import Projection, literal
