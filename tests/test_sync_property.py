"""The great property: any sequence of file operations, then sync, equals a fresh index.

``SYNC_EXAMPLES`` in the environment asks for more sequences than a quick run makes, and
``SYNC_SEED`` for others.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from lancebrain.types import Source
from tests.health import assert_healthy
from tests.indexes import Notes
from tests.other_process import OtherProcess
from tests.stand_in import StandIn
from tests.trees import write_tree

EXAMPLES = int(os.environ.get("SYNC_EXAMPLES", "40"))
SEED = int(os.environ.get("SYNC_SEED", "1"))

NAMES = ("a.md", "b.md", "B.md", "c.txt", "d/a.md", "d/it's.md", "d/e/f.md", "日本.md")
FOLDERS = ("d", "d/e", "g")
BRANCHES = ("one", "two")


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
    """The files in two sources, one within the other, and an index that two processes sync.

    Args:
        other: the second process.
    """

    def __init__(self, folder: Path, other: OtherProcess) -> None:
        outer = folder / "notes"
        write_tree(outer, {"sentinel.md": "It keeps the root from being empty.\n"})
        self.notes = Notes(
            folder, Source("notes", outer), Source("inner", outer / "g", domain="work")
        )
        (outer / "g").mkdir()
        write_tree(outer, {"g/sentinel.md": "So does this.\n"})
        self.root = outer
        self.other = other
        self.before: dict[str, bytes] = {}

    def write(self, name: str, text: str) -> None:
        file = self.root / name
        if not file.is_dir():
            self.keep(name)
            file.unlink(missing_ok=True)
            write_tree(self.root, {name: text})

    def keep(self, name: str) -> None:
        """Remember what a file holds, to restore it later."""
        if (self.root / name).is_file():
            self.before[name] = (self.root / name).read_bytes()

    def restore(self, name: str) -> None:
        """What the file held before it was last written or deleted."""
        if name in self.before and not (self.root / name).is_dir():
            write_tree(self.root, {name: self.before[name]})

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
            self.keep(name)
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

    def ignore(self, rules: str, pattern: str | None) -> None:
        if pattern is None:
            (self.root / rules).unlink(missing_ok=True)
        elif (self.root / rules).parent.is_dir():
            (self.root / rules).write_text(f"{pattern}\n")

    def git(self, *arguments: str) -> None:
        """Anything that git refuses changes nothing, as it should."""
        if not (self.root / ".git").exists():
            run_git(self.root, "init", "-q", "-b", "one")
            run_git(self.root, "add", "-A")
            run_git(self.root, "commit", "-q", "-m", "begun")
            run_git(self.root, "branch", "two")
        run_git(self.root, *arguments)

    def commit(self) -> None:
        self.git("add", "-A")
        run_git(self.root, "commit", "-q", "-m", "more")

    def touch(self, name: str, seconds: int) -> None:
        if (self.root / name).exists():
            os.utime(self.root / name, (seconds, seconds))

    def chmod(self, name: str) -> None:
        if (self.root / name).is_file():
            (self.root / name).chmod(0o640)

    def sync(self) -> None:
        self.notes.sync()

    def sync_other(self) -> None:
        self.begin_other()
        self.other.end()

    def sync_both(self) -> None:
        self.begin_other()
        self.notes.sync()
        self.other.end()

    def begin_other(self) -> None:
        self.other.begin(self.notes.settings.model_dump_json())

    def write_while_both_sync(self, name: str, text: str) -> None:
        self.begin_other()
        self.write(name, text)
        self.notes.sync()
        self.other.end()

    def sync_part(self, scope: str) -> None:
        self.notes.sync([scope])


def run_git(root: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=n@example.org", *arguments],
        cwd=root,
        check=False,
        capture_output=True,
    )


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
    st.tuples(
        st.just(World.ignore),
        st.sampled_from((".gitignore", ".lancebrainignore", "d/.gitignore")),
        st.sampled_from((None, "b.md", "d/", "*.txt", "!a.md")),
    ),
    st.tuples(st.just(World.restore), name),
    st.tuples(st.just(World.restore), name),
    st.tuples(st.just(World.commit)),
    st.tuples(st.just(World.git), st.just("checkout"), st.just("-f"), st.sampled_from(BRANCHES)),
    st.tuples(st.just(World.git), st.just("checkout"), st.sampled_from(BRANCHES)),
    st.tuples(st.just(World.git), st.just("reset"), st.just("--hard"), st.just("-q")),
    st.tuples(st.just(World.git), st.just("stash"), st.sampled_from(("push", "pop"))),
    st.tuples(st.just(World.git), st.just("clean"), st.just("-fdq")),
    st.tuples(st.just(World.touch), name, st.sampled_from((0, 1_700_000_000, 4_000_000_000))),
    st.tuples(st.just(World.chmod), name),
    st.tuples(st.just(World.sync)),
    st.tuples(st.just(World.sync_other)),
    st.tuples(st.just(World.sync_both)),
    st.tuples(st.just(World.write_while_both_sync), name, text),
    st.tuples(st.just(World.sync_part), st.sampled_from(("notes/d", "notes/a.md", "inner"))),
)


@pytest.fixture(scope="module")
def other() -> Iterator[OtherProcess]:
    other = OtherProcess()
    yield other
    other.kill()


@seed(SEED)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)
@given(st.lists(operation, min_size=4, max_size=24))
def test_any_sequence_of_file_operations_then_sync_equals_a_fresh_index(
    other: OtherProcess, operations: list[tuple[Callable[..., None], ...]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), other)
        for call, *arguments in operations:
            call(world, *arguments)
        world.sync()
        assert_healthy(world.notes.store, world.notes.settings, StandIn())
        again = world.notes.sync()
        assert (again.rows_written, again.rows_deleted, again.embedded) == (0, 0, 0)
