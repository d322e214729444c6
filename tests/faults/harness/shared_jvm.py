"""One JVM that outlives the processes that use it, as a team's Spark server does."""

from __future__ import annotations

import multiprocessing
import os
import time
from dataclasses import dataclass

from py4j.finalizer import ThreadSafeFinalizer
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.session import isolated

# Little data and short plans: to generate code for them would take most of the time.
PLAIN = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
}
PRELOADED = ["tests.faults.harness.client", "pandas", "pyspark.testing.utils"]


@dataclass(frozen=True)
class Address:
    """Where a JVM listens for clients on this machine, and the secret that they need."""

    port: int
    secret: str


def address_of(spark: SparkSession) -> Address:
    """The JVM of this process's session."""
    parameters = spark._sc._gateway.java_parameters  # type: ignore[union-attr]
    return Address(parameters.port, parameters.auth_token)


def connect(address: Address) -> SparkSession:
    """A session of the running JVM, for a process that has none. When the process ends, the JVM goes on."""
    os.environ["PYSPARK_GATEWAY_PORT"] = str(address.port)
    os.environ["PYSPARK_GATEWAY_SECRET"] = address.secret
    gateway = launch_gateway()
    running = gateway.jvm.org.apache.spark.SparkContext.getOrCreate()
    java = gateway.jvm.org.apache.spark.api.java.JavaSparkContext.fromSparkContext(running)
    context = SparkContext(gateway=gateway, jsc=java, conf=SparkConf(_jconf=running.getConf()))
    return SparkSession(context)


def session_of(spark: SparkSession) -> SparkSession:
    """One more session as the adapter makes them."""
    return isolated(spark, PLAIN)


def forking() -> multiprocessing.context.ForkServerContext:
    """Makes processes from one that has everything imported and no connection: a few hundredths of a second each."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


def when_idle(spark: SparkSession, seconds: float = 60) -> None:
    """Waits until the JVM runs no statement, of clients that are dead either."""
    deadline = time.monotonic() + seconds
    java = spark._jsparkSession
    while time.monotonic() < deadline:
        java.sparkContext().listenerBus().waitUntilEmpty()
        executions = java.sharedState().statusStore().executionsList()
        if all(executions.apply(i).completionTime().isDefined() for i in range(executions.size())):
            return
        time.sleep(0.02)
    raise TimeoutError(f"the JVM still runs statements after {seconds} s")


def forget_the_dead(spark: SparkSession) -> None:
    """The JVM holds what it gave a process until that lets go of it; one that was killed never does, and what thirty
    cases leave fills the heap. What is on its way to this process now is told by the second look."""
    given = spark._sc._gateway.java_gateway_server.getGateway().getBindings()  # type: ignore[union-attr]
    before = list(spark._jvm.java.util.ArrayList(given.keySet()))  # type: ignore[union-attr]
    time.sleep(0.1)
    ours = {key.rpartition("o")[2] for key in ThreadSafeFinalizer.finalizers}
    for name in before:
        if name.startswith("o") and name[1:] not in ours:
            given.remove(name)
