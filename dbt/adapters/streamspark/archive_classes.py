"""Makes the archive of Spark's classes, once on a machine (decision 0044). No dbt import.

python -m dbt.adapters.streamspark.archive_classes
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dbt.adapters.streamspark import launch
from dbt.adapters.streamspark.class_archive import class_archive
from dbt.adapters.streamspark.errors import LaunchError
from dbt.adapters.streamspark.launch import LaunchOptions

# A JVM archives the classes that it has loaded when it ends: those that models and their runs need.
WORK = (
    "create table t (k bigint, v string, n decimal(12, 2)) using delta"
    " tblproperties ('delta.enableDeletionVectors' = 'true', 'delta.enableRowTracking' = 'true')",
    "insert into t select id, cast(id % 7 as string), id from range(5000)",
    "create table u using delta as select v, count(*) as c, sum(n) as s from t group by v",
    "merge into t using (select id as k from range(4990, 5010)) as s on t.k = s.k"
    " when matched then update set n = 1 when not matched then insert (k) values (s.k)",
    "delete from t where k < 10",
    "create view w as select k, v, row_number() over (partition by v order by k) as r from t join u using (v)",
    "select v, count(distinct k) from (select * from w where r <= 3 union all select * from w) group by v order by v",
    "select k from t version as of 1 except all select k from t where k not in (select r from w)",
    "describe detail t",
    "describe history t",
)
DUMP_SECONDS = 300


def archive_classes(notify: Callable[[str], None] = print) -> Path:
    """Starts Spark, lets it work and ends it: then the JVM writes the archive, some 240 MB, which takes the place of an
    older one. Returns where it is.

    Raises LaunchError where Spark does not start or its JVM wrote none.
    """
    place = class_archive(launch.java_command())
    with TemporaryDirectory(prefix="streamspark-") as folder:
        made = Path(folder, "classes.jsa")
        options = LaunchOptions(
            Path(folder, "warehouse"),
            spark_config={"spark.driver.extraJavaOptions": f"-XX:ArchiveClassesAtExit={made}"},
        )
        ended = _run(options, notify)
        if ended != 0 or not made.exists():
            last = launch.last_lines(options.log_file)
            raise LaunchError(f"Java wrote no archive and ended with {ended}. Its last lines:\n{last}")
        _put(made, place)
    return place


def _run(options: LaunchOptions, notify: Callable[[str], None]) -> int:
    """How the JVM ended: one that was killed while it wrote leaves a part, of which a later JVM would die."""
    session = launch.start(options, notify)
    gateway: Any = session._sc._gateway
    for statement in WORK:
        session.sql(statement).collect()
    launch.stop(session, DUMP_SECONDS)
    return int(gateway.proc.wait())


def _put(made: Path, place: Path) -> None:
    """At once: a JVM that starts meanwhile sees the old one or the new, and a disk that is full keeps the old one."""
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_suffix(f".{os.getpid()}")
    try:
        shutil.copyfile(made, beside)
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)


def main() -> int:
    try:
        place = archive_classes()
    except (LaunchError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Spark starts from {place} ({place.stat().st_size / 1e6:.0f} MB) from now on; delete it to undo that.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
