"""The server with other people's clients: the protocol's own test suite, the Inspector, and the
TypeScript client. They need Node, and run only when they are asked for:

    TEST_MCP_NODE=install pytest tests/test_mcp_clients.py    # fetches what it needs
    TEST_MCP_NODE=FOLDER pytest tests/test_mcp_clients.py     # with FOLDER/node_modules
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PROJECT
from tests.trees import write_tree

ASKED = os.environ.get("TEST_MCP_NODE", "")
PACKAGES = (
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@0.15.0",
    "@modelcontextprotocol/sdk@1.32.2",
)
PATIENCE_S = 300
MODERN = "2026-07-28"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ASKED, reason="TEST_MCP_NODE is not set: see the module"),
]

# Scenarios for what this server does not do, each with the reason; docs/mcp.md tells the same.
NOT_OURS = {
    "2025-11-25": {
        "logging-set-level": "no log over the protocol, which has deprecated it",
        "tools-call-with-logging": "as above",
        "tools-call-sampling": "the client's model is never asked",
        "json-schema-2020-12": "no tool whose schema refers to itself",
        "server-sse-polling": "no stream that is taken up again: an answer is one message",
        "elicitation-sep1330-enums": "what a person is asked is yes or no",
    },
    MODERN: {
        "server-stateless:sep-2575-missing-capability-http-400": "needs a tool for diagnosis",
        "server-stateless:sep-2575-server-rejects-undeclared-capability": "as above",
        "server-stateless:sep-2575-server-sends-prompts-list-changed-on-subscription": "as above",
        "server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription": "as above",
        "json-schema-2020-12": "no tool whose schema refers to itself",
        "http-custom-header-server-validation": "no argument that travels in a header",
        "input-required-result-basic-elicitation": "needs a key that the SDK does not let choose",
        "input-required-result-ignore-extra-params": "as above",
        "input-required-result-basic-sampling": "the client's model is never asked",
        "input-required-result-basic-list-roots": "nor its folders",
        "input-required-result-multiple-input-requests": "one question at a time",
        "input-required-result-multi-round": "and one round",
        "input-required-result-non-tool-request": "prompts ask nothing",
        "input-required-result-capability-check": "needs a tool that asks for more than one thing",
    },
}


class Node:
    """Node with the packages of the tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        own = folder / "node_modules" / "node" / "bin" / "node"
        self.program = str(own) if own.exists() else str(shutil.which("node"))

    def run(self, *arguments: object, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a script of a package by its name, or a file."""
        script, *rest = map(str, arguments)
        binary = self.folder / "node_modules" / ".bin" / script
        return subprocess.run(
            [self.program, str(binary) if binary.exists() else script, *rest],
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
            check=False,
            cwd=cwd,
            env={**os.environ, **env},
        )

    @property
    def major(self) -> int:
        said = subprocess.run(
            [self.program, "--version"], capture_output=True, text=True, check=True
        )
        return int(said.stdout.lstrip("v").split(".")[0])


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Node:
    """Node; the packages are fetched if that is asked for."""
    if shutil.which("node") is None:
        pytest.skip("There is no Node here.")
    if ASKED != "install":
        return Node(Path(ASKED).absolute())
    folder = tmp_path_factory.mktemp("node")
    (folder / "package.json").write_text('{"private": true}')
    install = ["npm", "install", "--no-fund", "--no-audit", "--ignore-scripts", *PACKAGES]
    subprocess.run(install, cwd=folder, check=True, capture_output=True)
    return Node(folder)


@pytest.fixture
def served(
    tmp_path: Path, stand_in: None, lb: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """The arguments of Python for a server of two notes."""
    root = write_tree(
        tmp_path / "notes",
        {"a.md": "# A\n\nThe quokka smiles.\n", "日本.md": "# 茶\n\n緑茶は八十度で淹れる。80 度\n"},
    )
    config = f'index = "{tmp_path / "index"}"\n[[sources]]\nroot = "{root}"\nwritable = true\n'
    (tmp_path / "lancebrain.toml").write_text(config, encoding="utf-8")
    # A variable, since the Inspector would take the flag for one of its own.
    monkeypatch.setenv("LANCEBRAIN_CONFIG", str(tmp_path / "lancebrain.toml"))
    assert lb("sync").code == 0
    return ["-m", "lancebrain", "serve"]


@contextmanager
def running(*arguments: object) -> Iterator[None]:
    """A process of Python that listens on the port that is its last argument."""
    port = int(str(arguments[-1]))
    process = subprocess.Popen([sys.executable, *map(str, arguments)], cwd=PROJECT)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture
def port() -> int:
    """One that is free."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@pytest.mark.parametrize("version", NOT_OURS)
def test_the_protocols_own_suite_passes(
    tmp_path: Path, stand_in: None, node: Node, port: int, version: str
) -> None:
    if node.major < 22:
        pytest.skip("The suite needs Node 22.")
    write_tree(tmp_path / "notes", {"a.md": "# A\n\nThe quokka smiles.\n"})
    known = "".join(f"  - {scenario}\n" for scenario in NOT_OURS[version])
    (tmp_path / "known.yml").write_text(f"server:\n{known}")
    with running("tests/conformance_server.py", tmp_path, port):
        done = node.run(
            "conformance", "server", "--url", f"http://127.0.0.1:{port}/mcp", "--suite", "all",
            "--spec-version", version, "--expected-failures", tmp_path / "known.yml",
            cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout[done.stdout.find("=== SUMMARY") :]


@pytest.mark.parametrize("how", ["stdio", "http"])
def test_the_inspector_lists_calls_and_reads(
    tmp_path: Path, served: list[str], node: Node, port: int, how: str
) -> None:
    def inspect(*asked: str) -> Any:
        where = [sys.executable, *served] if how == "stdio" else [f"http://127.0.0.1:{port}/mcp"]
        transport = [] if how == "stdio" else ["--transport", "http"]
        done = node.run("mcp-inspector", "--cli", *where, *transport, *asked, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def look() -> None:
        assert len(inspect("--method", "tools/list")["tools"]) == 10
        found = inspect(
            "--method", "tools/call", "--tool-name", "search_knowledge",
            "--tool-arg", "query=緑茶 八十度",
        )  # fmt: skip
        assert found["structuredContent"]["hits"][0]["path"] == "notes/日本.md"
        read = inspect("--method", "resources/read", "--uri", "note://notes/a.md")
        assert "The quokka smiles." in read["contents"][0]["text"]

    if how == "stdio":
        look()
    else:
        with running(*served, "--http", "--no-token", "--port", port):
            look()


@pytest.mark.parametrize("how", ["stdio", "http"])
def test_the_typescript_client_has_a_session(
    tmp_path: Path, served: list[str], node: Node, port: int, how: str
) -> None:
    script = shutil.copy(PROJECT / "tests" / "clients" / "session.mjs", tmp_path)
    (tmp_path / "node_modules").symlink_to(node.folder / "node_modules")

    def talk(*where: str) -> dict[str, Any]:
        done = node.run(script, how, *where, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        said: dict[str, Any] = json.loads(done.stdout)
        return said

    if how == "stdio":
        said = talk(sys.executable, *served)
    else:
        with running(*served, "--http", "--no-token", "--port", port):
            said = talk(f"http://127.0.0.1:{port}/mcp")
    assert said["server"] == "lancebrain"
    assert (said["tools"], said["templates"], said["prompts"]) == (10, 3, 3)
    assert said["paths"][0] == "notes/日本.md"
    assert "緑茶は八十度" in said["text"]
    assert said["wrong"].startswith("limit has to be a whole number")
    assert said["told"] == "note://notes/%E6%97%A5%E6%9C%AC.md"
