"""A process of its own for which file permissions hold, also when root runs the tests; it tries reads they deny.

Run as `python unprivileged.py <directory>`. Prints, as JSON, case -> "error class: message" (or what was returned).
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

IGNORES_PERMISSIONS = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
PR_CAPBSET_DROP, CAPABILITY_VERSION_3 = 24, 0x20080522


def obey_permissions() -> None:
    """Gives up root's right to read everything: for this process by capset, for the JVM that it will start by the
    bounding set, since root gets back on exec whatever is in that. Raises OSError where the system refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != 0:
        return
    for capability in IGNORES_PERMISSIONS:
        _check(libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0))
    header, sets = struct.pack("Ii", CAPABILITY_VERSION_3, 0), ctypes.create_string_buffer(24)
    _check(libc.capget(header, sets))
    words = list(struct.unpack("6I", sets.raw))
    dropped = sum(1 << capability for capability in IGNORES_PERMISSIONS)
    words[:3] = [word & ~dropped for word in words[:3]]
    _check(libc.capset(header, struct.pack("6I", *words)))


def _check(code: int) -> None:
    if code:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@contextmanager
def denied(path: Path, left: int) -> Iterator[None]:
    mode = path.stat().st_mode
    path.chmod(left)
    try:
        yield
    finally:
        path.chmod(mode)


class Cases:
    """Each read is tried in a Delta log that was opened before (`cached`), or by a process that knows nothing."""

    def __init__(self, root: Path):
        self.root = root
        self.said: dict[str, str] = {}

    def attempt(self, name: str, path: Path, action: Callable[[], Any], left: int = 0) -> None:
        with denied(path, left):
            try:
                self.said[name] = repr(action())
            except Exception as error:
                self.said[name] = f"{type(error).__name__}: {error}"

    def without_spark(self) -> None:
        from dbt.adapters.streamspark import launch

        directory = self.root / "denied_warehouse"
        directory.mkdir()
        options = launch.LaunchOptions(warehouse=directory / "inside")
        self.attempt("warehouse", directory, lambda: launch.start(options))

    def with_spark(self) -> None:
        from dbt.adapters.streamspark import launch
        from tests.consuming import CREATE, Model, make_source
        from tests.faults.harness.client import own_jvm

        spark: Any = launch.start(own_jvm(self.root))
        spark.sparkContext.setLogLevel("OFF")
        model = Model(spark, f"delta.`{self.root / 'target'}`", {"s": f"delta.`{self.root / 'source'}`"})
        make_source(spark, model.sources["s"])
        model.run(CREATE)
        spark.sql(f"insert into {model.sources['s']} values (3, 'c')")
        self.of_the_source(spark, model)
        self.of_the_target(spark, model)
        self.of_a_partition(spark)
        self.of_a_landing_table(spark)
        launch.stop(spark)

    def of_the_source(self, spark: Any, model: Any) -> None:
        from dbt.adapters.streamspark.changes.log import TableLog
        from dbt.adapters.streamspark.session import Session
        from dbt.adapters.streamspark.streams.base_table import prepare
        from dbt.adapters.streamspark.streams.config import StreamConfig
        from dbt.adapters.streamspark.streams.source import open_source
        from tests.consuming import APPEND, frontier

        source, table = self.root / "source", model.sources["s"]
        commit = source / "_delta_log" / f"{2:020d}.json"
        plan, since = model.plan(), frontier(TableLog(spark, table))
        self.attempt("commit", commit, model.plan)
        self.attempt("commit, offset in it", commit, lambda: open_source(spark, "s", since))
        added = max(source.glob("*.parquet"), key=lambda file: file.stat().st_mtime_ns)
        self.attempt("data file", added, lambda: model.run(APPEND, plan))
        self.attempt("directory of data files", source, lambda: model.run(APPEND, plan))
        self.attempt("statement", added, lambda: Session(spark).execute(f"select * from {table}"))
        log, config = TableLog(spark, table), StreamConfig()
        self.attempt("alter", source / "_delta_log", lambda: prepare(log, config, "db.s"), left=0o500)
        for checksum in (source / "_delta_log").glob("*.crc"):
            checksum.unlink()
        for name, path in (("commit", commit), ("log", source / "_delta_log"), ("table", source)):
            spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
            self.attempt(f"{name}, not opened before", path, lambda: open_source(spark, "s", since))

    def of_the_target(self, spark: Any, model: Any) -> None:
        self.attempt("target's commit", self.root / "target" / "_delta_log" / f"{0:020d}.json", model.cursor)
        spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
        self.attempt("target", self.root / "target", model.cursor)

    def of_a_partition(self, spark: Any) -> None:
        from tests.consuming import CREATE, Model

        parts = self.root / "parts"
        model = Model(spark, f"delta.`{self.root / 'of_parts'}`", {"s": f"delta.`{parts}`"})
        spark.sql(
            f"create table {model.sources['s']} (v string, id int) using delta partitioned by (id) "
            "tblproperties ('delta.enableRowTracking' = 'true')"
        )
        spark.sql(f"insert into {model.sources['s']} values ('a', 1)")
        self.attempt("directory of one file", parts / "id=1", lambda: model.run(CREATE))

    def of_a_landing_table(self, spark: Any) -> None:
        from dbt.adapters.streamspark.ingest.client import StreamingIngestClient

        landing = self.root / "landing"
        log, table = landing / "_delta_log", f"delta.`{landing}`"
        spark.sql(f"create table {table} (id int) using delta")
        with StreamingIngestClient(spark, "client", table) as client:
            self.attempt("open a channel", log, lambda: client.open_channel("a"), left=0o500)
            channel, _ = client.open_channel("a")
            channel.append_row({"id": 1})
            self.attempt("flush", log, channel.wait_for_flush, left=0o500)
            channel.close(wait_for_flush=False)
        spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
        later = StreamingIngestClient(spark, "later", table)
        self.attempt("open a channel of an unreadable table", log, lambda: later.open_channel("a"))


def main(root: Path) -> None:
    obey_permissions()
    cases = Cases(root)
    cases.without_spark()
    cases.with_spark()
    print(json.dumps(cases.said))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
