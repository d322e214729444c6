"""A fault that no longer fits the function it stands for fails for that alone, and here instead of after half an hour."""

from __future__ import annotations

from inspect import Parameter, isfunction, signature
from typing import Any

import pytest

from tests.spark.queries.mutations import MUTATIONS, applied

POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def most_arguments(function: Any) -> list[None]:
    return [None for parameter in signature(function).parameters.values() if parameter.kind in POSITIONAL]


class Recorded(pytest.MonkeyPatch):
    """Remembers what was put in place of what."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs: list[tuple[Any, Any]] = []

    def setattr(self, target: Any, name: str, value: Any) -> None:  # type: ignore[override]
        self.pairs.append((getattr(target, name), value))
        super().setattr(target, name, value)

    def setitem(self, dic: Any, name: Any, value: Any) -> None:
        self.pairs.append((dic[name], value))
        super().setitem(dic, name, value)


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_fault_takes_what_its_original_takes(name: str) -> None:
    with applied(name, Recorded) as patch:
        pairs = vars(patch)["pairs"]
    for original, fault in pairs:
        if isfunction(original):
            signature(fault).bind(*most_arguments(original))
        else:
            assert type(fault) is type(original) and fault != original
