"""python -m tests.faults.harness --crashes 300 --seed 3 --out docs/reference/under-fire.md

Prints the report and, with --out, keeps it in the page, between its marks. `--case 17` replays one case.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from dbt.adapters.streamspark import launch
from dbt.adapters.streamspark.launch import LaunchOptions
from tests.conftest import TEST_CONF
from tests.faults.harness import races
from tests.faults.harness.case import Case, Tally
from tests.faults.harness.report import crashes_of, report

BEGIN, END = "<!-- report -->", "<!-- end of report -->"


def arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.harness", description=__doc__)
    parser.add_argument("--crashes", type=int, default=300, help="how many at least")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--case", type=int, help="only this case of the seed")
    parser.add_argument("--out", type=Path, help="the page that keeps the report")
    return parser.parse_args(given)


def crashes(spark: SparkSession, seed: int, enough: int) -> Tally:
    """Cases, one after the other, until there are enough crashes."""
    tally: Tally = Counter()
    number = 0
    while crashes_of(tally) < enough:
        tally += Case(spark, seed, number).run()
        number += 1
        print(f"{crashes_of(tally)} crashes", file=sys.stderr)
    return tally


def main(given: list[str]) -> None:
    asked = arguments(given)
    with TemporaryDirectory() as folder:
        spark = launch.start(LaunchOptions(Path(folder), "local[2]", spark_config=TEST_CONF))
        try:
            if asked.case is not None:
                print(dict(Case(spark, asked.seed, asked.case).run()))
            else:
                keep(asked.out, whole(spark, asked, Path(folder)))
        finally:
            launch.stop(spark)


def whole(spark: SparkSession, asked: argparse.Namespace, folder: Path) -> str:
    began = time.monotonic()
    tally = crashes(spark, asked.seed, asked.crashes)
    raced = {race: races.run(spark, race, folder / f"race{number}") for number, race in enumerate(races.RACES)}
    return report(asked.seed, tally, raced, time.monotonic() - began)


def keep(page: Path | None, text: str) -> None:
    print(text)
    if page is not None:
        before, rest = page.read_text().split(BEGIN)
        page.write_text(f"{before}{BEGIN}\n{text}{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main(sys.argv[1:])
