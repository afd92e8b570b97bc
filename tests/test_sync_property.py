"""The great property: any sequence of file operations, then sync, equals a fresh index.

``SYNC_EXAMPLES`` in the environment asks for more sequences than a quick run makes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lancebrain.store import Store
from lancebrain.sync import Engine
from lancebrain.types import Source
from tests.health import assert_healthy
from tests.indexes import Notes
from tests.stand_in import StandIn
from tests.trees import write_tree

EXAMPLES = int(os.environ.get("SYNC_EXAMPLES", "12"))

NAMES = ("a.md", "b.md", "B.md", "c.txt", "d/a.md", "d/it's.md", "d/e/f.md", "日本.md")
FOLDERS = ("d", "d/e", "g")


def paragraph(word: str) -> str:
    return f"## {word}\n\n" + " ".join(f"{word}{at}" for at in range(90)) + ".\n\n"


TEXTS = (
    "",
    " \n\n",
    "# One\n\nA short note.\n",
    "# One\r\n\r\nA short note.\r\n",
    "---\ntitle: T\ntags: [x, y]\n---\n# One\n\nWith tags #inline.\n",
    "---\ntitle: [broken\n---\nText.\n",
    "".join(paragraph(word) for word in ("alpha", "beta", "gamma", "delta")),
    "".join(paragraph(word) for word in ("alpha", "gamma", "new", "delta")),
    paragraph("same") * 4,
    paragraph("same") * 3 + paragraph("other") + paragraph("same"),
    "日本語の文章です。" * 60,
    "\x00binary\x01" * 50,
)

name = st.sampled_from(NAMES)
text = st.sampled_from(TEXTS)


class World:
    """The files, and two processes' handles on one index of them."""

    def __init__(self, folder: Path) -> None:
        outer = folder / "notes"
        write_tree(outer, {"sentinel.md": "It keeps the root from being empty.\n"})
        self.notes = Notes(
            folder, Source("notes", outer), Source("inner", outer / "g", domain="work")
        )
        (outer / "g").mkdir()
        write_tree(outer, {"g/sentinel.md": "So does this.\n"})
        self.root = outer
        self.other = Engine(Store.open(self.notes.settings.index), self.notes.settings, StandIn)

    def write(self, name: str, text: str) -> None:
        file = self.root / name
        if not file.is_dir():
            file.unlink(missing_ok=True)
            write_tree(self.root, {name: text})

    def edit(self, name: str, change: Callable[[str], str]) -> None:
        file = self.root / name
        if file.is_file():
            file.write_bytes(change(file.read_bytes().decode("utf-8", "replace")).encode())

    def rewrite_unseen(self, name: str) -> None:
        """Another content of the same size, with the old modification time set back."""
        file = self.root / name
        if file.is_file() and not file.is_symlink():
            before = file.stat()
            file.write_bytes(bytes(reversed(file.read_bytes())))
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    def delete(self, name: str) -> None:
        file = self.root / name
        if file.is_symlink() or file.is_file():
            file.unlink()

    def move(self, old: str, new: str) -> None:
        source, target = self.root / old, self.root / new
        if os.path.lexists(source) and not os.path.lexists(target) and target.parent.is_dir():
            source.rename(target)

    def swap(self, one: str, two: str) -> None:
        first, second = self.root / one, self.root / two
        if one != two and first.is_file() and second.is_file():
            first.rename(self.root / "swap")
            second.rename(first)
            (self.root / "swap").rename(second)

    def delete_folder(self, folder: str) -> None:
        if folder != "g":
            shutil.rmtree(self.root / folder, ignore_errors=True)

    def link(self, name: str, target: str) -> None:
        if name != target and "/" not in name and not (self.root / name).is_dir():
            (self.root / name).unlink(missing_ok=True)
            (self.root / name).symlink_to(target)

    def ignore(self, pattern: str | None) -> None:
        rules = self.root / ".gitignore"
        if pattern is None:
            rules.unlink(missing_ok=True)
        else:
            rules.write_text(f"{pattern}\n")

    def touch(self, name: str, seconds: int) -> None:
        if (self.root / name).exists():
            os.utime(self.root / name, (seconds, seconds))

    def chmod(self, name: str) -> None:
        if (self.root / name).is_file():
            (self.root / name).chmod(0o640)

    def sync(self) -> None:
        self.notes.sync()

    def sync_other(self) -> None:
        self.other.sync()

    def sync_part(self, scope: str) -> None:
        self.notes.sync([scope])


operation = st.one_of(
    st.tuples(st.just(World.write), name, text),
    st.tuples(st.just(World.write), name, text),
    st.tuples(st.just(World.edit), name, st.just(lambda text: text + "\nA line more.\n")),
    st.tuples(st.just(World.edit), name, st.just(lambda text: text[: len(text) // 2])),
    st.tuples(st.just(World.edit), name, st.just(lambda text: "A line first.\n\n" + text)),
    st.tuples(st.just(World.edit), name, st.just(lambda text: text.replace("beta", "edited", 3))),
    st.tuples(st.just(World.rewrite_unseen), name),
    st.tuples(st.just(World.delete), name),
    st.tuples(st.just(World.move), name, name),
    st.tuples(st.just(World.move), st.sampled_from(FOLDERS[:2]), st.sampled_from(("h", "d", "i"))),
    st.tuples(st.just(World.move), name, st.sampled_from(("g/a.md", "g/z.md"))),
    st.tuples(st.just(World.swap), name, name),
    st.tuples(st.just(World.delete_folder), st.sampled_from(FOLDERS)),
    st.tuples(st.just(World.link), name, name),
    st.tuples(st.just(World.ignore), st.sampled_from((None, "b.md", "d/", "*.txt"))),
    st.tuples(st.just(World.touch), name, st.sampled_from((0, 1_700_000_000, 4_000_000_000))),
    st.tuples(st.just(World.chmod), name),
    st.tuples(st.just(World.sync)),
    st.tuples(st.just(World.sync_other)),
    st.tuples(st.just(World.sync_part), st.sampled_from(("notes/d", "notes/a.md", "inner"))),
)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(operation, min_size=4, max_size=24))
def test_any_sequence_of_file_operations_then_sync_equals_a_fresh_index(
    operations: list[tuple[Callable[..., None], ...]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        for call, *arguments in operations:
            call(world, *arguments)
        world.sync()
        assert_healthy(world.notes.store, world.notes.settings, StandIn())
        again = world.notes.sync()
        assert (again.rows_written, again.rows_deleted, again.embedded) == (0, 0, 0)
