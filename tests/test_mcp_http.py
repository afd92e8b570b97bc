"""The server over HTTP: for this computer alone, with a token, for many clients at once."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from lancebrain.errors import UsageError
from lancebrain.mcp_server.http import auth_for, url_of, web_app
from lancebrain.mcp_server.server import build
from lancebrain.service.loopback import token_of
from tests.served import MODES, Asker, brain_of, eventually
from tests.trees import write_tree

pytestmark = pytest.mark.anyio
TOKEN = "a-token-of-some-length"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def serving(tmp_path: Path, **auth: Any) -> AsyncIterator[str]:
    notes = write_tree(tmp_path / "notes", {"a.md": "# A\n\nThe quokka smiles.\n"})
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        if auth.pop("token", False):
            auth = auth_for(TOKEN, "127.0.0.1", port)
        server = build(brain_of(tmp_path, notes), **auth)
        web = uvicorn.Server(
            uvicorn.Config(
                web_app(server, host="127.0.0.1", port=port),
                log_level="warning",
                timeout_graceful_shutdown=1,
            )
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(web.serve, [listening])

            async def is_up() -> bool:
                return web.started

            await eventually(is_up)
            yield url_of("127.0.0.1", port)
            web.should_exit = True


HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.mark.parametrize("mode", MODES)
async def test_clients_share_one_server(tmp_path: Path, mode: str) -> None:
    async with (
        serving(tmp_path) as url,
        Client(url, mode=mode) as first,
        Client(url, mode=mode) as second,
    ):
        await Asker(first)("reindex_now")
        assert await Asker(first).paths("quokka") == ["notes/a.md"]
        assert await Asker(second).paths("quokka") == ["notes/a.md"]


async def test_requests_of_a_web_page_of_elsewhere_are_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as url, httpx2.AsyncClient() as web:

        async def status(**headers: str) -> int:
            return (await web.post(url, json=HELLO, headers={**ACCEPT, **headers})).status_code

        assert await status() == 200
        assert await status(Host="evil.example") == 421
        assert await status(Origin="http://evil.example") == 403
        assert await status(Origin="null") == 403


async def test_who_has_no_token_is_not_let_in(tmp_path: Path) -> None:
    async with serving(tmp_path, token=True) as url:
        async with httpx2.AsyncClient() as web:
            for headers in ({}, {"Authorization": "Bearer wrong"}):
                refused = await web.post(url, json=HELLO, headers={**ACCEPT, **headers})
                assert refused.status_code == 401
        bearer = httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"})
        async with bearer, Client(streamable_http_client(url, http_client=bearer)) as client:
            assert len((await client.list_tools()).tools) == 10


def test_the_token_stays_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    token = token_of(tmp_path / "index")
    assert token_of(tmp_path / "index") == token
    assert len(token) > 40
    assert (tmp_path / "index" / "http-token").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.7", "example.org"])
def test_it_listens_to_this_computer_alone(tmp_path: Path, host: str) -> None:
    with pytest.raises(UsageError, match="other computers"):
        web_app(build(brain_of(tmp_path, tmp_path)), host=host, port=7437)
