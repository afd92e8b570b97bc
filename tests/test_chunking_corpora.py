"""Real notes, thousands of them: read and cut without an exception or a lost character.

The archives are looked for in the folder that ``LANCEBRAIN_SHARED`` names, or in ``shared``
beside the project; without them there is nothing to test.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lancebrain.chunking import chunk, display_width
from lancebrain.readers import kind_of, read
from lancebrain.readers.decode import encode
from lancebrain.types import Document

SHARED = Path(os.environ.get("LANCEBRAIN_SHARED") or Path(__file__).resolve().parents[2] / "shared")
ARCHIVES = sorted((SHARED / "corpora").glob("*.tar.gz"))
EVERY = 20
"""Of the largest archive, one file in so many."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ARCHIVES, reason="no corpora beside the project"),
]


def files(archive: Path) -> Iterator[tuple[str, bytes]]:
    every = EVERY if archive.stat().st_size > 10_000_000 else 1
    with tarfile.open(archive) as tar:
        for number, member in enumerate(tar):
            content = tar.extractfile(member) if number % every == 0 else None
            if content is not None:
                yield member.name, content.read()


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.name)
def test_every_file_comes_back_whole_in_chunks_that_are_not_too_wide(archive: Path) -> None:
    for name, data in files(archive):
        document = read(name, kind_of(name, data[:100], None) or "text", data)
        assert isinstance(document, Document), name
        chunks = chunk(document)
        assert "".join(one.text for one in chunks) == document.text, name
        assert encode(document.text, document.encoding) == data or document.raw == data, name
        assert all(display_width(one.text.strip()) <= 1200 for one in chunks), name
        assert all(one.text.strip() for one in chunks), name
