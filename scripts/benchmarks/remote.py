"""What an index on object storage costs in requests: a first index, an edit, a look, a question.

The server is moto's, on this machine; times say nothing of a real one, counts do.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

import lancebrain
from benchmarks.measure import NoModel
from lancebrain.types import Query, Source

sys.path.insert(0, str(Path(__file__).parents[2]))

_EDITS = 20


class Counted:
    """Counts requests by what a provider asks for them."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def take(self, method: str, path: str) -> bool:
        """Count one; its answer is not to get lost."""
        if method == "GET" and "list-type" in path:
            method = "LIST"
        self._counts[method] += 1
        return False

    def tell(self, what: str, times: int = 1) -> None:
        """Print what there was since the last time."""
        reads = self._counts["GET"] + self._counts["HEAD"]
        writes = self._counts["PUT"] + self._counts["POST"] + self._counts["LIST"]
        print(f"{what}: {reads / times:.0f} reads, {writes / times:.0f} writes and lists")
        self._counts.clear()


def main(argv: list[str]) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="bench.py remote", description=__doc__)
    parser.add_argument("--notes", type=int, default=1_000)
    options = parser.parse_args(argv)
    from tests.object_storage import BUCKET, Line, s3_server
    from tests.object_storage import options as storage

    counted = Counted()
    with s3_server() as address, tempfile.TemporaryDirectory() as scratch:
        line = Line(address)
        line.on_request = counted.take
        root = Path(scratch)
        notes = root / "notes"
        notes.mkdir()
        for number in range(options.notes):
            (notes / f"{number}.md").write_text(f"# Note {number}\n\nWhat it says.\n")
        with lancebrain.open(
            f"s3://{BUCKET}/notes",
            embedder=NoModel(),
            sources=(Source("notes", notes),),
            storage_options=storage(line.address),
        ) as brain:
            brain.sync()
            counted.tell(f"first index of {options.notes} notes")
            for number in range(_EDITS):
                file = notes / f"{number}.md"
                file.write_text(f"# Changed {number}\n")
                brain.sync([file])
            counted.tell("an edit", _EDITS)
            brain.sync()
            counted.tell("a look that finds nothing")
            for number in range(_EDITS):
                brain.search(Query(f"note {number}"), look=False)
            counted.tell("a question", _EDITS)
        line.close()
    return 0
