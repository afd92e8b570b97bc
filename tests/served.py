"""A server for tests: in this process with a client of either era, or as a process of its own."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.types import CallToolResult

from lancebrain.brain import Brain
from lancebrain.brain import open as open_brain
from lancebrain.mcp_server.server import build
from lancebrain.types import Source
from tests.stand_in import StandIn

MODES = ("auto", "legacy")
ANSWERS_WITHIN_S = 90.0
"""Longer than any answer may take on a busy machine: who waits for more waits for ever."""


class Asker:
    """A connected client, whose answers are the structured ones."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool that is to succeed."""
        result = await self._call(tool, arguments)
        assert not result.is_error, result.content
        assert isinstance(result.structured_content, dict)
        return result.structured_content

    async def fails(self, tool: str, **arguments: object) -> str:
        """Call a tool that is to fail; what it says."""
        result = await self._call(tool, arguments)
        assert result.is_error, result.structured_content
        return "".join(getattr(part, "text", "") for part in result.content)

    async def paths(self, query: str, **arguments: object) -> list[str]:
        """The documents of the hits."""
        found = await self("search_knowledge", query=query, **arguments)
        return [hit["path"] for hit in found["hits"]]

    async def _call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        with anyio.fail_after(ANSWERS_WITHIN_S):
            return await self.client.call_tool(tool, arguments)
        raise AssertionError(tool)


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

    No answer is waited for without a bound: one that does not come fails with what the server
    said on stderr and what each of its threads was at.

    Args:
        program: what Python runs.
    """

    def __init__(
        self,
        *arguments: object,
        program: Sequence[object] = ("-m", "lancebrain"),
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (until __exit__)
        self.process = subprocess.Popen(
            [sys.executable, *map(str, (*program, *arguments))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env={**os.environ, "PYTHONFAULTHANDLER": "1", **(env or {})},
        )
        self._number = 0
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

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
        deadline = time.monotonic() + ANSWERS_WITHIN_S
        while line := self._line(deadline, asked):
            answer = json.loads(line)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
        raise AssertionError(f"The server ended before it answered {asked}.\n{self._said()}")

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool; again while the index is being opened, as it says one should."""
        deadline = time.monotonic() + ANSWERS_WITHIN_S
        while True:
            result = self.request("tools/call", {"name": tool, "arguments": arguments})
            if "still being opened" not in str(result) or time.monotonic() > deadline:
                return result

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def rest(self) -> list[bytes]:
        """What a server that has ended, or is about to, said and nobody has read."""
        deadline = time.monotonic() + ANSWERS_WITHIN_S
        return list(iter(lambda: self._line(deadline, "the end"), b""))

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _line(self, deadline: float, awaited: object) -> bytes:
        try:
            return self._lines.get(timeout=max(deadline - time.monotonic(), 0))
        except queue.Empty:
            if sys.platform != "win32":
                self.process.send_signal(signal.SIGABRT)  # its threads tell where they are
            else:
                self.process.kill()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(10)
            raise AssertionError(
                f"No answer within {ANSWERS_WITHIN_S:.0f} s to {awaited}.\n{self._said()}"
            ) from None

    def _said(self) -> str:
        self._stderr.seek(0)
        return self._stderr.read().decode(errors="replace")

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self._stderr.close()
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
