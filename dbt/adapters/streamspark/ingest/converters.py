"""How a value that a sender gives becomes one of a column's type: exactly, or not at all (document 004, data types)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date, datetime, tzinfo
from decimal import Context, Decimal, InvalidOperation
from functools import partial
from typing import Any

from pyspark.sql import types as t

from dbt.adapters.streamspark.ingest.time_text import read_instant, read_wall_time

Convert = Callable[[Any], Any]
_BITS = {t.ByteType: 8, t.ShortType: 16, t.IntegerType: 32, t.LongType: 64}
_TRUE = frozenset(("true", "t", "yes", "y", "on", "1"))
_FALSE = frozenset(("false", "f", "no", "n", "off", "0"))
_MAX_FLOAT = 3.4028234663852886e38
_WIDE = Context(prec=120)


def converter(kind: t.DataType, zone: tzinfo) -> Convert | None:
    """A function from a value, not None, to one that pyarrow takes for `kind`; it raises ValueError saying why not.
    None for a type that cannot be sent. `zone` is that of times which name none.

    >>> from datetime import timezone
    >>> converter(t.LongType(), timezone.utc)("12"), converter(t.BooleanType(), timezone.utc)("off")
    (12, False)
    """
    for base, bits in _BITS.items():
        if isinstance(kind, base):
            return partial(_integer, bits)
    if isinstance(kind, (t.TimestampType, t.TimestampNTZType, t.DateType)):
        return partial(_TIMES[type(kind)], zone)
    if isinstance(kind, t.DecimalType):
        return partial(_decimal, kind.precision, kind.scale)
    return _nested(kind, zone) if isinstance(kind, (t.ArrayType, t.MapType, t.StructType)) else _PLAIN.get(type(kind))


def _refuse(value: Any, wanted: str) -> ValueError:
    text = repr(value)
    return ValueError(f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__}) is no {wanted}")


def _number(value: Any, wanted: str) -> Decimal:
    """Exactly the number that is meant; a float is taken for what it prints as."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, (bool, bytes)) or not isinstance(value, (int, float, str, Decimal)):
        raise _refuse(value, wanted)
    try:
        found = value if isinstance(value, Decimal) else Decimal(str(value).strip())
    except InvalidOperation:
        raise _refuse(value, wanted) from None
    if not found.is_finite():
        raise _refuse(value, wanted)
    return found


def _integer(bits: int, value: Any) -> int:
    wanted = f"integer of {bits} bits"
    found = _number(value, wanted)
    if found.adjusted() > 19 or found != (whole := int(found)) or not -(2 ** (bits - 1)) <= whole < 2 ** (bits - 1):
        raise _refuse(value, wanted)
    return whole


def _decimal(precision: int, scale: int, value: Any) -> Decimal:
    wanted = f"decimal({precision},{scale})"
    found = _number(value, wanted)
    digits = len(found.as_tuple().digits)
    exponent = int(found.normalize(_WIDE).as_tuple().exponent)
    too_long = digits > 100 or (bool(found) and found.adjusted() >= precision - scale)
    if too_long or -exponent > scale:
        raise _refuse(value, wanted)
    return found


def _double(value: Any) -> float:
    value = value.item() if hasattr(value, "item") else value
    try:
        return float(_number(value, "number") if isinstance(value, bool) else value)
    except (TypeError, ValueError, OverflowError):
        raise _refuse(value, "number") from None


def _float(value: Any) -> float:
    found = _double(value)
    if math.isfinite(found) and abs(found) > _MAX_FLOAT:
        raise _refuse(value, "number of 32 bits")
    return found


def _boolean(value: Any) -> bool:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, (bool, int, float, Decimal)):
        return bool(value)
    text = value.strip().lower() if isinstance(value, str) else ""
    if text not in _TRUE | _FALSE:
        raise _refuse(value, "boolean")
    return text in _TRUE


def _string(value: Any) -> str:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, (str, int, float, Decimal)):
        raise _refuse(value, "text")
    text = str(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _refuse(value, "text that UTF-8 can hold") from None
    return text


def _binary(value: Any) -> bytes:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    try:
        return bytes.fromhex(value)
    except (TypeError, ValueError):
        raise _refuse(value, "bytes, nor their hexadecimal text") from None


def _read_time(read: Callable[[Any, tzinfo], datetime], zone: tzinfo, value: Any, wanted: str) -> datetime:
    if not isinstance(value, (str, date)):
        raise _refuse(value, wanted)
    try:
        return read(value, zone)
    except (ValueError, OverflowError):
        raise _refuse(value, wanted) from None


def _instant(zone: tzinfo, value: Any) -> datetime:
    return _read_time(read_instant, zone, value, "timestamp")


def _wall_time(zone: tzinfo, value: Any) -> datetime:
    return _read_time(read_wall_time, zone, value, "timestamp").replace(tzinfo=None)


def _day(zone: tzinfo, value: Any) -> date:
    return _read_time(read_wall_time, zone, value, "date").date()


def _nested(kind: t.DataType, zone: tzinfo) -> Convert | None:
    if isinstance(kind, t.StructType):
        parts = [(field, converter(field.dataType, zone)) for field in kind.fields]
        fields = {field.name: (part, field.nullable) for field, part in parts if part is not None}
        return partial(_struct, fields) if len(fields) == len(parts) else None
    if isinstance(kind, t.MapType):
        keys, values = converter(kind.keyType, zone), converter(kind.valueType, zone)
        return None if keys is None or values is None else partial(_map, keys, values, kind.valueContainsNull)
    assert isinstance(kind, t.ArrayType)
    element = converter(kind.elementType, zone)
    return None if element is None else partial(_array, element, kind.containsNull)


def _part(convert: Convert, nullable: bool, value: Any, where: str) -> Any:
    if value is not None:
        return convert(value)
    if not nullable:
        raise ValueError(f"{where} is null, which its type forbids")
    return None


def _array(element: Convert, nullable: bool, value: Any) -> list[Any]:
    value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, (list, tuple)):
        raise _refuse(value, "array")
    return [_part(element, nullable, one, f"element {index}") for index, one in enumerate(value)]


def _map(keys: Convert, values: Convert, nullable: bool, value: Any) -> list[tuple[Any, Any]]:
    """A list of pairs is how Arrow gives maps back."""
    pairs = value.items() if isinstance(value, Mapping) else value
    try:
        return [(_part(keys, False, key, "a key"), _part(values, nullable, one, f"{key!r}")) for key, one in pairs]
    except TypeError:
        raise _refuse(value, "map") from None


def _struct(fields: Mapping[str, tuple[Convert, bool]], value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _refuse(value, "struct")
    extra = [str(name) for name in value if name not in fields]
    if extra:
        raise ValueError(f"the struct has no field {', '.join(extra)}, only {', '.join(fields)}")
    return {name: _part(part, nullable, value.get(name), name) for name, (part, nullable) in fields.items()}


_TIMES: dict[type, Callable[[tzinfo, Any], Any]] = {
    t.TimestampType: _instant,
    t.TimestampNTZType: _wall_time,
    t.DateType: _day,
}
_PLAIN: dict[type, Convert] = {
    t.BooleanType: _boolean,
    t.DoubleType: _double,
    t.FloatType: _float,
    t.StringType: _string,
    t.BinaryType: _binary,
}
