"""The house: who may import whom, and docstrings whose examples are true."""

from __future__ import annotations

import ast
import doctest
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "dbt" / "adapters" / "streamspark"
OWN = "dbt.adapters.streamspark"
# each may import itself and what stands after it
FLOORS = ("operate", "consume", "streams", "ingest", "changes")
FILES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def imports(file: Path) -> Iterator[str]:
    """Modules, and what is taken from them, which may be modules, too."""
    for node in ast.walk(ast.parse((PACKAGE / file).read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_dbts(name: str) -> bool:
    """Of dbt itself, or a file of ours beside the rooms that imports dbt."""
    if not name.startswith(OWN):
        return name.split(".")[0].startswith("dbt")
    first = Path(f"{name.removeprefix(OWN).lstrip('.').split('.')[0]}.py")
    return first in FILES and any(is_dbts(other) for other in imports(first))


@pytest.mark.parametrize("file", [file for file in FILES if file.parts[0] in FLOORS], ids=str)
def test_the_inner_rooms_import_no_dbt(file: Path) -> None:
    assert [name for name in imports(file) if is_dbts(name)] == []


@pytest.mark.parametrize("name", ["dbt.adapters.base", "dbt_common", f"{OWN}.connections", f"{OWN}.impl.Adapter"])
def test_what_is_dbts_is_seen(name: str) -> None:
    assert is_dbts(name) and not is_dbts(f"{OWN}.errors.BrokenSource")


@pytest.mark.parametrize("file", [file for file in FILES if file.parts[0] in FLOORS], ids=str)
def test_arrows_point_one_way(file: Path) -> None:
    above = FLOORS[: FLOORS.index(file.parts[0])]
    assert [name for name in imports(file) if name.removeprefix(f"{OWN}.").split(".")[0] in above] == []


@pytest.mark.parametrize("folder", ["dbt", "tests", "benchmarks", "integration_tests"])
def test_no_file_is_long(folder: str) -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in (ROOT / folder).rglob("*.py")}
    assert lengths and {str(path): length for path, length in lengths.items() if length > 500} == {}


@pytest.mark.parametrize("file", [f for f in FILES if ">>>" in (PACKAGE / f).read_text()], ids=str)
def test_examples_in_docstrings(file: Path) -> None:
    module = importlib.import_module(".".join((OWN, *file.with_suffix("").parts)))
    result = doctest.testmod(module)
    assert result.attempted > 0 and result.failed == 0


def test_a_notebook_loads_no_dbt() -> None:
    loaded = "print([m for m in sys.modules if m in ('dbt.cli', 'dbt.adapters.base')])"
    rooms = ", ".join(
        f"{OWN}.{room}" for room in ("changes", "consume.commit", "streams.lifecycle", "ingest", "operate")
    )
    code = f"import {rooms}, sys; {loaded}"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
