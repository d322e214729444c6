"""Ways to read the standard (min-delta) changes of one base table. Each is a function Interval -> DataFrame of
internal change rows (`changes/metadata_columns.py`), and all of them agree.

| reader | reads | needs |
|---|---|---|
| endpoint_diff | only the files that differ between the two ends | row tracking, a classic session (py4j) |
| cdf | the change data feed of every commit | `delta.enableChangeDataFeed` throughout, a unique key |
| snapshot_diff | both versions in full: the oracle | row tracking or a unique key, a classic session |
"""

from collections.abc import Callable

from pyspark.sql import DataFrame

from dbt.adapters.streamspark.changes.interval import Interval
from dbt.adapters.streamspark.changes.readers.cdf import cdf
from dbt.adapters.streamspark.changes.readers.endpoint_diff import endpoint_diff
from dbt.adapters.streamspark.changes.readers.snapshot_diff import snapshot_diff

READERS: dict[str, Callable[[Interval], DataFrame]] = {
    "endpoint_diff": endpoint_diff,
    "cdf": cdf,
    "snapshot_diff": snapshot_diff,
}
