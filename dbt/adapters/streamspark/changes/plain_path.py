"""Paths as one can compare them."""

from __future__ import annotations

import re


def plain_path(path: str) -> str:
    """A path on a local disk without its scheme, which Hadoop writes in several ways.

    >>> plain_path("file:///t/a"), plain_path("file:/t/a"), plain_path("s3://t/a")
    ('/t/a', '/t/a', 's3://t/a')
    """
    return re.sub(r"^file:/*", "/", path)


def lies_in(directory: str, path: str) -> bool:
    """Whether `path` is of something in the directory, however either is written.

    >>> lies_in("file:/t/", "file:///t/a"), lies_in("/t", "/tt/a")
    (True, False)
    """
    return plain_path(path).startswith(plain_path(directory).rstrip("/") + "/")
