"""`dbt debug` tells about the Spark that dbt runs on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt_and_capture

from tests.functional.projects import World


class TestDebug:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {}

    def test_its_six_lines(self, world: World, warehouse: Path) -> None:
        passed, log = run_dbt_and_capture(["debug"])
        assert passed
        found = dict(re.findall(r"\s(spark|delta|java|class archive|warehouse|row tracking): (.+)$", log, re.MULTILINE))
        assert found["spark"] == f"{world.spark.version}, local[2]"
        assert found["delta"] == "4.4.0"
        assert int(found["java"].split(".")[0]) >= 17
        assert found["class archive"].endswith((".jsa", "from which Spark starts sooner"))
        assert found["warehouse"] == str(warehouse)
        assert found["row tracking"] == "works (tried on a table that was dropped again)"
