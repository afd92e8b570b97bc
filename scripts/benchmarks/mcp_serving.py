"""A server as a process of its own, spoken to over its pipes, and what it costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.mcp_notes import MODEL

_HERE = Path(__file__).resolve().parent.parent
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


class Served:
    """A started server.

    Args:
        arguments: of Python.
    """

    def __init__(self, arguments: Sequence[object]) -> None:
        path = os.pathsep.join([str(_HERE), os.environ.get("PYTHONPATH", "")])
        env = {**os.environ, "PYTHONPATH": path, "LANCEBRAIN_MODEL": MODEL}
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
        )
        self._number = 0

    def introduce(self) -> float:
        """Say hello and ask for the tools; seconds since the process was started."""
        about = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        }
        self.request("initialize", about)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.request("tools/list")
        return time.perf_counter() - self.started

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Ask, and wait for the answer."""
        self._number += 1
        asked = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params or {}}
        self._send(asked)
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == self._number:
                result: dict[str, Any] = answer["result"]
                return result
        raise RuntimeError("The server has ended.")

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """The structured result of a tool."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(str(result["content"]))
        content: dict[str, Any] = result["structuredContent"]
        return content

    def wait_until_ready(self, within_s: float = 600) -> None:
        """Wait until everything is loaded and taken in."""
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            state = self.call("index_status")
            if state["ready"] and state["doing"] == "up to date" and not state["pending"]:
                return
            time.sleep(0.2)
        raise RuntimeError("The server does not get ready.")

    def memory_mb(self) -> tuple[float, float]:
        """Resident memory, and this process's share of it where pages are shared."""
        return memory_mb(self.process.pid)

    def cpu_s(self) -> float:
        """Processor time so far."""
        return cpu_s(self.process.pid)

    def end(self) -> float:
        """Close its stdin; seconds until it is gone."""
        assert self.process.stdin is not None
        begun = time.perf_counter()
        self.process.stdin.close()
        self.process.wait(30)
        return time.perf_counter() - begun

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()


def serve(index: Path, *more: object) -> Served:
    """Start ``lancebrain serve`` for an index."""
    return Served(["-m", "lancebrain", "serve", "--index", index, *more])


def memory_mb(pid: int) -> tuple[float, float]:
    """Resident memory of a process, and its proportional share, in megabytes."""
    found = {"Rss": 0.0, "Pss": 0.0}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name in found:
            found[name] = int(rest.split()[0]) / 1024
    return found["Rss"], found["Pss"]


def cpu_s(pid: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * _TICK_S
