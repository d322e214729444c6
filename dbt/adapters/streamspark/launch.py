"""Starting Spark inside this process: Delta's jars, a catalog under the project, a quiet JVM. No dbt import."""

from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
import subprocess
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.class_archive import TAKE_IT, class_archive
from dbt.adapters.streamspark.drop_job_defaults import drop_job_defaults
from dbt.adapters.streamspark.errors import LaunchError, StreamsparkError
from dbt.adapters.streamspark.jars import SPARK_HAS, fetched
from dbt.adapters.streamspark.java_names import RememberingView
from dbt.adapters.streamspark.spark_errors import as_sql_error

JAVA_NEEDED = 17
DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
EXIT_SECONDS = 10
# Of the code that it compiles for a plan Spark keeps the last hundred pieces, which a dbt run of twenty models has used
# up when Delta reads the next log; and a JVM sweeps all its memory each time that its classes outgrow their room, which
# is 20 MB at first and 300 MB in the end. Together a fifth of the demo's CPU time (decision 0018).
COMPILED_PLANS = "2000"
ROOM_FOR_CLASSES = "-XX:MetaspaceSize=400m"
# On few cores G1's marking threads and barriers take a fifth of the time of a run, whatever it does (decision 0034).
COLLECTOR = "-XX:+UseParallelGC"
DERBY_IS_OPEN = "ERROR XSDB6"
# Each hash table, sort and broadcast takes its memory in pages, whole ones, of which Spark's own size is 32 or 64 MB: a
# query of a few thousand rows zeroes hundreds of MB. A task can have 8,192 of them (decision 0038).
PAGES_OF_THE_MEMORY = 2048
LEAST_PAGE, LARGEST_PAGE = 1024**2, 64 * 1024**2


@dataclass(frozen=True)
class LaunchOptions:
    """What a Spark session of our own is made from.

    `spark_config` wins over every default. `warehouse` holds the tables, their catalog and Spark's log.
    """

    warehouse: Path
    master: str = "local[*]"
    driver_memory: str = "2g"
    packages: tuple[str, ...] = ()
    spark_config: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        return self.master.startswith("local")

    @property
    def log_file(self) -> Path:
        return self.warehouse / "spark.log"

    def conf(self) -> dict[str, str]:
        """Every Spark conf the session starts with; Delta's package is added by `builder`."""
        given = {**_defaults(self), **self.spark_config}
        return {**_small_machine(str(given["spark.driver.memory"])), **given} if self.is_local else given


def _defaults(options: LaunchOptions) -> dict[str, str]:
    metastore = options.warehouse / "metastore_db"
    derby = [
        java_option(f"-Dderby.system.home={options.warehouse}"),
        java_option(f"-Dderby.stream.error.file={options.warehouse}/derby.log"),
    ]
    return {
        "spark.app.name": "dbt-streamspark",
        "spark.master": options.master,
        "spark.driver.memory": options.driver_memory,
        "spark.driver.defaultJavaOptions": " ".join(
            [ROOM_FOR_CLASSES, *_collector(options), *_archive(options), *derby]
        ),
        "spark.sql.warehouse.dir": str(options.warehouse),
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={metastore};create=true",
        "spark.jars.excludes": ",".join(SPARK_HAS),
        "spark.sql.extensions": DELTA_EXTENSION,
        "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
        "spark.sql.sources.default": "delta",
        "spark.sql.codegen.cache.maxEntries": COMPILED_PLANS,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.python.sql.dataFrameDebugging.enabled": "false",
    }


def _collector(options: LaunchOptions) -> list[str]:
    """None on a cluster, or where the user has chosen one: a JVM that is told of two does not start."""
    return [COLLECTOR] if options.is_local and not re.search(r"-XX:\+Use\w+GC\b", _java_options(options)) else []


def _archive(options: LaunchOptions) -> list[str]:
    """None where there is none, or where the user says what to do about archives. A JVM that cannot use it starts
    without it."""
    archive = class_archive(java_command())
    chosen = re.search(r"-Xshare|SharedArchiveFile|ArchiveClassesAtExit", _java_options(options))
    return [java_option(f"{TAKE_IT}{archive}")] if archive.exists() and not chosen else []


def java_option(text: str) -> str:
    """One of Spark's list of options for Java, which it splits at spaces.

    >>> java_option("-Dhome=/my projects/a")
    '"-Dhome=/my projects/a"'
    """
    return f'"{text}"' if re.search(r"\s", text) else text


def _java_options(options: LaunchOptions) -> str:
    """Those of the user."""
    given = [options.spark_config.get("spark.driver.extraJavaOptions", "")]
    given += [os.environ.get(name, "") for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS")]
    return " ".join(given)


def _small_machine(memory: str) -> dict[str, str]:
    """A task costs more than a small partition gains, so as many partitions as there are cores. VACUUM lists a table in
    as many tasks as the parallelism says: Spark's 10,000 take minutes here. `memory` is the JVM's."""
    cores = min(os.cpu_count() or 2, 16)
    return {
        "spark.sql.shuffle.partitions": str(cores),
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": str(4 * cores),
        **_page_size(memory),
    }


def _page_size(memory: str) -> dict[str, str]:
    """A part of the memory; what Spark does by itself where the text is none that it would read.

    >>> [_page_size(memory)["spark.buffer.pageSize"] for memory in ("4g", "512m", "16384", "1t")]
    ['2097152b', '1048576b', '8388608b', '67108864b']
    """
    found = re.fullmatch(r"(\d+)([kmgt]?)b?", memory.strip().lower())
    if found is None:
        return {}
    size = int(found[1]) * 1024 ** " kmgt".index(found[2] or "m")  # Spark takes a number alone for megabytes
    return {"spark.buffer.pageSize": f"{min(max(LEAST_PAGE, size // PAGES_OF_THE_MEMORY), LARGEST_PAGE)}b"}


def running_session() -> SparkSession | None:
    """The Spark session this process has already, or None. Raises LaunchError when it cannot do Delta."""
    session = SparkSession.getActiveSession() or SparkSession._instantiatedSession
    if session is None or session._sc._jsc is None:
        return None
    if DELTA_EXTENSION not in str(session.conf.get("spark.sql.extensions", "")):
        raise LaunchError(
            "A Spark session runs in this process already, without Delta. Build it with "
            f"spark.sql.extensions={DELTA_EXTENSION} and spark.sql.catalog.spark_catalog={DELTA_CATALOG}, or "
            "stop it before dbt runs."
        )
    return session


def start(options: LaunchOptions, notify: Callable[[str], None] = print) -> SparkSession:
    """A new Spark session; `notify` gets the one line that is said while jars download.

    Raises LaunchError when Java, a jar, the warehouse directory or the catalog cannot be had.
    """
    check_java()
    check_writable(options.warehouse)
    _silence_python()
    builder = builder_of(options)
    conf = SparkConf(loadDefaults=False).setAll(list(builder._options.items()))
    _launch_jvm(conf, options.log_file, notify)
    session = builder.getOrCreate()
    atexit.register(stop, session)
    _open_catalog(session, options)
    if options.is_local:
        drop_job_defaults(session)
    return session


def check_writable(warehouse: Path) -> None:
    """Makes the directory where there is none. Raises LaunchError when files cannot be written to it: the catalog
    and Spark would say so in a hundred lines each."""
    try:
        warehouse.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=warehouse):
            pass
    except OSError as error:
        raise LaunchError(
            f"The warehouse directory {warehouse} cannot be written ({error.strerror or error}). Give the user that "
            "dbt runs as write access to it, or name another directory with `warehouse_dir` in the profile."
        ) from error


def builder_of(options: LaunchOptions) -> Any:
    """A session builder with every conf and Delta's package set."""
    from delta import configure_spark_with_delta_pip

    builder = SparkSession.Builder()
    builder._options = {}
    for key, value in options.conf().items():
        builder = builder.config(key, value)
    asked = [*options.packages, *filter(None, options.spark_config.get("spark.jars.packages", "").split(","))]
    return configure_spark_with_delta_pip(builder, extra_packages=asked)


def _launch_jvm(conf: SparkConf, log_file: Path, notify: Callable[[str], None]) -> None:
    """The JVM that PySpark would start, with its output in a file: Ivy, Hadoop and Spark are all chatty."""
    if SparkContext._gateway is not None:
        return
    with open(log_file, "w") as log, fetched(conf, notify):
        try:
            gateway = launch_gateway(conf, {"stdout": log, "stderr": log})
        except PySparkRuntimeError as error:
            raise LaunchError(why_not_started(log_file)) from error
    SparkContext._ensure_initialized(gateway=gateway)
    SparkContext._jvm = RememberingView.of(gateway.jvm)


def why_not_started(log_file: Path) -> str:
    """What to do about a JVM that ended at once, from what it wrote."""
    text = log_file.read_text(errors="replace")
    if "UNRESOLVED DEPENDENCIES" in text or "unresolved dependency" in text:
        missing = sorted(set(re.findall(r"unresolved dependency: ([^:\s]+[^:]*)(?:: not found)?", text)))
        return (
            f"Spark could not get these jars: {', '.join(missing) or 'see the log'}. It needs the network once; "
            "behind a mirror, name the mirror's Ivy settings with spark.jars.ivySettings under spark_config in "
            f"the profile. The whole output is in {log_file}."
        )
    return f"Spark could not be started. Its last lines, all of them are in {log_file}:\n{last_lines(log_file)}"


def last_lines(log_file: Path) -> str:
    return "\n".join(log_file.read_text(errors="replace").strip().splitlines()[-5:])


def _open_catalog(session: SparkSession, options: LaunchOptions) -> None:
    """Hive opens its catalog at first use; do it now, so that what fails is said once and clearly."""
    try:
        session.sql("show databases").collect()
    except (PySparkException, Py4JError) as error:
        said = _why_no_catalog(error, options)  # while the JVM that tells still runs
        stop(session)
        raise said from error


def _why_no_catalog(error: Exception, options: LaunchOptions) -> StreamsparkError:
    """Derby's reason is many causes below the error that Hive raises, so it is looked for in the log."""
    if DERBY_IS_OPEN not in options.log_file.read_text(errors="replace"):
        return as_sql_error(error)
    return LaunchError(
        f"Another process (a dbt run, a notebook) has the catalog in {options.warehouse} open, and its embedded "
        "database (Derby) allows one at a time. Wait for it to end, or give this project another `warehouse_dir` "
        "or a shared metastore (spark_config)."
    )


def _silence_python() -> None:
    """PySpark logs each error's query context as JSON on stderr and warns about pandas; dbt shows the error."""
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")


def stop(session: SparkSession, seconds: float = EXIT_SECONDS) -> None:
    """Ends Spark and its JVM, so that the catalog is free when this process has ended. A JVM that has not ended after
    so many seconds is killed."""
    gateway: Any = session._sc._gateway
    if session._sc._jsc is not None:
        session.stop()
    process = getattr(gateway, "proc", None)
    if process is None or process.poll() is not None:
        return
    gateway.shutdown()
    process.stdin.close()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    SparkContext._gateway = None
    SparkContext._jvm = None


def check_java() -> str:
    """The version of the Java that Spark will run on. Raises LaunchError when it is missing or too old."""
    found = java_version()
    if found is None:
        where = f"JAVA_HOME is {os.environ['JAVA_HOME']}" if os.environ.get("JAVA_HOME") else "JAVA_HOME is not set"
        raise LaunchError(
            f"Spark needs Java {JAVA_NEEDED} or newer, and there is none ({where}, no `java` that runs on the PATH). "
            f"Install it, e.g. `apt-get install openjdk-{JAVA_NEEDED}-jre-headless` or "
            f"`brew install openjdk@{JAVA_NEEDED}`."
        )
    if major(found) < JAVA_NEEDED:
        raise LaunchError(
            f"Spark needs Java {JAVA_NEEDED} or newer; this is {found} ({java_command()}). Install a newer one and "
            "set JAVA_HOME to it."
        )
    return found


def java_command() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return shutil.which(str(Path(home, "bin", "java"))) if home else shutil.which("java")


def java_version() -> str | None:
    """The text of Java's version, such as 17.0.15 or 1.8.0_402; None without a Java that runs."""
    command = java_command()
    if command is None:
        return None
    said = subprocess.run([command, "-version"], capture_output=True, text=True, check=False)
    match = re.search(r'version "([^"]+)"', said.stderr + said.stdout)
    return match.group(1) if match else None


def major(java: str) -> int:
    """
    >>> major("17.0.15"), major("1.8.0_402"), major("21-ea")
    (17, 8, 21)
    """
    parts = re.findall(r"\d+", java)
    return int(parts[1] if parts[0] == "1" and len(parts) > 1 else parts[0])


def delta_version() -> str:
    return version("delta-spark")
