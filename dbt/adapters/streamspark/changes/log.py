"""The transaction log of one Delta table, read on the driver: no Spark job, no listing of the table's files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.denied import check_listable, denied
from dbt.adapters.streamspark.changes.java_text import java_text
from dbt.adapters.streamspark.errors import BrokenSource, InvalidQuery, MissingSource, StaleSource
from dbt.adapters.streamspark.java_names import java_names
from dbt.adapters.streamspark.literals import literal
from dbt.adapters.streamspark.spark_errors import denial

Action = dict[str, Any]
SESSION_CATALOG = "spark_catalog"


@dataclass(frozen=True)
class Commit:
    """One version of a table, as its commit file says it.

    `adds` and `removes` are the file actions, `metadata` and `protocol` the table's new ones or None,
    `txns` maps application id to version, `domains` domain to configuration (`removed_domains` are those taken away),
    `timestamp` is the commit's time in UTC.
    """

    version: int
    timestamp: datetime
    info: Action = field(default_factory=dict)
    adds: list[Action] = field(default_factory=list)
    removes: list[Action] = field(default_factory=list)
    metadata: Action | None = None
    protocol: Action | None = None
    txns: dict[str, int] = field(default_factory=dict)
    domains: dict[str, str] = field(default_factory=dict)
    removed_domains: frozenset[str] = frozenset()

    @property
    def operation(self) -> str:
        return str(self.info.get("operation", ""))

    @property
    def identity(self) -> str:
        """What tells this commit from a commit of the same version in another table."""
        return str(self.info.get("txnId") or self.info.get("timestamp") or "")


class TableLog:
    """One Delta table's log. `refresh()` sees commits made since; everything else reads what is asked for.

    Raises MissingSource when the name is no Delta table, InvalidQuery when it is in another catalog than the session's,
    StaleSource when a commit is cleaned away, BrokenSource when the storage denies access.
    """

    def __init__(self, spark: SparkSession, name: str):
        self.spark = spark
        self.name = name
        self._jvm = java_names(spark)
        self._jspark = spark._jsparkSession
        self._none = self._jvm.scala.Option.empty()
        self._commits: dict[int, Commit] = {}
        with self._readable("its log"):
            self.java = self._open()
            self._snapshot = self.java.update(False, self._none, self._none)
            if self._snapshot.version() < 0:
                check_listable(spark, self.path)
                raise MissingSource(f"{name} is not a Delta table: nothing is committed at {self.path}")

    def _open(self) -> Any:
        delta_log = self._jvm.org.apache.spark.sql.delta.DeltaLog
        try:
            if self.name.startswith("delta.`"):
                return delta_log.forTable(self._jspark, self.name[len("delta.`") : -1])
            return delta_log.forTable(self._jspark, self._identifier())
        except Exception as error:
            if any(said in str(error) for said in ("NoSuchTable", "TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND")):
                raise MissingSource(f"table {self.name} does not exist") from error
            raise

    def _identifier(self) -> Any:
        """Spark's parser for table identifiers knows two parts; Delta's own commits name three. Delta opens a log by
        name in the session catalog alone, whatever catalog the name is in."""
        parser = self._jspark.sessionState().sqlParser()
        parts = parser.parseMultipartIdentifier(self.name)
        catalog = str(parts.head()) if parts.size() > 2 else str(self.spark.catalog.currentCatalog())
        if parts.size() > 3 or catalog.lower() != SESSION_CATALOG:
            raise self._elsewhere(catalog)
        if parts.size() < 3:
            return parser.parseTableIdentifier(self.name)
        schema = self._jvm.scala.Option.apply(parts.apply(1))
        return self._jvm.org.apache.spark.sql.catalyst.TableIdentifier(parts.last(), schema)

    def _elsewhere(self, catalog: str) -> InvalidQuery:
        return InvalidQuery(
            f"table {self.name} is in catalog {catalog}: streams, their consumers and change queries read and write "
            f"tables of the session catalog ({SESSION_CATALOG}), or delta.`/path/of/table`."
        )

    def refresh(self) -> TableLog:
        with self._readable("its log"):
            self._snapshot = self.java.update(False, self._none, self._none)
        return self

    @property
    def version(self) -> int:
        """The newest version seen at the last refresh."""
        return int(self._snapshot.version())

    @property
    def table_id(self) -> str:
        return str(self._snapshot.metadata().id())

    @property
    def path(self) -> str:
        return str(self.java.dataPath().toString())

    @property
    def uri(self) -> str:
        """The path as files' `_metadata.file_path` begins."""
        return str(self.java.dataPath().toUri().toString())

    @property
    def properties(self) -> dict[str, str]:
        return dict(json.loads(self._snapshot.metadata().json())["metaData"]["configuration"])

    def snapshot(self, version: int | None = None) -> Any:
        """Delta's own Snapshot object (py4j); the newest when no version is given."""
        if version is None or version == self.version:
            return self._snapshot
        try:
            with self._readable(f"the log up to version {version}"):
                return self.java.getSnapshotAt(version, self._none, self._none, False)
        except Py4JJavaError as error:
            raise self.gone(version) from error

    def activate_session(self) -> None:
        """From now on the JVM thread's active session, which Delta asks for, is this log's; a `newSession()` is not."""
        self._jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(self._jspark)

    def transaction(self) -> Any:
        """A transaction (py4j) on the snapshot that was read last."""
        self.activate_session()
        return self.java.startTransaction(self._none, self._jvm.scala.Option.apply(self._snapshot))

    @cached_property
    def _hadoop_conf(self) -> Any:
        return self._jspark.sessionState().newHadoopConf()

    @cached_property
    def _log_path(self) -> Any:
        return self.java.logPath()

    @cached_property
    def _store(self) -> Any:
        return self.java.store()

    @cached_property
    def _file_system(self) -> Any:
        return self.java.logPath().getFileSystem(self._hadoop_conf)

    def commit(self, version: int) -> Commit:
        """The commit that made `version`, read once: it stays what it is. Raises StaleSource when its file is gone,
        BrokenSource when it may not be read or is damaged."""
        if version not in self._commits:
            self._commits[version] = self._read_commit(version)
        return self._commits[version]

    def _read_commit(self, version: int) -> Commit:
        path = self._jvm.org.apache.hadoop.fs.Path(self._log_path, f"{version:020d}.json")
        try:
            with self._readable(f"the commit of version {version}"):
                lines = self._store.read(path, self._hadoop_conf)
                modified = self._file_system.getFileStatus(path).getModificationTime()
        except Py4JJavaError as error:
            if "FileNotFoundException" in str(error.java_exception.getClass().getName()):
                raise self.gone(version) from error
            raise
        try:
            return parse_commit(version, java_text(self.spark, lines), modified)
        except (ValueError, KeyError) as error:
            raise BrokenSource(
                f"table {self.name}: the commit file of version {version} ({path}) is damaged ({error}). Put it "
                "back from a copy of the table; no change is lost meanwhile."
            ) from error

    def size(self, version: int) -> tuple[int, int] | None:
        """Files and bytes of the table, by the checksum that Delta writes beside a commit; None where there is none.
        Delta's own snapshot would look for it in a Spark job."""
        known = self._checksum(version)
        return None if known is None else (int(known["numFiles"]), int(known["tableSizeBytes"]))

    def recorded_transactions(self) -> dict[str, int] | None:
        """Application id -> newest version, by the newest checksum; None where that does not tell."""
        known = (self._checksum(self.version) or {}).get("setTransactions")
        return None if known is None else {one["appId"]: int(one["version"]) for one in known}

    def _checksum(self, version: int) -> Action | None:
        path = self._jvm.org.apache.hadoop.fs.Path(self._log_path, f"{version:020d}.crc")
        with self._readable(f"the checksum of version {version}"):
            if not self._file_system.exists(path):
                return None
            found: Action = json.loads(java_text(self.spark, self._store.read(path, self._hadoop_conf)))
            return found

    def commits(self, start: int, end: int) -> list[Commit]:
        """The commits of (start, end], oldest first."""
        return [self.commit(version) for version in range(start + 1, end + 1)]

    def all_files(self, version: int, names: Sequence[str] = ()) -> list[Action]:
        """The add actions of every file live at `version`, or of those with these names, without their directories.
        Costs a Spark job and grows with the table."""
        with self._readable(f"the log up to version {version}"):
            files = self.snapshot(version).allFiles()
            if names:
                files = files.where(f"element_at(split(path, '/'), -1) in ({', '.join(map(literal, names))})")
            found = files.toJSON().collectAsList()
        return [json.loads(text) for text in found]

    def earliest_version(self) -> int:
        """The oldest version whose commit file is still there."""
        names = (status.getPath().getName() for status in self._file_system.listStatus(self.java.logPath()))
        return min(int(name[:20]) for name in names if name.endswith(".json") and name[:20].isdigit())

    def transactions(self) -> dict[str, int]:
        """Application id -> newest version, from the snapshot's state. Costs a Spark job: a last resort."""
        with self._readable(f"the log up to version {self.version}"):
            pairs = self._jvm.scala.jdk.javaapi.CollectionConverters.asJava(self._snapshot.transactions())
        return {str(app): int(version) for app, version in pairs.items()}

    @contextmanager
    def _readable(self, what: str) -> Iterator[None]:
        """What is denied is no less there: never a StaleSource, whose way out loses changes."""
        try:
            yield
        except (Py4JJavaError, PySparkException) as error:
            said = denial(error)
            if said is None:
                raise
            raise denied(self.name, what, said) from error

    def gone(self, version: int) -> StaleSource:
        return StaleSource(
            f"table {self.name}: version {version} is no longer in its log (the oldest commit there is "
            f"{self.earliest_version()}), so the changes since then cannot be read. Begin again with --full-refresh "
            "of the stream or model that reads it, and raise delta.logRetentionDuration or consume more often."
        )


def parse_commit(version: int, text: str, modified_ms: int) -> Commit:
    """The commit in the text of a commit file (one JSON action a line).

    >>> c = parse_commit(3, '{"commitInfo":{"operation":"WRITE"}}\\n{"txn":{"appId":"a","version":7}}', 0)
    >>> c.operation, c.txns, c.timestamp.year
    ('WRITE', {'a': 7}, 1970)
    """
    actions = [json.loads(line) for line in text.split("\n") if line.strip()]
    info: Action = next((a["commitInfo"] for a in actions if "commitInfo" in a), {})
    domains = [a["domainMetadata"] for a in actions if "domainMetadata" in a]
    milliseconds = info.get("inCommitTimestamp", modified_ms)
    return Commit(
        version=version,
        timestamp=datetime.fromtimestamp(milliseconds / 1000, tz=timezone.utc),
        info=info,
        adds=[a["add"] for a in actions if "add" in a],
        removes=[a["remove"] for a in actions if "remove" in a],
        metadata=next((a["metaData"] for a in actions if "metaData" in a), None),
        protocol=next((a["protocol"] for a in actions if "protocol" in a), None),
        txns={a["txn"]["appId"]: int(a["txn"]["version"]) for a in actions if "txn" in a},
        domains={one["domain"]: one["configuration"] for one in domains if not one.get("removed")},
        removed_domains=frozenset(one["domain"] for one in domains if one.get("removed")),
    )
