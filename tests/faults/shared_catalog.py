"""A catalog that several processes share: Hive's, in a Derby that listens on loopback (docs/guides/ingest.md).

The server is a small Java process. Derby's own jars come with PySpark, the two for the network from Maven.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.launch import LaunchOptions, builder_of, java_command

DERBY = "10.16.1.1"  # PySpark's own
CLIENT, SERVER = (f"org.apache.derby:{jar}:{DERBY}" for jar in ("derbyclient", "derbynet"))
START_SECONDS = 60


def shared_session(warehouse: Path, port: int) -> SparkSession:
    """A Spark of this process's own on the catalog at `port`, which it opens at its first statement."""
    url = f"jdbc:derby://127.0.0.1:{port}/metastore;create=true"
    catalog = {
        "spark.hadoop.javax.jdo.option.ConnectionURL": url,
        "spark.hadoop.javax.jdo.option.ConnectionDriverName": "org.apache.derby.client.ClientAutoloadedDriver",
        "spark.driver.extraClassPath": str(_fetched(CLIENT)),  # Hive finds no driver that Spark loads later
    }
    return builder_of(LaunchOptions(warehouse, "local[2]", "1g", spark_config=catalog)).getOrCreate()


@contextmanager
def derby_server(spark: SparkSession, home: Path) -> Iterator[int]:
    """The port of a server whose databases are in `home`. `spark` fetches the jars."""
    for jar in (SERVER, CLIENT):
        spark.sql(f"add jar 'ivy://{jar}?transitive=false'")
    port = _free_port()
    jars = [*(Path(pyspark.__file__).parent / "jars").glob("derby*.jar"), _fetched(SERVER)]
    command = [str(java_command()), f"-Dderby.system.home={home}", "-cp", os.pathsep.join(map(str, jars))]
    command += ["org.apache.derby.drda.NetworkServerControl", "start", "-h", "127.0.0.1", "-p", str(port)]
    with (home / "derby-server.log").open("wb") as log:
        server = subprocess.Popen([*command, "-noSecurityManager"], stdout=log, stderr=subprocess.STDOUT)
    try:
        _wait_until_it_listens(server, port, home / "derby-server.log")
        yield port
    finally:
        server.terminate()
        server.wait(30)


def _fetched(jar: str) -> Path:
    """Where Spark's resolver has put it."""
    group, name, version = jar.split(":")
    return next(Path.home().glob(f".ivy2*/jars/{group}_{name}-{version}.jar"))


def _free_port() -> int:
    with closing(socket.socket()) as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


def _wait_until_it_listens(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < end:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"Derby's server has not started: {log.read_text()}")
