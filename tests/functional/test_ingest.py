"""End to end: events through four channels, the sender killed in the middle, `dbt build` while rows arrive."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path

import pytest

from dbt.adapters.streamspark.ingest.client import StreamingIngestClient
from tests.functional.projects import World, run

sys.path.insert(0, str(Path(__file__).parents[1] / "faults"))
from sender import Sending, send
from test_ingest_kill import start

CHANNELS = ("jfk", "lga", "ewr", "bos")
ROWS = 300
SOURCES = """
version: 2
sources:
  - name: landing
    schema: "{{ target.schema }}_raw"
    tables: [{name: events}]
"""
STREAM = (
    "{{ config(materialized='stream', mode='append_only', show_initial_rows=true) }} "
    "select * from {{ source('landing', 'events') }}"
)
MODEL = "{{ config(materialized='incremental') }} select channel, n from {{ stream('events_stream') }}"


class TestIngest:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"sources.yml": SOURCES, "events_stream.sql": STREAM, "events_seen.sql": MODEL}

    def test_a_model_equals_the_events_sent(self, world: World, tmp_path: Path) -> None:
        world.sql(f"create table {{raw}}.events (channel string, n int) using delta location '{tmp_path / 'events'}'")
        killed = start(Sending(str(tmp_path), CHANNELS, ROWS, at="delay", flush=2, seed=1), tmp_path / "output")
        assert killed.wait(timeout=180) == -signal.SIGKILL, (tmp_path / "output").read_text()[-2000:]
        run("build")
        partly = len(world.rows("events_seen"))
        assert 0 < partly < ROWS * len(CHANNELS)
        self.go_on(world)
        run("build")
        assert sorted(world.rows("events_seen")) == sorted((c, n) for c in CHANNELS for n in range(1, ROWS + 1))

    def go_on(self, world: World) -> None:
        """Another client sends what is missing, and dbt runs meanwhile."""
        errors: list[Exception] = []

        def rest() -> None:
            try:
                with StreamingIngestClient(
                    world.spark.newSession(), "heir", f"{world.raw}.events", max_client_lag=0.2
                ) as client:
                    send(client, CHANNELS, ROWS, seed=2)
            except Exception as error:  # told by the test's own thread
                errors.append(error)

        thread = threading.Thread(target=rest)
        thread.start()
        run("build")
        thread.join(120)
        assert errors == [] and not thread.is_alive()
