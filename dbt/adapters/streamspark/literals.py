"""Python values as Spark SQL literals of the right type, and their placeholders. No dbt import."""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

PLACEHOLDER = "%s"
_QUOTED = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:``|[^`])*`|--[^\n]*|/\*.*?\*/"""
_TOKEN = re.compile(f"({_QUOTED})|({re.escape(PLACEHOLDER)})", re.DOTALL)
_MAX_DIGITS = 38


def literal(value: Any) -> str:
    """The Spark SQL literal of `value`. Raises TypeError for a type that has none.

    >>> literal(None), literal(True), literal("it's 5%"), literal(Decimal("1.50")), literal(b"a")
    ('null', 'true', "'it\\\\'s 5%'", 'cast(1.50BD as decimal(3,2))', "X'61'")
    """
    if value is None:
        return "null"
    for kind, render in _RENDERERS:
        if isinstance(value, kind):
            return render(value)
    raise TypeError(f"A value of type {type(value).__name__} has no SQL literal: {value!r}")


def in_comment(text: str) -> str:
    """`text` for between `/*` and `*/`; Spark's comments nest.

    >>> in_comment("select /* all */ *")
    'select / * all * / *'
    """
    return text.replace("/*", "/ *").replace("*/", "* /")


def bind(sql: str, values: Sequence[Any]) -> str:
    """`sql` with each `%s` outside quotes and comments replaced by the literal of its value, in order.

    Raises ValueError when there are more or fewer placeholders than values.

    >>> bind("select 'a%s', %s, x % 2", [None])
    "select 'a%s', null, x % 2"
    """
    rest = iter(values)
    found = 0

    def fill(match: re.Match[str]) -> str:
        nonlocal found
        if match.group(1) is not None:
            return match.group(1)
        found += 1
        return literal(next(rest)) if found <= len(values) else PLACEHOLDER

    text = _TOKEN.sub(fill, sql)
    if found != len(values):
        raise ValueError(f"The statement has {found} placeholders ({PLACEHOLDER}) but {len(values)} values.")
    return text


def _string(value: Any) -> str:
    """Spark puts values of the environment and of confs where `${` begins a name, in literals too."""
    text = str(value).replace("\\", "\\\\").replace("'", "\\'").replace("${", "$\\{")
    return f"'{text}'"


def _integer(value: int) -> str:
    if -(2**31) <= value < 2**31:
        return str(value)
    return f"{value}L" if -(2**63) < value < 2**63 else _decimal(Decimal(value))


def _float(value: float) -> str:
    if math.isnan(value):
        return "cast('NaN' as double)"
    if math.isinf(value):
        return f"cast('{'-' if value < 0 else ''}Infinity' as double)"
    return f"{value!r}D"


def _decimal(value: Decimal) -> str:
    if not value.is_finite():
        return _float(float(value))
    _, digits, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    precision = max(len(digits) + max(0, int(exponent)), scale)
    if precision > _MAX_DIGITS:
        raise ValueError(f"{value} has {precision} digits; Spark's decimals hold {_MAX_DIGITS}.")
    return f"cast({value:f}BD as decimal({precision},{scale}))"


_RENDERERS: tuple[tuple[Any, Any], ...] = (
    (bool, lambda value: "true" if value else "false"),
    (int, _integer),
    (float, _float),
    (Decimal, _decimal),
    ((bytes, bytearray), lambda value: f"X'{bytes(value).hex()}'"),
    (datetime, lambda value: f"timestamp'{value.isoformat(sep=' ')}'"),
    (date, lambda value: f"date'{value.isoformat()}'"),
    ((str, time, uuid.UUID), _string),
)
