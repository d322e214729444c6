"""What is installed is what is declared, and what is imported is declared: told by the installed distributions alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import distribution, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

tomllib = pytest.importorskip("tomllib", reason="Python 3.11 and later")

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "dbt" / "adapters" / "streamspark"
OWN = ("dbt.adapters.streamspark", "dbt.include")
# imported, and brought along by one that is declared
BROUGHT = {"py4j": "pyspark", "agate": "dbt-adapters", "jinja2": "dbt-core"}
# the parts of dbt's one namespace, the longest name first
DBT = {"dbt.adapters.spark": "dbt-spark", "dbt.adapters": "dbt-adapters", "dbt_common": "dbt-common", "dbt": "dbt-core"}
# declared and not imported: what delta-spark reads versions with
RUN = {"importlib-metadata"}
LICENCES = ("apache", "mit", "bsd", "psf", "python software foundation")


def declared() -> dict[str, Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = [*project["dependencies"], *(text for extra in project["optional-dependencies"].values() for text in extra)]
    return {requirement.name: requirement for requirement in map(Requirement, texts)}


DECLARED = declared()


def imported() -> Iterator[str]:
    """The foreign modules that the package imports, by their dotted names."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            yield from (name for name in names if not name.startswith(OWN))


@cache
def owners() -> frozenset[str]:
    """The distributions that the modules come from, Python's own left out."""
    modules = {name for name in imported() if name.split(".")[0] not in sys.stdlib_module_names}
    known = packages_distributions()
    return frozenset(_dbt_part(name) or _owner(name.split(".")[0], known) for name in modules)


def _dbt_part(module: str) -> str | None:
    return next((name for prefix, name in DBT.items() if f"{module}.".startswith(f"{prefix}.")), None)


def _owner(top: str, known: dict[str, list[str]]) -> str:
    return BROUGHT.get(top) or known[top][0].replace("_", "-")


def test_what_is_imported_is_declared() -> None:
    assert {"pyspark", "sqlglot", "dbt-adapters", "dbt-spark", "pyarrow"} <= owners()
    assert owners() - set(DECLARED) == set()


def test_what_is_declared_is_imported_or_run() -> None:
    assert set(DECLARED) - owners() == RUN


@pytest.mark.parametrize("name", DECLARED)
def test_what_is_installed_is_within_the_bounds(name: str) -> None:
    installed = distribution(name)
    keys = ("License-Expression", "License", "Classifier")
    licence = " ".join(str(value) for key in keys for value in installed.metadata.get_all(key) or ())
    print(f"\n{name} {installed.version}, declared {DECLARED[name].specifier}")
    assert DECLARED[name].specifier.contains(installed.version, prereleases=True)
    assert any(known in licence.lower() for known in LICENCES), licence[:200]


@pytest.mark.parametrize(("name", "by"), BROUGHT.items())
def test_what_is_brought_along_is_by_whom_we_say(name: str, by: str) -> None:
    needed = {found.name: found for text in requires(by) or () if (found := Requirement(text)).marker is None}
    assert needed[name].specifier.contains(distribution(name).version)


def test_nothing_that_is_installed_contradicts_itself() -> None:
    checked = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
