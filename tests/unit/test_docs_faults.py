"""Every test that the page of faults names is there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "faults.md").read_text()
NAMED = re.findall(r"`(tests/\S+\.py)::(\w+)`", PAGE)


@cache
def named_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[name for _, name in NAMED])
def test_it_is_there(file: str, name: str) -> None:
    assert name in named_in(file)


def test_every_row_names_one() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith(("| what", "| **"))]
    assert len(rows) == len(NAMED) > 30
