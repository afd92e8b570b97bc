"""An afternoon of an agent: real notes that are edited, renamed, deleted and switched by git while
it asks, and whatever it asks, it gets what is on the disk.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lancebrain.brain import open as open_brain
from lancebrain.types import Source
from tests.conftest import PROJECT
from tests.served import Process, asking, eventually
from tests.stand_in import StandIn
from tests.trees import write_tree

WITHIN_S = 60.0
NOTES = PROJECT / "tests" / "notes"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def _git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(
        ["git", *who, *arguments], cwd=root, check=True, capture_output=True, env=os.environ | own
    )


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Real notes in three languages, under git."""
    if shutil.which("git") is None:
        pytest.skip("There is no git here.")
    root = tmp_path / "notes"
    shutil.copytree(NOTES, root)
    _git(root, "init", "-q", "-b", "main")
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", "notes")
    return root


class Session:
    """A client of a server of a vault, which believes no answer that is not on the disk."""

    def __init__(self, server: Process, root: Path) -> None:
        self._server = server
        self._root = root

    def top(self, query: str) -> str:
        """The document of the best hit."""
        hits: list[dict[str, Any]] = self._search(query)["hits"]
        return str(hits[0]["path"])

    def finds(self, phrase: str, *names: str) -> None:
        """A phrase is in these documents alone; until that is seen, answers say that they may lag.

        A mistake may be told of, and never be passed over in silence.
        """
        deadline = time.monotonic() + WITHIN_S
        while True:
            found = self._search(f'"{phrase}"')
            paths = {hit["path"] for hit in found["hits"] if phrase in hit["text"]}
            if paths == {f"notes/{name}" for name in names}:
                return
            assert "still being taken in" in " ".join(found["notes"]), (phrase, found)
            assert time.monotonic() < deadline, (phrase, found)

    def sees_the_disk(self) -> None:
        """Every document is there with the text of its file, and no other."""
        files = {f"notes/{file.relative_to(self._root).as_posix()}": file for file in self._files()}
        deadline = time.monotonic() + WITHIN_S
        while self._call("index_status")["documents"] != len(files):
            assert time.monotonic() < deadline
        for path, file in files.items():
            detail = self._call("get_detail", id=path)
            text = detail["text"].split(">", 1)[1].rsplit("<", 1)[0]
            if detail["cursor"] is None:
                assert text.strip() == file.read_text(encoding="utf-8").strip()
            else:
                assert file.read_text(encoding="utf-8").startswith(text.strip()[:1000])
            assert detail["freshness"] == "fresh"

    def _files(self) -> Iterator[Path]:
        return (file for file in self._root.rglob("*.md") if ".git" not in file.parts)

    def _search(self, query: str) -> dict[str, Any]:
        return self._call("search_knowledge", query=query, limit=50)

    def _call(self, tool: str, **arguments: object) -> dict[str, Any]:
        answer = self._server.call(tool, **arguments)
        assert not answer.get("isError"), answer
        content: dict[str, Any] = answer["structuredContent"]
        return content


@pytest.fixture
def session(
    tmp_path: Path, vault: Path, stand_in: None, lb: Callable[..., Any]
) -> Iterator[Session]:
    assert lb("sync", vault, "--index", tmp_path / "index").code == 0
    with Process("serve", "--index", tmp_path / "index") as server:
        server.start()
        yield Session(server, vault)


def _saved_by_rename(file: Path, text: str) -> None:
    fresh = file.with_name(f".{file.name}.swp")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(file)


def _saved_beside_a_backup(file: Path, text: str) -> None:
    shutil.copy(file, file.with_name(file.name + "~"))
    (file.parent / "4913").write_text("x")
    (file.parent / "4913").unlink()
    _saved_by_rename(file, text)


def _saved_by_deleting_first(file: Path, text: str) -> None:
    file.unlink()
    file.write_text(text, encoding="utf-8")


def _saved_from_a_hidden_folder(file: Path, text: str) -> None:
    folder = file.parent / ".saving"
    folder.mkdir()
    (folder / file.name).write_text(text, encoding="utf-8")
    (folder / file.name).replace(file)
    folder.rmdir()


def _saved_in_place(file: Path, text: str) -> None:
    with file.open("r+", encoding="utf-8") as stream:
        stream.truncate()
        stream.write(text)


def test_whatever_happens_to_the_files_the_next_answer_is_what_is_on_the_disk(
    vault: Path, session: Session
) -> None:
    assert session.top("Redis failover drill") == "notes/en/Redis failover drill.md"
    assert session.top("ベランダのバラ") == "notes/日本語/ベランダのバラ.md"
    assert session.top("数据库死锁排查") == "notes/中文/数据库死锁排查.md"

    note = vault / "en" / "Sourdough starter.md"
    text = note.read_text(encoding="utf-8")
    for number, save in enumerate(
        (
            _saved_by_rename,
            _saved_beside_a_backup,
            _saved_by_deleting_first,
            _saved_from_a_hidden_folder,
            _saved_in_place,
        )
    ):
        save(note, f"{text}\nThe quokka baked loaf {number}.\n")
        session.finds(f"baked loaf {number}", "en/Sourdough starter.md")
        session.finds(f"baked loaf {number - 1}")
    session.sees_the_disk()

    note.rename(vault / "en" / "Bread.md")
    session.finds("baked loaf 4", "en/Bread.md")
    (vault / "en").rename(vault / "english")
    session.finds("baked loaf 4", "english/Bread.md")
    (vault / "english" / "Bread.md").unlink()
    session.finds("baked loaf 4")
    session.sees_the_disk()


def test_a_switch_of_branches_is_followed_there_and_back(vault: Path, session: Session) -> None:
    _git(vault, "checkout", "-q", "-b", "draft")
    for file in list(vault.glob("*/*.md")):
        _saved_by_rename(file, f"{file.read_text(encoding='utf-8')}\nA numbat in a draft.\n")
    shutil.rmtree(vault / "中文")
    (vault / "日本語" / "梅干し2026.md").rename(vault / "plums.md")
    write_tree(vault, {"new/idea.md": "# Idea\n\nAn echidna thinks.\n"})
    _git(vault, "add", "-A")
    _git(vault, "commit", "-q", "-m", "draft")
    session.finds("An echidna thinks", "new/idea.md")
    session.sees_the_disk()

    _git(vault, "checkout", "-q", "main")
    session.finds("numbat in a draft")
    session.finds("An echidna thinks")
    session.sees_the_disk()

    for branch in ("draft", "main", "draft"):
        _git(vault, "checkout", "-q", branch)
    session.finds("An echidna thinks", "new/idea.md")
    session.sees_the_disk()

    _saved_by_rename(vault / "new" / "idea.md", "# Idea\n\nA bilby forgets.\n")
    session.finds("A bilby forgets", "new/idea.md")
    _git(vault, "stash", "-q")
    session.finds("A bilby forgets")
    shutil.rmtree(vault / "日本語")
    _git(vault, "reset", "-q", "--hard")
    session.sees_the_disk()


@pytest.mark.anyio
async def test_many_files_at_once_keep_no_question_waiting_and_one_edit_costs_one_passage(
    tmp_path: Path,
) -> None:
    notes = write_tree(tmp_path / "notes", {"one.md": "# One\n\nlemur-one\n"})
    model = StandIn()
    brain = open_brain(tmp_path / "index", embedder=model, sources=[Source("notes", notes)])
    async with asking(brain) as ask:
        await ask("reindex_now")
        many = {f"{number}.md": f"# {number}\n\nlemming {number}\n" for number in range(400)}
        write_tree(tmp_path / "bulk", many)
        (tmp_path / "bulk").rename(notes / "bulk")
        assert await ask.paths('"lemur-one"') == ["notes/one.md"]

        async def is_in() -> bool:
            state = await ask("index_status")
            return bool(state["documents"] == 401 and not state["pending"])

        await eventually(is_in, within_s=WITHIN_S)
        before = len(model.texts)
        _saved_by_rename(notes / "one.md", "# One\n\nlemur-two\n")

        async def is_new() -> bool:
            return await ask.paths('"lemur-two"') == ["notes/one.md"]

        await eventually(is_new)
        assert len(model.texts) - before <= 2
        shutil.rmtree(notes / "bulk")

        async def is_alone() -> bool:
            assert await ask.paths('"lemur-two"') == ["notes/one.md"]
            return bool((await ask("index_status"))["documents"] == 1)

        await eventually(is_alone, within_s=WITHIN_S)
