"""Servers of one index: one does the work, the others hand over, and nobody misses who goes."""

from __future__ import annotations

import json
import os
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp import Client, StdioServerParameters

from lancebrain.cli.front import Front
from lancebrain.cli.stdio import sharing_of
from lancebrain.mcp_server import relay as relaying
from lancebrain.mcp_server.conversation import REPEATABLE, Conversation
from lancebrain.mcp_server.relay import Event, Link, relay
from lancebrain.mcp_server.sharing import Sharing
from tests.served import Asker, Process, asking, brain_of, eventually
from tests.trees import write_tree


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def served(tmp_path: Path, stand_in: None, lb: Callable[..., Any]) -> tuple[object, ...]:
    """The command line of a server of an index of one note."""
    write_tree(tmp_path / "notes", {"a.md": "# A\n\nThe quokka smiles.\n"})
    assert lb("sync", tmp_path / "notes", "--index", tmp_path / "index").code == 0
    return ("serve", "--index", tmp_path / "index")


def _host(index: Path) -> int:
    """The one process that takes others in."""
    (file,) = index.glob("serving/*.json")
    pid: int = json.loads(file.read_text())["pid"]
    return pid


def _paths(server: Process, query: str) -> list[str]:
    found = server.call("search_knowledge", query=query)["structuredContent"]
    return [hit["path"] for hit in found["hits"]]


def test_when_the_shared_server_is_killed_one_of_the_others_takes_its_place(
    tmp_path: Path, served: tuple[object, ...]
) -> None:
    with ExitStack() as open_servers:
        left: dict[int, Process] = {}
        for _ in range(3):
            server = open_servers.enter_context(Process(*served))
            assert server.start()["serverInfo"]["name"] == "lancebrain"
            assert _paths(server, "quokka") == ["notes/a.md"]
            left[server.process.pid] = server
        host = left.pop(_host(tmp_path / "index"))
        host.process.kill()
        host.process.wait()
        for server in left.values():
            assert _paths(server, "quokka") == ["notes/a.md"]
        assert _host(tmp_path / "index") in left
        for server in left.values():
            assert server.process.stdin is not None
            server.process.stdin.close()
            assert server.process.wait(10) == 0


@pytest.mark.anyio
async def test_a_client_does_not_notice_that_another_server_took_over(
    tmp_path: Path, served: tuple[object, ...]
) -> None:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "lancebrain", *map(str, served)],
        env=dict(os.environ),
    )
    with Process(*served) as first:
        first.start()
        async with (
            Client(command) as client,
            client.listen(resource_subscriptions=["note://notes/a.md"]) as events,
        ):
            ask = Asker(client)
            assert await ask.paths("quokka") == ["notes/a.md"]
            first.process.kill()
            first.process.wait()
            assert await ask.paths("quokka") == ["notes/a.md"]
            told = anyio.Event()

            async def hear() -> None:
                async for _ in events:
                    told.set()

            async def is_told() -> bool:
                text = f"# A\n\nThe quokka smiles {os.urandom(2).hex()}.\n"
                write_tree(tmp_path / "notes", {"a.md": text})
                return told.is_set()

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(hear)
                await eventually(is_told, within_s=60)
                tasks.cancel_scope.cancel()


@pytest.mark.anyio
async def test_who_knows_the_token_is_let_in_beside_the_first_client_and_nobody_else(
    tmp_path: Path,
) -> None:
    notes = write_tree(tmp_path / "notes", {"a.md": "# A\n\nThe quokka smiles.\n"})
    (tmp_path / "index").mkdir()
    sharing = Sharing(tmp_path / "index", ["as here"])
    async with asking(brain_of(tmp_path, notes), sharing=sharing) as ask:
        await ask("reindex_now")
        address = sharing.address()
        assert address is not None
        (file,) = tmp_path.glob("index/serving/*.json")
        assert file.stat().st_mode & 0o077 == 0
        async with await anyio.connect_tcp("127.0.0.1", address.port) as guess:
            await guess.send(b"0" * 64 + b"\n")
            with pytest.raises(anyio.EndOfStream):
                await guess.receive()
        link = await anyio.to_thread.run_sync(Link.to, address)
        assert link is not None
        events = queue.SimpleQueue[Event]()
        link.hear(events)
        link.send(_said(1, "initialize", **HELLO) + b"\n")
        lines = [(await anyio.to_thread.run_sync(events.get))[1] for _ in range(2)]
        assert b"\n" in lines
        assert any(b"serverInfo" in line for line in lines)
        link.close()
        assert await ask.paths("quokka") == ["notes/a.md"]
    assert sharing.address() is None


def test_servers_that_are_set_up_otherwise_do_not_hand_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Front(str(tmp_path))
    first = sharing_of(here, read_only=False, follow=True)
    assert first is not None
    assert first.claim()
    others = [
        sharing_of(here, read_only=True, follow=True),
        sharing_of(here, read_only=False, follow=False),
        sharing_of(Front(str(tmp_path), tmp_path / "other.toml"), read_only=False, follow=True),
    ]
    monkeypatch.setenv("LANCEBRAIN_THREADS", "2")
    others.append(sharing_of(here, read_only=False, follow=True))
    assert all(other is not None and other.claim() for other in others)
    monkeypatch.delenv("LANCEBRAIN_THREADS")
    monkeypatch.setenv("LANCEBRAIN_INDEX", str(tmp_path))
    same = sharing_of(Front(), read_only=False, follow=True)
    assert same is not None
    assert not same.claim()
    assert sharing_of(Front(str(tmp_path / "none")), read_only=False, follow=True) is None


@pytest.mark.parametrize("answer", [b"", b"0" * 64 + b"\n"])
def test_nothing_is_said_to_a_stranger_or_to_a_server_that_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    monkeypatch.setattr(relaying, "_PROOF_S", 0.05)
    monkeypatch.setattr(relaying, "_REFUSED_S", 0.0)
    there = Sharing(tmp_path, ["a"])
    assert there.claim()
    heard = BytesIO()
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        token = there.announce(stranger.getsockname()[1])

        def listen() -> None:
            with stranger.accept()[0] as guest:
                guest.sendall(answer)
                while data := guest.recv(1 << 16):
                    heard.write(data)

        listening = threading.Thread(target=listen)
        listening.start()
        assert relay(Sharing(tmp_path, ["a"])) is None
        listening.join(10)
    assert heard.getvalue()
    assert token.encode() not in heard.getvalue()


def test_a_server_that_hands_over_loads_nothing_for_it() -> None:
    heavy = ("mcp", "pydantic", "anyio", "asyncio", "lancedb", "lance", "numpy", "watchfiles")
    code = (
        "import sys, lancebrain.cli.entry, lancebrain.cli.stdio, lancebrain.mcp_server.relay\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_only_one_process_takes_others_in_and_the_next_after_it(tmp_path: Path) -> None:
    first, second = Sharing(tmp_path, ["a"]), Sharing(tmp_path, ["a"])
    assert first.claim()
    first.announce(1)
    assert not second.claim()
    assert Sharing(tmp_path, ["b"]).claim()
    first.release()
    assert second.claim()
    assert second.address() is None


@pytest.mark.anyio
async def test_what_may_be_asked_twice_is_what_the_tools_say_of_themselves(tmp_path: Path) -> None:
    notes = write_tree(tmp_path / "notes", {"a.md": "# A\n"})
    async with asking(brain_of(tmp_path, notes)) as ask:
        tools = (await ask.client.list_tools()).tools
    repeatable = {t.name for t in tools if t.annotations and t.annotations.idempotent_hint}
    assert repeatable == REPEATABLE


HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "t", "version": "1"},
}


def _said(number: int | None, method: str, **params: object) -> bytes:
    message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    return json.dumps(message).encode() + b"\n"


def _answer(number: int) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": {}}).encode() + b"\n"


def test_another_server_is_told_what_it_has_to_know_and_the_client_nothing_twice() -> None:
    so_far = Conversation()
    hello, ready = _said(1, "initialize"), _said(None, "notifications/initialized")
    wanted, old = (_said(n, "resources/subscribe", uri=f"note://{n}") for n in (2, 3))
    given_up = _said(5, "tools/call", name="search_knowledge")
    question = _said(6, "tools/call", name="search_knowledge")
    writing = _said(7, "tools/call", name="add_knowledge")
    for line in (hello, ready, wanted, old, _said(4, "resources/unsubscribe", uri="note://3")):
        so_far.said(line)
    assert all(so_far.is_news(_answer(number)) for number in (1, 2, 3, 4))
    assert not so_far.is_waiting
    for line in (given_up, _said(None, "notifications/cancelled", requestId=5), question, writing):
        so_far.said(line)
    (refusal,) = so_far.refusals()
    assert json.loads(refusal)["id"] == 7
    assert "took over" in json.loads(refusal)["error"]["message"]
    assert list(so_far.again()) == [hello, ready, wanted, question]
    assert [so_far.is_news(_answer(number)) for number in (1, 2, 6)] == [False, False, True]
    assert not so_far.is_waiting


def test_an_introduction_that_was_never_answered_is_answered_by_the_next_server() -> None:
    so_far = Conversation()
    so_far.said(_said(1, "initialize"))
    assert list(so_far.again()) == [_said(1, "initialize")]
    assert so_far.is_news(_answer(1))


@pytest.fixture
def stuck() -> Iterator[tuple[Link, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(5)
        yield Link(ours), theirs


def test_a_server_that_gives_no_sign_of_life_is_left(
    stuck: tuple[Link, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relaying, "_PULSE_S", 0.01)
    link, server = stuck
    so_far, events = Conversation(), queue.SimpleQueue[Event]()
    question = _said(1, "tools/call", name="search_knowledge")
    events.put((None, question))
    relaying._pass_on(events, link, so_far, BytesIO())
    assert server.recv(1 << 16) == question + b"\n" * 3
    assert so_far.is_waiting
