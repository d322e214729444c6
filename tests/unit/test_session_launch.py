"""What Spark is started with, and what is said when it cannot be; nothing here starts it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.streamspark import launch
from dbt.adapters.streamspark.launch import LaunchError, LaunchOptions


def test_the_defaults_keep_everything_under_the_warehouse(tmp_path: Path) -> None:
    conf = LaunchOptions(warehouse=tmp_path).conf()
    assert conf["spark.sql.warehouse.dir"] == str(tmp_path)
    assert f"databaseName={tmp_path}/metastore_db" in conf["spark.hadoop.javax.jdo.option.ConnectionURL"]
    assert str(tmp_path) in conf["spark.driver.defaultJavaOptions"]
    assert conf["spark.ui.enabled"] == "false"


def test_a_path_may_have_spaces(tmp_path: Path) -> None:
    """Spark splits Java's options at spaces, as a shell does."""
    warehouse = tmp_path / "my projects"
    told = shlex.split(LaunchOptions(warehouse=warehouse).conf()["spark.driver.defaultJavaOptions"])
    assert f"-Dderby.system.home={warehouse}" in told
    assert f"-Dderby.stream.error.file={warehouse}/derby.log" in told


def test_ansi_is_left_as_it_is(tmp_path: Path) -> None:
    assert "spark.sql.ansi.enabled" not in LaunchOptions(warehouse=tmp_path).conf()


def test_spark_config_wins(tmp_path: Path) -> None:
    options = LaunchOptions(warehouse=tmp_path, spark_config={"spark.sql.shuffle.partitions": "7"})
    assert options.conf()["spark.sql.shuffle.partitions"] == "7"


def test_a_collector_that_the_user_chose_is_the_only_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def options(extra: str = "", master: str = "local[2]") -> str:
        config = {"spark.driver.extraJavaOptions": extra}
        return LaunchOptions(tmp_path, master, spark_config=config).conf()["spark.driver.defaultJavaOptions"]

    assert launch.COLLECTOR in options("-XX:+UseTransparentHugePages")
    assert launch.COLLECTOR not in options("-Xmn1g -XX:+UseG1GC")
    assert launch.COLLECTOR not in options(master="spark://host:7077")
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:+UseZGC")
    assert launch.COLLECTOR not in options()


def test_a_cluster_keeps_its_own_partitioning(tmp_path: Path) -> None:
    conf = LaunchOptions(warehouse=tmp_path, master="spark://host:7077").conf()
    assert "spark.sql.shuffle.partitions" not in conf


def test_memory_comes_in_pages_that_are_a_small_part_of_it(tmp_path: Path) -> None:
    def page(memory: str, **options: Any) -> str | None:
        return LaunchOptions(tmp_path, driver_memory=memory, **options).conf().get("spark.buffer.pageSize")

    assert page("2g") == page("1g") == "1048576b"  # 8,192 pages of a task hold eight times the memory
    assert page("64g") == "33554432b"  # and four times here
    assert page("2g", spark_config={"spark.driver.memory": "4g"}) == "2097152b"
    assert page("2g", spark_config={"spark.buffer.pageSize": "7m"}) == "7m"
    assert page("2g", master="spark://host:7077") is None
    assert page("2g", spark_config={"spark.driver.memory": 4096}) == "2097152b"  # YAML reads a number
    assert page("plenty") is None  # Spark says what is wrong with it


def test_deltas_package_is_that_of_the_installed_delta(tmp_path: Path) -> None:
    options = LaunchOptions(warehouse=tmp_path, packages=("a:b:1",))
    packages = launch.builder_of(options)._options["spark.jars.packages"].split(",")
    assert packages == [f"io.delta:delta-spark_4.2_2.13:{launch.delta_version()}", "a:b:1"]


def test_packages_of_spark_config_are_kept(tmp_path: Path) -> None:
    options = LaunchOptions(warehouse=tmp_path, spark_config={"spark.jars.packages": "c:d:2"})
    assert launch.builder_of(options)._options["spark.jars.packages"].endswith(",c:d:2")


@pytest.mark.parametrize(("text", "major"), [("17.0.15", 17), ("1.8.0_402", 8), ("21-ea", 21), ("11", 11)])
def test_major_version_of_java(text: str, major: int) -> None:
    assert launch.major(text) == major


def test_no_java_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(LaunchError, match=r"needs Java 17.*Install it"):
        launch.check_java()


def test_an_old_java_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(LaunchError, match=r"this is 11\.0\.2 .*JAVA_HOME"):
        launch.check_java()


def test_a_warehouse_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LaunchError, match=r"warehouse directory \S+/file/inside cannot be written .*`warehouse_dir`"):
        launch.check_writable(tmp_path / "file" / "inside")


def test_a_jar_that_cannot_be_had_is_named(tmp_path: Path) -> None:
    log = tmp_path / "spark.log"
    log.write_text(
        "::          UNRESOLVED DEPENDENCIES         ::\n"
        ":: io.delta#delta-spark_4.2_2.13;4.4.0: not found\n"
        'Exception in thread "main" java.lang.RuntimeException: '
        "[unresolved dependency: io.delta#delta-spark_4.2_2.13;4.4.0: not found]\n"
    )
    said = launch.why_not_started(log)
    assert "io.delta#delta-spark_4.2_2.13;4.4.0" in said and str(log) in said and "ivySettings" in said


def test_other_failures_show_the_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "spark.log"
    log.write_text("\n".join(f"line {n}" for n in range(20)))
    said = launch.why_not_started(log)
    assert "line 19" in said and "line 3\n" not in said
