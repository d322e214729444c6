"""Names of Java classes, looked up once: py4j asks the JVM for every part of a dotted name, each time."""

from __future__ import annotations

from functools import cache
from typing import Any

from py4j.java_gateway import JavaClass, JavaPackage, JVMView
from pyspark import SparkContext
from pyspark.sql import SparkSession


def java_names(spark: SparkSession | SparkContext) -> Any:
    """The root of all names: `java_names(spark).java.util.ArrayList` is a class, and a name that ends with `$` is the
    Scala object of that name."""
    return _root(spark._jvm)


@cache
def _root(jvm: Any) -> Names:
    return Names(jvm)


class Names:
    """A package, its parts being looked up as they are asked for."""

    def __init__(self, package: Any):
        self._package = package

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._package, name)
        if isinstance(found, JavaPackage):
            found = Names(found)
        elif name.endswith("$"):
            found = found.__getattr__("MODULE$")
        self.__dict__[name] = found
        return found


class RememberingView(JVMView):
    """What PySpark sees of the JVM, with the classes that it asked for. It asks for `PythonUtils` or `functions` with
    each statement and each column, and py4j looks through all jars for every package in which they might be."""

    @classmethod
    def of(cls, view: JVMView) -> RememberingView:
        return cls(view._gateway_client, view._jvm_name, view._id)

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if isinstance(found, JavaClass):
            self.__dict__[name] = found
        return found
