"""A file's times as the table can hold them."""

from __future__ import annotations

import os

_LATEST_NS = 2**63 - 1
"""The year 2262; some files claim to be of later."""


def times_of(status: os.stat_result) -> tuple[int, int]:
    """When the content was changed, and when the content or an attribute was: ``mtime_ns`` and
    ``ctime_ns``."""
    mtime_ns, ctime_ns = status.st_mtime_ns, status.st_ctime_ns
    if mtime_ns > _LATEST_NS or ctime_ns > _LATEST_NS:
        return min(mtime_ns, _LATEST_NS), min(ctime_ns, _LATEST_NS)
    return mtime_ns, ctime_ns
