"""Starting the server as a program would, and seeing whether it answers as it should."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import anyio

from lancebrain.mcp_server.hosts import Launch

START_S = 10.0
"""The most impatient program gives a server so long until its tools are listed."""
_GIVE_UP_S = 60.0


@dataclass(frozen=True, slots=True)
class Checked:
    """One thing that was looked at.

    Attributes:
        what: in a few words.
        ok: it is as it should be.
        detail: a measured figure, or what is wrong.
    """

    what: str
    ok: bool
    detail: str


def check(launch: Launch, told: Callable[[Checked], None]) -> bool:
    """Start, list, ask, end; whether all is well.

    Args:
        told: is handed each finding as it comes.
    """
    found: list[Checked] = []

    def tell(what: str, ok: bool, detail: str) -> None:
        found.append(Checked(what, ok, detail))
        told(found[-1])

    try:
        anyio.run(_check, launch, tell)
    except* Exception as errors:  # noqa: BLE001 (whatever it is, it is the finding)
        tell("the server", False, str(_first(errors)) or type(_first(errors)).__name__)
    return all(finding.ok for finding in found)


async def _check(launch: Launch, tell: Callable[[str, bool, str], None]) -> None:
    from mcp import Client, StdioServerParameters

    command = StdioServerParameters(
        command=launch.command, args=list(launch.arguments), env=dict(launch.env)
    )
    started = time.monotonic()
    with anyio.fail_after(_GIVE_UP_S):
        async with Client(command) as client:
            tools = (await client.list_tools()).tools
            seconds = time.monotonic() - started
            tell("start", seconds < START_S, f"{len(tools)} tools after {seconds:.1f} s")
            length = len(client.instructions or "")
            tell("instructions", 0 < length <= 2_048, f"{length} characters")
            asked = time.monotonic()
            state = await client.call_tool("index_status", {})
            about = "".join(getattr(part, "text", "") for part in state.content)
            if state.is_error:
                tell("index", False, about)
                return
            content = state.structured_content or {}
            tell("index", True, f"{content.get('documents')} documents in {content.get('index')}")
            found = await client.call_tool("search_knowledge", {"query": "knowledge"})
            seconds = time.monotonic() - asked
            tell("a question", not found.is_error, f"answered after {seconds:.1f} s")


def _first(errors: BaseException) -> BaseException:
    while isinstance(errors, BaseExceptionGroup):
        errors = errors.exceptions[0]
    return errors
