"""Every tool with arguments that it cannot use: said in words, and nothing is reached by them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from lancebrain.brain import open as open_brain
from lancebrain.types import Source
from tests.served import Asker, asking, brain_of
from tests.stand_in import StandIn
from tests.trees import write_tree

pytestmark = pytest.mark.anyio

SECRET = "platypus-under-the-stone"
NOTE = '# Tea\n\nSteep for {"minutes": 3} and null.\n'
USUAL: dict[str, dict[str, Any]] = {
    "search_knowledge": {"query": "tea"},
    "get_detail": {"id": "notes/tea.md"},
    "reindex_now": {},
    "index_status": {},
    "list_sources": {},
    "add_knowledge": {"title": "T", "text": "x"},
    "update_knowledge": {"path": "notes/tea.md", "old": "Steep", "new": "Steep"},
    "remove_knowledge": {"path": "notes/none.md", "expected_hash": "0" * 64},
    "history": {},
    "rollback": {"to": "latest"},
}
HOSTILE: list[Any] = [
    "../outside/secret.md",
    "notes/../../outside/secret.md",
    "notes/link/secret.md",
    "notes/link.md",
    "~/x.md",
    "notes/%2e%2e/%2e%2e/outside/secret.md",
    "notes/a\0b.md",
    "'; DROP TABLE chunks; --",
    "notes/tea.md:0-99999999999999999999",
    "x" * 2_000_000,
    "\u202e\x1b[31m",
    "",
    -1,
    10**30,
    True,
    None,
    {"a": {"b": []}},
    ["x"] * 500,
    [None, "../outside"],
]
OF_PYDANTIC = ("validation error", "Input should", "pydantic", "type=", "Traceback", "Arguments")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    outside = write_tree(tmp_path / "outside", {"secret.md": f"# S\n\n{SECRET}\n"})
    notes = write_tree(tmp_path / "notes", {"tea.md": NOTE, "deep/b.md": "# B\n\nnumbat\n"})
    (notes / "link").symlink_to(outside)
    (notes / "link.md").symlink_to(outside / "secret.md")
    return notes


async def _said(ask: Asker, tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    result = await ask.client.call_tool(tool, arguments)
    return bool(result.is_error), "".join(getattr(part, "text", "") for part in result.content)


@pytest.mark.parametrize("tool", USUAL)
async def test_hostile_arguments_reach_nothing_and_are_refused_in_a_sentence(
    tmp_path: Path, notes: Path, tool: str
) -> None:
    secret = tmp_path / "outside" / "secret.md"
    async with asking(brain_of(tmp_path, notes), follow=False) as ask:
        await ask("reindex_now")
        tools = {one.name: one for one in (await ask.client.list_tools()).tools}
        assert tools.keys() == USUAL.keys()
        names = [*tools[tool].input_schema["properties"], "surprise"]
        for name in names:
            for value in HOSTILE:
                refused, said = await _said(ask, tool, {**USUAL[tool], name: value})
                assert SECRET not in said, (name, value)
                if refused:
                    assert not any(word in said for word in OF_PYDANTIC), said
                    assert len(said) < 700, said
                    assert said.rstrip().endswith((".", "?", ")")), said
        assert (await _said(ask, tool, {**USUAL[tool], "surprise": 1}))[0]
        assert await ask.paths("tea")
    assert secret.read_text() == f"# S\n\n{SECRET}\n"
    assert [file.name for file in secret.parent.iterdir()] == ["secret.md"]
    assert {file.name for file in tmp_path.iterdir()} == {"notes", "outside", "index"}


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("search_knowledge", {}, "needs query"),
    ("search_knowledge", {"query": "x", "limit": 0}, "a whole number from 1 to 50; 0 is not"),
    ("search_knowledge", {"query": "x", "kind": "sql"}, "one of md, text, claude"),
    ("search_knowledge", {"query": "x", "tag": "a"}, "Did you mean tags?"),
    ("search_knowledge", {"query": "x", "since": "the flood"}, "Write 2026-11-29"),
    ("search_knowledge", {"query": "x", "cursor": "Zm9v"}, "not one of this question"),
    ("search_knowledge", {"query": "x", "at": "never"}, "history"),
    ("get_detail", {"id": "notes/tea.md#99"}, "notes/tea.md"),
    ("reindex_now", {"path": "/etc"}, "Paths begin with one of: notes"),
    ("add_knowledge", {"title": " ", "text": "x"}, "text that is not blank"),
    ("add_knowledge", {"title": "t", "text": "x", "tags": ["a b"]}, "one word without spaces"),
    ("update_knowledge", {"path": "notes/tea.md"}, "either text, or old and new"),
    ("remove_knowledge", {"path": "a", "expected_hash": "z"}, "64 hexadecimal digits"),
    ("rollback", {"to": "1", "confirm": "perhaps"}, "true or false"),
    ("forget_everything", {}, "There are: search_knowledge"),
]


async def test_what_is_wrong_with_an_argument_is_said_with_what_would_be_right(
    tmp_path: Path, notes: Path
) -> None:
    async with asking(brain_of(tmp_path, notes), follow=False) as ask:
        await ask("reindex_now")
        for tool, arguments, expected in WRONG:
            refused, said = await _said(ask, tool, arguments)
            assert refused, tool
            assert expected in said


async def test_text_that_looks_like_json_stays_text(tmp_path: Path, notes: Path) -> None:
    async with asking(brain_of(tmp_path, notes), follow=False) as ask:
        await ask("reindex_now")
        await ask("update_knowledge", path="notes/tea.md", old='{"minutes": 3}', new="[]")
        await ask("update_knowledge", path="notes/tea.md", old="null", new='{"a": 1}')
        text = '["all of it"]'
        assert (notes / "tea.md").read_text() == '# Tea\n\nSteep for [] and {"a": 1}.\n'
        before = (await ask("get_detail", id="notes/tea.md"))["sha256"]
        await ask("update_knowledge", path="notes/tea.md", text=text, expected_hash=before)
        assert (notes / "tea.md").read_text().strip() == text
        assert await ask.paths("all", path='["notes"]') == []


async def test_a_note_that_would_not_be_indexed_is_not_written(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path / "notes",
        {
            ".git/HEAD": "",
            ".gitignore": "build/\n",
            "deep/.lancebrainignore": "draft-*\n",
            "wiki/w.md": "# W\n",
            "gone.md": "# Gone\n",
        },
    )
    sources = [
        Source("notes", root, writable=True, exclude=("old/",)),
        Source("wiki", root / "wiki"),
    ]
    brain = open_brain(tmp_path / "index", embedder=StandIn(), sources=sources)
    brain.sync()
    brain.forget(["notes/gone.md"])
    (root / "gone.md").unlink()
    before = set(root.rglob("*"))
    async with asking(brain, follow=False) as ask:
        for path in (
            "notes/build/x.md",
            "notes/deep/draft-x.md",
            "notes/old/x.md",
            "notes/node_modules/x.md",
            "notes/wiki/x.md",
            "notes/.claude/x.md",
            "notes/gone.md",
        ):
            said = await ask.fails("add_knowledge", title="X", text="x", path=path)
            assert "leave it out" in said or "hidden" in said
        digest = hashlib.sha256(b"# W\n").hexdigest()
        said = await ask.fails("remove_knowledge", path="notes/wiki/w.md", expected_hash=digest)
        assert "leave it out" in said
    assert set(root.rglob("*")) == before
