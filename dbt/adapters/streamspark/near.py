"""What somebody may have meant by a name that is not known."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from typing import Any


def near(name: Any, known: Collection[str], alike: float = 0.6) -> str:
    """' Did you mean …?' with up to three names that are `alike` (0 to 1) to `name`, or more; empty where none is.

    >>> near("order_stream", ["orders_stream", "people"]), near("x", ["people"])
    (' Did you mean orders_stream?', '')
    """
    as_written = {one.lower(): one for one in known}
    found = get_close_matches(str(name).lower(), as_written, n=3, cutoff=alike)
    return f" Did you mean {' or '.join(as_written[one] for one in found)}?" if found else ""
