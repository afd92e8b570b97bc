"""The server as a process: at once at the start, at once at the end, and nothing else on stdout."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.conftest import PROJECT
from tests.served import Asker, Process, eventually
from tests.trees import write_tree

ENDS_WITHIN_S = 5.0
"""A second, and some for a busy machine."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def served(tmp_path: Path, stand_in: None, lb: Callable[..., Any]) -> tuple[object, ...]:
    """The command line of a server of an index of one note."""
    write_tree(tmp_path / "notes", {"a.md": "# A\n\nThe quokka smiles.\n"})
    assert lb("sync", tmp_path / "notes", "--index", tmp_path / "index").code == 0
    return ("serve", "--index", tmp_path / "index")


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lb: Callable[..., Any]) -> Path:
    """An index whose model never loads again."""
    gate = write_tree(tmp_path / "notes", {"a.md": "# A\n\nThe quokka smiles.\n"}) / "a.md"
    monkeypatch.setenv("LANCEBRAIN_MODEL", "tests.slow_model:make")
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))
    monkeypatch.setenv("TEST_MODEL_GATE", str(gate))
    assert lb("sync", tmp_path / "notes", "--index", tmp_path / "index").code == 0
    monkeypatch.setenv("TEST_MODEL_GATE", str(tmp_path / "never"))
    return tmp_path / "index"


def test_it_introduces_itself_and_lists_its_tools_while_the_model_loads(slow: Path) -> None:
    with Process("serve", "--index", slow) as server:
        assert server.start()["serverInfo"]["name"] == "lancebrain"
        assert len(server.request("tools/list")["tools"]) == 10
        found = server.call("search_knowledge", query="quokka")["structuredContent"]
        assert found["hits"][0]["path"] == "notes/a.md"
        assert "by words alone" in found["notes"][0]


@pytest.mark.parametrize("query", ["quokka \ud83d", "\ude00 quokka", "quokka 😀", r"quokka \ud83d"])
def test_a_question_with_half_an_emoji_is_answered(served: tuple[object, ...], query: str) -> None:
    with Process(*served) as server:
        server.start()
        found = server.call("search_knowledge", query=query)["structuredContent"]
        assert found["hits"][0]["path"] == "notes/a.md"


def _ends(server: Process) -> int:
    begun = time.monotonic()
    code = server.process.wait(ENDS_WITHIN_S)
    assert time.monotonic() - begun < ENDS_WITHIN_S
    return code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_lets_the_lock_go(
    served: tuple[object, ...], number: signal.Signals, lb: Callable[..., Any]
) -> None:
    with Process(*served) as server:
        server.start()
        server.call("search_knowledge", query="quokka")
        server.process.send_signal(number)
        assert _ends(server) == 128 + number
    assert lb("sync", *served[1:]).code == 0


def test_the_end_of_stdin_ends_it(served: tuple[object, ...]) -> None:
    with Process(*served) as server:
        server.start()
        server.call("index_status")
        assert server.process.stdin is not None
        server.process.stdin.close()
        assert _ends(server) == 0
        assert all("jsonrpc" in json.loads(line) for line in server.rest())


def test_it_ends_while_it_still_loads(slow: Path) -> None:
    with Process("serve", "--index", slow) as server:
        server.start()
        server.request("tools/list")
        assert server.process.stdin is not None
        server.process.stdin.close()
        assert _ends(server) == 0


FOLLOWING_FAILS = """
import sys
from lancebrain.sync.worker import Worker

class Clumsy(Worker):
    made = 0

    async def {method}(self):
        Clumsy.made += 1
        if Clumsy.made == 1:
            raise AttributeError("partially initialized module")
        await super().{method}()

import lancebrain.sync.worker
lancebrain.sync.worker.Worker = Clumsy
from lancebrain.cli.entry import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize("method", ["run", "settle"])
def test_a_mistake_beside_the_answers_is_survived_and_the_files_are_followed_again(
    tmp_path: Path, served: tuple[object, ...], method: str
) -> None:
    program = ("-c", FOLLOWING_FAILS.format(method=method))
    with Process(*served, program=program) as server:
        server.start()
        assert server.call("search_knowledge", query="quokka")["structuredContent"]["hits"]
        deadline = time.monotonic() + ENDS_WITHIN_S * 4
        is_followed = False
        while not is_followed:
            assert time.monotonic() < deadline
            state = server.call("index_status")["structuredContent"]
            is_followed = state["following"].startswith("By events of")
        write_tree(tmp_path / "notes", {"b.md": "# B\n\nThe bettong hops.\n"})
        while not server.call("search_knowledge", query="bettong")["structuredContent"]["hits"]:
            assert time.monotonic() < deadline


def test_a_mistake_that_ends_the_answers_ends_the_process_and_is_told(
    served: tuple[object, ...],
) -> None:
    program = """
import sys
import lancebrain.mcp_server.stdio as stdio

async def fails(server, reading, writing):
    await reading.receive()
    raise AttributeError("partially initialized module")

stdio.converse = fails
from lancebrain.cli.entry import main
main(sys.argv[1:])
"""
    with Process(*served, program=("-c", program)) as server:
        with pytest.raises(AssertionError, match="AttributeError"):
            server.start()
        assert _ends(server) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_is_saved_is_found_through_a_process(
    tmp_path: Path, served: tuple[object, ...], mode: str
) -> None:
    import os
    import sys

    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "lancebrain", *map(str, served)],
        env=dict(os.environ),
    )
    async with Client(command, mode=mode) as client:
        ask = Asker(client)
        assert await ask.paths("quokka") == ["notes/a.md"]
        fresh = tmp_path / "notes" / ".a.md.swp"
        fresh.write_text("# A\n\nThe bettong hops.\n")
        fresh.replace(tmp_path / "notes" / "a.md")

        async def is_found() -> bool:
            hits = (await ask("search_knowledge", query="bettong"))["hits"]
            return bool(hits) and "bettong" in hits[0]["text"]

        await eventually(is_found)
