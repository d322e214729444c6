"""Random programs of batches, tokens, bad rows, reopenings and drops against a model in plain Python.

STREAMSPARK_EXAMPLES sets how many programs are tried, STREAMSPARK_SEED which.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.ingest.channel import ON_ERROR, StreamingIngestChannel
from dbt.adapters.streamspark.ingest.client import StreamingIngestClient
from dbt.adapters.streamspark.ingest.ingest_error import StreamingIngestError
from tests.spark.ingest.conftest import Clients

pytestmark = pytest.mark.long(minutes=1)

EXAMPLES = int(os.environ.get("STREAMSPARK_EXAMPLES", "3"))
SEED = int(os.environ.get("STREAMSPARK_SEED", "7"))
NAMES = ("a", "b", "c")
STEPS = 30


@dataclass
class Expected:
    """A channel as it should be. `waiting` holds (rows, token) of each call since the last flush."""

    landed: list[int] = field(default_factory=list)
    token: str | None = None
    waiting: list[tuple[list[int], str | None]] = field(default_factory=list)
    parsed: int = 0
    errors: int = 0

    def flush(self) -> None:
        for numbers, token in self.waiting:
            self.landed += numbers
            self.token = self.token if token is None else token
        self.waiting = []


class Program:
    def __init__(self, clients: list[StreamingIngestClient], dice: random.Random):
        self.clients, self.dice = clients, dice
        self.expected = {name: Expected() for name in NAMES}
        self.open: dict[str, tuple[StreamingIngestClient, StreamingIngestChannel, str]] = {}
        self.fenced: list[StreamingIngestChannel] = []
        self.number = 0

    def step(self) -> None:
        actions = [self.append] * 6 + [self.flush] * 3 + [self.reopen] * 2 + [self.close, self.drop, self.use_fenced]
        self.dice.choice(actions)(self.dice.choice(NAMES))

    def reopen(self, name: str) -> None:
        """Wherever it was open, what waits there is lost."""
        client, mode = self.dice.choice(self.clients), self.dice.choice(ON_ERROR)
        if name in self.open:
            self.fenced.append(self.open[name][1])
        channel, status = client.open_channel(name, on_error=mode)
        self.open[name] = (client, channel, mode)
        self.expected[name].waiting = []
        assert status.latest_committed_offset_token == self.expected[name].token

    def append(self, name: str) -> None:
        if name not in self.open:
            self.reopen(name)
        _, channel, mode = self.open[name]
        batch, good = self.batch(name)
        token = None if self.dice.random() < 0.3 else str(self.number)
        bad = len(batch) - len(good)
        try:
            answer = channel.insert_rows(batch, end_offset_token=token)
        except StreamingIngestError as error:
            assert bad and mode == "abort" and error.error_code == "InvalidRow"
            return
        assert answer.error_row_count == bad and not (bad and mode == "abort")
        if bad and mode == "skip_batch":
            assert answer.rows_accepted == 0
            return
        assert answer.rows_accepted == len(good)
        self.expected[name].waiting.append((good, token))

    def batch(self, name: str) -> tuple[list[dict[str, Any]], list[int]]:
        found, good = [], []
        for _ in range(self.dice.randrange(1, 6)):
            self.number += 1
            row: dict[str, Any] = {"channel": name, "n": self.number}
            if self.dice.random() < 0.15:
                row.update(self.dice.choice([{"n": "bad"}, {"extra": 1}, {"n": None}]))
            else:
                good.append(self.number)
            found.append(row)
        return found, good

    def flush(self, name: str) -> None:
        """Channels that the same client has open go with it."""
        if name not in self.open:
            return
        client = self.open[name][0]
        client.wait_for_flush(60)
        for other, (its, channel, _) in self.open.items():
            if its is client:
                self.expected[other].flush()
                assert channel.get_latest_committed_offset_token() == self.expected[other].token

    def close(self, name: str) -> None:
        if name in self.open:
            self.flush(name)
            self.open.pop(name)[1].close()

    def drop(self, name: str) -> None:
        if name in self.open:
            self.flush(name)
            self.open.pop(name)[1].close(drop=True)
            self.expected[name].token = None

    def use_fenced(self, name: str) -> None:
        if self.fenced:
            channel = self.fenced.pop()
            with pytest.raises(StreamingIngestError) as raised:
                channel.append_rows([{"channel": name, "n": -1}])
                channel.wait_for_flush(60)
            assert raised.value.error_code == "InvalidChannelError"


@pytest.mark.parametrize("seed", range(SEED, SEED + EXAMPLES))
def test_random_programs(session: SparkSession, tmp_path: Path, make_client: Clients, seed: int) -> None:
    table = f"delta.`{tmp_path / 'tracked'}`"
    properties = "tblproperties ('delta.enableRowTracking' = 'true')"
    session.sql(f"create table {table} (channel string, n int not null) using delta {properties}")
    program = Program([make_client("one", table), make_client("two", table)], random.Random(seed))
    for _ in range(STEPS):
        program.step()
    for name in NAMES:
        program.close(name)
    check(session, table, program, seed)


def check(session: SparkSession, table: str, program: Program, seed: int) -> None:
    for name, expected in program.expected.items():
        found = session.sql(f"select n from {table} where channel = '{name}' order by _metadata.row_id").collect()
        assert [row[0] for row in found] == expected.landed, f"replay with STREAMSPARK_SEED={seed}"
