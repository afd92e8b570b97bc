"""Many clients: ten servers over stdio on one index, and eight clients of one over HTTP."""

from __future__ import annotations

import argparse
import itertools
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import numpy as np
from mcp import Client

from benchmarks.mcp_saving import QUESTIONS
from benchmarks.mcp_serving import Served, serve
from benchmarks.measure import say

_SERVERS = 10
_CLIENTS = 8
_QUESTIONS_A_SECOND = 50
_SETTLING_S = 10.0
_IDLE_S = 30.0
_SAMPLE_S = 5.0


def many(options: argparse.Namespace, notes: Path, index: Path) -> None:
    """Ten servers that each answered a question: memory and processor time at rest."""
    del options, notes
    for how in ("--alone", "--shared"):
        servers = []
        for _ in range(_SERVERS):
            servers.append(serve(index, how))
            servers[-1].introduce()
        for server in servers:
            server.call("search_knowledge", query=QUESTIONS[0])
        servers[0].wait_until_ready()
        time.sleep(_SETTLING_S)
        before = sum(server.cpu_s() for server in servers)
        time.sleep(_IDLE_S)
        busy = (sum(server.cpu_s() for server in servers) - before) / _IDLE_S
        resident = sorted(server.memory_mb()[0] for server in servers)
        share = sum(server.memory_mb()[1] for server in servers)
        print(
            f"{_SERVERS} servers {how}: {share:.0f} MB in all (shared pages counted once), "
            f"{resident[0]:.0f} to {resident[-1]:.0f} MB resident each; "
            f"at rest {busy:.2%} of a core in all"
        )
        for server in servers:
            server.end()


def load(options: argparse.Namespace, notes: Path, index: Path) -> None:
    """Questions from eight clients over HTTP at a steady rate."""
    del notes
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = Served(
        ["-m", "lancebrain", "serve", "--index", index, "--http", "--no-token", "--port", port]
    )
    try:
        anyio.run(_load, server, f"http://127.0.0.1:{port}/mcp", options.seconds)
    finally:
        server.process.terminate()
        server.process.wait(30)


async def _load(server: Served, url: str, seconds: float) -> None:
    took: list[float] = []
    errors: list[str] = []
    memory: list[float] = []
    numbers = itertools.count()
    await _until_ready(url)
    pause = _CLIENTS / _QUESTIONS_A_SECOND
    begun = time.perf_counter()

    async def ask(client_number: int) -> None:
        due = begun + client_number * pause / _CLIENTS
        async with Client(url) as client:
            while due < begun + seconds:
                await anyio.sleep(max(due - time.perf_counter(), 0))
                number = next(numbers)
                text = f"{QUESTIONS[number % len(QUESTIONS)]} {number}"
                sent = time.perf_counter()
                result = await client.call_tool("search_knowledge", {"query": text})
                took.append((time.perf_counter() - sent) * 1000)
                if result.is_error:
                    errors.append(str(result.content))
                due += pause

    async def watch() -> None:
        while True:
            memory.append(server.memory_mb()[0])
            await anyio.sleep(_SAMPLE_S)

    async with anyio.create_task_group() as all_tasks:
        all_tasks.start_soon(watch)
        async with anyio.create_task_group() as clients:
            for number in range(_CLIENTS):
                clients.start_soon(ask, number)
        all_tasks.cancel_scope.cancel()
    spent = time.perf_counter() - begun
    p50, p95 = np.percentile(took, [50, 95])
    say(f"memory over time: {', '.join(f'{one:.0f}' for one in memory)} MB")
    print(
        f"{_CLIENTS} clients over HTTP: {len(took)} questions in {spent:.0f} s = "
        f"{len(took) / spent:.1f} a second, {len(errors)} errors, p50 {p50:.0f} ms, "
        f"p95 {p95:.0f} ms; memory {memory[1]:.0f} MB after {_SAMPLE_S:.0f} s, "
        f"{memory[-1]:.0f} MB at the end"
    )


async def _until_ready(url: str) -> None:
    with anyio.fail_after(60):
        while not await _listens(url):
            await anyio.sleep(0.1)
        async with Client(url) as client:
            while not (await _status(client))["ready"]:
                await anyio.sleep(0.1)


async def _listens(url: str) -> bool:
    place = urlsplit(url)
    try:
        stream = await anyio.connect_tcp(str(place.hostname), int(place.port or 0))
    except OSError:
        return False
    await stream.aclose()
    return True


async def _status(client: Client) -> dict[str, object]:
    result = await client.call_tool("index_status", {})
    return result.structured_content or {}
