"""The quick way into ``serve``: the same as the whole way, or not taken at all."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lancebrain.cli.entry import plain_serve


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("serve", {}),
        ("serve --read-only", {"--read-only": ""}),
        ("serve --index a --config b", {"--index": "a", "--config": "b"}),
        ("serve --no-follow --index a", {"--no-follow": "", "--index": "a"}),
    ],
)
def test_plain_forms_are_understood(line: str, options: dict[str, str]) -> None:
    assert plain_serve(line.split()) == options


@pytest.mark.parametrize(
    "line",
    ["", "search x", "serve --help", "serve --http", "serve --index", "serve --index --read-only",
     "serve --index=a", "serve x", "--index a serve"],
)  # fmt: skip
def test_anything_else_goes_the_whole_way(line: str) -> None:
    assert plain_serve(line.split()) is None


def test_the_quick_way_reads_no_other_command() -> None:
    code = (
        "import sys, lancebrain.cli.entry, lancebrain.cli.stdio, lancebrain.mcp_server.server;"
        "print([m for m in ('typer', 'rich', 'lancedb', 'numpy', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
