"""Session logs through the tools: the exchange of a hit, and narrowing down to a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from lancebrain.brain import open as open_brain
from lancebrain.types import Source
from tests.served import asking
from tests.session_logs import Claude, jsonl
from tests.stand_in import StandIn
from tests.trees import write_tree

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_a_hit_of_a_session_leads_to_its_exchange_and_project(tmp_path: Path) -> None:
    ship, garden = Claude(), Claude(cwd="/home/ana/garden", sessionId="other")
    question = "Which anchor? " + "It is a long story. " * 20
    root = write_tree(
        tmp_path / "logs",
        {
            "a/s.jsonl": jsonl(ship.user(question), ship.assistant("The plough of the ship.")),
            "b/t.jsonl": jsonl(garden.user("A plough for the garden?")),
        },
    )
    source = Source("logs", root, kind="claude", domain="sessions")
    brain = open_brain(tmp_path / "index", embedder=StandIn(), sources=[source])
    async with asking(brain) as ask:
        await ask("reindex_now")
        assert await ask.paths("plough", project="garden") == ["logs/b/t.jsonl"]
        assert await ask.paths("plough", project=["/home/ana/none"]) == []
        found = await ask("search_knowledge", query="plough", project="/home/ana/ship")
        hit = next(hit for hit in found["hits"] if hit["role"] == "assistant")
        detail = await ask("get_detail", id=hit["id"])
        assert "The plough of the ship." in detail["text"]
        assert (detail["role"], detail["said_at"]) == ("assistant", hit["said_at"])
        assert question.strip() in detail["question"]
        assert detail["question"].startswith("<file-text-")
        for fact in ('"project": "/home/ana/ship"', '"git_branch": "main"', '"session"'):
            assert fact in detail["metadata"]
        asked = await ask("get_detail", id=detail["question_id"])
        assert (asked["role"], asked["question"]) == ("user", "")
