"""Paths as one can compare them."""

from __future__ import annotations

import re


def plain_path(path: str) -> str:
    """A path on a local disk without its scheme, which Hadoop writes in several ways.

    >>> plain_path("file:///t/a"), plain_path("file:/t/a"), plain_path("s3://t/a")
    ('/t/a', '/t/a', 's3://t/a')
    """
    return re.sub(r"^file:/*", "/", path)
