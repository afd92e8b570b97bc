"""A server for tests: in this process with a client of either era, or as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from lancebrain.brain import Brain
from lancebrain.brain import open as open_brain
from lancebrain.mcp_server.server import build
from lancebrain.types import Source
from tests.stand_in import StandIn

MODES = ("auto", "legacy")


class Asker:
    """A connected client, whose answers are the structured ones."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool that is to succeed."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        assert isinstance(result.structured_content, dict)
        return result.structured_content

    async def fails(self, tool: str, **arguments: object) -> str:
        """Call a tool that is to fail; what it says."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.structured_content
        return "".join(getattr(part, "text", "") for part in result.content)

    async def paths(self, query: str, **arguments: object) -> list[str]:
        """The documents of the hits."""
        found = await self("search_knowledge", query=query, **arguments)
        return [hit["path"] for hit in found["hits"]]


def brain_of(tmp_path: Path, root: Path, *, writable: bool = True) -> Brain:
    """The facade of an index of one source, named ``notes``."""
    source = Source("notes", root, writable=writable)
    return open_brain(tmp_path / "index", embedder=StandIn(), sources=[source])


@asynccontextmanager
async def asking(brain: Brain, mode: str = "auto", **how: Any) -> AsyncIterator[Asker]:
    """A client of a server in this process."""
    of_client = {
        name: how.pop(name) for name in ("message_handler", "elicitation_callback") if name in how
    }
    server = build(brain, **how)
    async with Client(server, mode=mode, **of_client) as client:  # type: ignore[arg-type]
        yield Asker(client)


async def eventually(holds: Callable[[], Awaitable[bool]], *, within_s: float = 20.0) -> None:
    """Wait until something holds."""
    with anyio.fail_after(within_s):
        while not await holds():
            await anyio.sleep(0.02)


class Process:
    """A server as a process of its own, spoken to line by line as the older protocol is.

    Args:
        program: what Python runs.
    """

    def __init__(
        self,
        *arguments: object,
        program: Sequence[object] = ("-m", "lancebrain"),
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *map(str, (*program, *arguments))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
        )
        self._number = 0

    def start(self) -> dict[str, Any]:
        """Introduce oneself; what the server says of itself."""
        about = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        answer = self.request("initialize", about)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Ask, and wait for the answer."""
        self._number += 1
        asked = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params or {}}
        self.send(asked)
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
        raise AssertionError("The server has ended.")

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool."""
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
