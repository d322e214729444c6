"""The sender: an airport system that tells of departures and landings as they happen, through channels, into
`raw.flight_events`. Killed and started again, it goes on from the committed tokens.

    python events.py 2013-12-30                # in one terminal, after load.py; Ctrl-C or kill -9 it as you like
    dbt build -s source:raw.flight_events+     # in another, as often as you like

It names the table by its path: the embedded catalog allows one process at a time, and that is dbt.
"""

import argparse
import csv
import io
import itertools
import time
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import nycflights

from dbt.adapters.streamspark import launch
from dbt.adapters.streamspark.ingest.client import StreamingIngestClient
from dbt.adapters.streamspark.launch import LaunchOptions

PROJECT = Path(__file__).parent.resolve()
CHANNELS = (
    "EWR",
    "JFK",
    "LGA",
    "landings",
)  # a channel for the departures of each airport, one for what lands elsewhere
COLUMNS = (
    "channel string, position int, happened_at timestamp, event string, "
    "carrier string, flight int, origin string, dest string"
)
AT_ONCE = 20
Event = dict[str, Any]


def events(day: date) -> list[Event]:
    """What happened to the flights of `day`, in the order of time, numbered in each channel from 1. A flight departs
    when it was scheduled and its delay later, and lands `air_time` after that."""
    found = sorted(_events(day), key=lambda one: (one["happened_at"], one["carrier"], one["flight"], one["origin"]))
    numbers: Counter[str] = Counter()
    for one in found:
        numbers[one["channel"]] += 1
        one["position"] = numbers[one["channel"]]
    return found


def _events(day: date) -> Iterator[Event]:
    for flight in _archive(day):
        if flight["dep_time"] == "NA":
            continue
        said = {"carrier": flight["carrier"], "flight": int(flight["flight"])}
        said |= {"origin": flight["origin"], "dest": flight["dest"]}
        hour = datetime.fromisoformat(flight["time_hour"].replace("Z", "+00:00"))
        departed = hour + timedelta(minutes=int(flight["minute"]) + int(flight["dep_delay"]))
        yield {"channel": flight["origin"], "happened_at": departed, "event": "departed", **said}
        if flight["air_time"] != "NA":
            landed = departed + timedelta(minutes=int(flight["air_time"]))
            yield {"channel": "landings", "happened_at": landed, "event": "landed", **said}


def _archive(day: date) -> Iterator[dict[str, str]]:
    wanted = {"year": str(day.year), "month": str(day.month), "day": str(day.day)}
    with zipfile.ZipFile(nycflights.data_dir() / "flights.csv.zip") as archive, archive.open("flights.csv") as file:
        for row in csv.DictReader(io.TextIOWrapper(file, "utf-8")):
            if all(row[column] == value for column, value in wanted.items()):
                yield row


def send(client: StreamingIngestClient, told: Iterable[Event], pause: float = 0.0) -> None:
    """Sends what is not committed yet; the token of a channel is the position of its last event. `pause`: seconds after
    every 20 events."""
    channels = client.open_channels(CHANNELS)
    committed = {name: int(one.get_latest_committed_offset_token() or 0) for name, one in channels.items()}
    missing = iter([one for one in told if one["position"] > committed[one["channel"]]])
    while rows := list(itertools.islice(missing, AT_ONCE)):
        for name, channel in channels.items():
            _append(channel, [row for row in rows if row["channel"] == name])
        time.sleep(pause)


def _append(channel: Any, rows: Sequence[Event]) -> None:
    if rows:
        channel.append_rows(rows, end_offset_token=str(rows[-1]["position"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("day", type=date.fromisoformat)
    parser.add_argument("--first", type=int, help="how many events of the day, if not all")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds after every 20 events")
    parser.add_argument("--table", type=Path, default=PROJECT / "spark-warehouse" / "raw.db" / "flight_events")
    asked = parser.parse_args()
    alone = {"spark.sql.catalogImplementation": "in-memory"}
    spark = launch.start(LaunchOptions(asked.table.parents[1] / "sender", driver_memory="1g", spark_config=alone))
    with StreamingIngestClient(spark, "airports", f"delta.`{asked.table.absolute()}`") as client:
        send(client, events(asked.day)[: asked.first], asked.pause)


if __name__ == "__main__":
    main()
