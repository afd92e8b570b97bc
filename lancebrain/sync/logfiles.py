"""Which files of a source of session logs are no documents, whatever is in them: nobody reads them.

A sub-agent's log that its place tells is one, unless those are wanted. So is a compressed log
that is there uncompressed, too: its program compresses a log, and brings it back to go on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from lancebrain.config import Settings
from lancebrain.kinds import LOGS
from lancebrain.sources import file_of
from lancebrain.types import Source, SourceFile

_COMPRESSED = ".zst"


def unwanted_logs(
    source: Source, settings: Settings, found: Iterable[SourceFile], *, all_found: bool
) -> Callable[[str], bool] | None:
    """Tells of a source's document paths that nobody is to read; None where there are none.

    Args:
        found: the files that are there.
        all_found: nothing else is.
    """
    if source.kind not in LOGS:
        return None
    from lancebrain.readers.session import FORMATS

    is_subagent = FORMATS[source.kind].is_subagent
    there = {file.path for file in found}

    def is_unwanted(path: str) -> bool:
        if path.endswith(_COMPRESSED):
            plain = path.removesuffix(_COMPRESSED)
            return plain in there or (not all_found and os.path.exists(file_of(source, plain)))  # noqa: PTH110
        return not settings.subagent_logs and is_subagent(path.partition("/")[2], b"")

    return is_unwanted
