"""Delta's jars are fetched by one process at a time; nothing here fetches any."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from time import sleep

import pyspark
import pytest
from pyspark import SparkConf

from dbt.adapters.streamspark.errors import LaunchError
from dbt.adapters.streamspark.jars import DOWNLOADING, SPARK_HAS, fetched

PACKAGE = "io.delta:delta-spark_4.1_2.13:4.4.0"
# Says when it is inside, and is inside until it is told to go on.
OTHER = """
import sys
from pyspark import SparkConf
from dbt.adapters.streamspark.jars import fetched
conf = SparkConf(loadDefaults=False).set("spark.jars.ivy", sys.argv[1]).set("spark.jars.packages", sys.argv[2])
with fetched(conf, lambda line: print("notified", flush=True)):
    open(sys.argv[3], "w").close()
    print("inside", flush=True)
    sys.stdin.readline()
"""


def conf(ivy: Path) -> SparkConf:
    return SparkConf(loadDefaults=False).set("spark.jars.ivy", str(ivy)).set("spark.jars.packages", PACKAGE)


def test_what_is_not_fetched_comes_with_spark() -> None:
    files = Path(pyspark.__file__).parent.glob("jars/*.jar")
    assert {name.split(":")[1] for name in SPARK_HAS} <= {re.split(r"-(?=\d)", file.stem)[0] for file in files}


def other(ivy: Path, inside: Path) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", OTHER, str(ivy), PACKAGE, str(inside)]
    return subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def test_nobody_waits_where_the_jars_are(tmp_path: Path) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "io.delta_delta-spark_4.1_2.13-4.4.0.jar").touch()
    said: list[str] = []
    with fetched(conf(tmp_path), said.append), fetched(conf(tmp_path), said.append):
        assert said == []


def test_a_second_process_waits_for_the_first_to_fetch_them(tmp_path: Path) -> None:
    ivy, inside = tmp_path / "not" / "there", tmp_path / "inside"
    said: list[str] = []
    with fetched(conf(ivy), said.append):
        assert said == [DOWNLOADING]
        waiting = other(ivy, inside)
        assert line(waiting) == "notified"
        sleep(0.3)  # it would be inside by now
        assert not inside.exists()
    assert waiting.communicate("\n", timeout=10)[0] == "inside\n"


def test_the_lock_of_a_process_that_was_killed_is_free(tmp_path: Path) -> None:
    killed = other(tmp_path, tmp_path / "inside")
    assert [line(killed), line(killed)] == ["notified", "inside"]
    killed.kill()
    killed.communicate()
    after = other(tmp_path, tmp_path / "inside")
    assert after.communicate("\n", timeout=10)[0] == "notified\ninside\n"


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(LaunchError, match=rf"{tmp_path}/file/ivy.*spark\.jars\.ivy"),
        fetched(conf(tmp_path / "file" / "ivy"), print),
    ):
        pass
