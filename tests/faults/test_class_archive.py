"""The archive of classes is made by its command, taken by the next start, and does no harm where it does not fit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dbt.adapters.streamspark import archive_classes, launch
from dbt.adapters.streamspark.class_archive import class_archive
from tests.faults.harness.client import SHORT_RUN

pytestmark = pytest.mark.long(minutes=1.5)

# Says which archive its JVM was told to take, and which it has in memory.
STARTED = """
import sys
from pathlib import Path
from dbt.adapters.streamspark import diagnosis, launch
from tests.faults.harness.client import own_jvm
session = launch.start(own_jvm(Path(sys.argv[1])))
session.range(3).collect()
mapped = Path(f"/proc/{session._sc._gateway.proc.pid}/maps").read_text().splitlines()
print("told", diagnosis.class_archive_of(session._jvm))
print(*{f"has {line.split()[-1]}" for line in mapped if line.endswith(".jsa")}, sep="\\n")
launch.stop(session)
"""
# Of the classes of a start alone, with so many seconds to write it: `.ci/run` makes the whole one.
SMALL = """
import sys
from dbt.adapters.streamspark import archive_classes
archive_classes.WORK, archive_classes.DUMP_SECONDS = (), float(sys.argv[1])
print("ended with", archive_classes.main())
"""


def printed(cache: Path, *arguments: str) -> str:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "JDK_JAVA_OPTIONS": SHORT_RUN}
    ran = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False)
    return ran.stdout + ran.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="what a process has mapped is read from /proc")
def test_a_start_takes_the_archive_that_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    archive = class_archive(launch.java_command())
    assert f"from {archive} (" in printed(tmp_path, "-c", SMALL, str(archive_classes.DUMP_SECONDS))
    assert [file.name for file in archive.parent.iterdir()] == [archive.name]
    assert {f"told {archive}", f"has {archive}"} <= set(printed(tmp_path, "-c", STARTED, str(tmp_path)).splitlines())

    archive.write_bytes(b"of another Java")
    said = printed(tmp_path, "-c", STARTED, str(tmp_path)).splitlines()
    assert f"told {archive}" in said and f"has {archive}" not in said


def test_of_a_jvm_that_was_killed_nothing_stays(tmp_path: Path) -> None:
    """What it had written would end the next one with a signal."""
    said = printed(tmp_path, "-c", SMALL, "0.1")
    assert "wrote no archive and ended with -9" in said
    assert "ended with 1" in said
    assert not any(tmp_path.rglob("*"))
