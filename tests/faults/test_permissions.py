"""What Spark's user may not read is an error that says so. It is never taken for gone: a full refresh loses changes.

One process of its own tries every case, since root, which often runs tests, may read everything.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = tmp_path_factory.mktemp("permissions")
    child = subprocess.run(
        [sys.executable, str(HERE / "unprivileged.py"), str(root)],
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    if "OSError: [Errno 1]" in child.stderr and "obey_permissions" in child.stderr:
        pytest.skip("this root may not give up its right to read everything")
    assert child.returncode == 0, child.stderr[-3000:]
    answers: dict[str, str] = json.loads(child.stdout.splitlines()[-1])
    return answers


@pytest.mark.parametrize(
    ("case", "what"),
    [
        ("commit", "source`: the commit of version 2 may not be read"),
        ("commit, offset in it", "source`: the commit of version 2 may not be read"),
        ("data file", "source`: the file file:"),
        ("directory of data files", "source`: its log may not be read"),
        ("directory of one file", "parts`: the file file:"),
        ("commit, not opened before", "source`: its log may not be read"),
        ("log, not opened before", "source`: its log may not be read"),
        ("table, not opened before", "source`: its log may not be read"),
        ("target's commit", "target`: the commit of version 0 may not be read"),
        ("target", "target`: its log may not be read"),
    ],
)
def test_a_denied_read_is_no_gone_source(said: dict[str, str], case: str, what: str) -> None:
    """Nor is a target that may not be read one that was never consumed into."""
    assert said[case].startswith("BrokenSource: table delta.`")
    assert what in said[case] and "Permission denied" in said[case]
    assert "Give the user that Spark runs as read access" in said[case] and "full-refresh" not in said[case]


def test_a_table_that_may_be_read_but_not_altered(said: dict[str, str]) -> None:
    assert said["alter"].startswith("BrokenSource: stream db.s: table delta.`") and "Permission denied" in said["alter"]
    assert "SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 14 days')" in said["alter"]


def test_a_statement_tells_why_spark_finds_no_file(said: dict[str, str]) -> None:
    """Spark itself says of a file that may not be read that it does not exist."""
    assert "FILE_NOT_EXIST" in said["statement"] and "Permission denied" in said["statement"]


def test_a_warehouse_that_cannot_be_written(said: dict[str, str]) -> None:
    assert said["warehouse"].startswith("LaunchError: The warehouse directory ")
    assert "cannot be written (Permission denied)" in said["warehouse"] and "warehouse_dir" in said["warehouse"]


@pytest.mark.parametrize("case", ["open a channel", "flush", "open a channel of an unreadable table"])
def test_a_landing_table_that_may_not_be_written(said: dict[str, str], case: str) -> None:
    assert said[case].startswith("StreamingIngestError: table delta.`") and "Permission denied" in said[case]
    assert "may not be written" in said[case] and "open the channel again" in said[case]
