"""Which archive of classes a JVM is started from; nothing here starts one."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt.adapters.streamspark import launch
from dbt.adapters.streamspark.class_archive import class_archive
from dbt.adapters.streamspark.launch import LaunchOptions


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where it would be."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return class_archive(launch.java_command())


def java_options(tmp_path: Path, extra: str = "") -> str:
    config = {"spark.driver.extraJavaOptions": extra}
    return LaunchOptions(tmp_path, spark_config=config).conf()["spark.driver.defaultJavaOptions"]


def test_it_is_taken_where_it_is_there(archive: Path, tmp_path: Path) -> None:
    assert "jsa" not in java_options(tmp_path)
    archive.parent.mkdir()
    archive.touch()
    assert f"-XX:SharedArchiveFile={archive}" in java_options(tmp_path).split()


def test_what_the_user_says_about_archives_holds(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.parent.mkdir()
    archive.touch()
    for said in ("-Xshare:off", "-XX:SharedArchiveFile=/mine.jsa", "-XX:ArchiveClassesAtExit=/mine.jsa"):
        assert "dbt-streamspark" not in java_options(tmp_path, said)
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-Xshare:off")
    assert "dbt-streamspark" not in java_options(tmp_path)


def test_each_java_has_its_own(archive: Path, tmp_path: Path) -> None:
    assert class_archive(str(tmp_path / "java")) != archive
    assert class_archive(None).parent == archive.parent
