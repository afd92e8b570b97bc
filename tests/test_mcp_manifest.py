"""What the registry of servers and the programs that install bundles are told."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import lancebrain
from scripts.bundle import pack
from tests.served import Process, asking, brain_of
from tests.trees import write_tree

PROJECT = Path(__file__).parent.parent

REGISTRY: dict[str, Any] = {
    "type": "object",
    "required": ["$schema", "name", "description", "version", "packages"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"pattern": r"^https://static\.modelcontextprotocol\.io/schemas/[0-9-]+/"},
        "name": {"pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "maxLength": 200},
        "title": {"type": "string", "minLength": 1, "maxLength": 100},
        "description": {"type": "string", "minLength": 1, "maxLength": 100},
        "version": {"pattern": r"^[0-9]+\.[0-9]+\.[0-9]+"},
        "packages": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/package"}},
    },
    "$defs": {
        "package": {
            "type": "object",
            "required": ["registryType", "identifier", "version", "transport"],
            "additionalProperties": False,
            "properties": {
                "registryType": {"const": "pypi"},
                "registryBaseUrl": {"const": "https://pypi.org"},
                "identifier": {"const": "lancebrain"},
                "version": {"pattern": r"^[0-9]+\.[0-9]+\.[0-9]+", "not": {"const": "latest"}},
                "runtimeHint": {"const": "uvx"},
                "transport": {"const": {"type": "stdio"}},
                "packageArguments": {
                    "type": "array",
                    "items": {
                        "required": ["type", "value"],
                        "properties": {"type": {"const": "positional"}},
                    },
                },
                "environmentVariables": {
                    "type": "array",
                    "items": {
                        "required": ["name"],
                        "properties": {
                            "format": {"enum": ["string", "number", "boolean", "filepath"]}
                        },
                    },
                },
            },
        }
    },
}
"""What the registry asks of the parts that ``server.json`` uses, and nothing else."""


def _read(file: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((PROJECT / file).read_text(encoding="utf-8"))
    return content


def test_the_registry_takes_what_it_is_told() -> None:
    about = _read("server.json")
    jsonschema.validate(about, REGISTRY)
    assert about["version"] == lancebrain.__version__
    assert [package["version"] for package in about["packages"]] == [lancebrain.__version__]
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"mcp-name: (\S+)", readme) == [about["name"]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_the_bundle_tells_of_the_tools_that_there_are(tmp_path: Path) -> None:
    about = _read("bundle/manifest.json")
    assert about["version"] == lancebrain.__version__
    notes = write_tree(tmp_path / "notes", {"a.md": "# A\n"})
    async with asking(brain_of(tmp_path, notes), follow=False) as ask:
        tools = (await ask.client.list_tools()).tools
    assert {tool["name"] for tool in about["tools"]} == {tool.name for tool in tools}
    config = about["server"]["mcp_config"]
    used = re.findall(r"\$\{user_config\.(\w+)\}", json.dumps(config))
    assert sorted(used) == sorted(about["user_config"])


def test_the_bundle_holds_all_that_it_needs_and_serves(
    tmp_path: Path, stand_in: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(pack(tmp_path / "dist")) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "installed")
    about = _read("bundle/manifest.json")
    assert about["server"]["entry_point"] in names
    assert {"manifest.json", "pyproject.toml", "README.md", "lancebrain/cli/entry.py"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests")]
    notes = write_tree(tmp_path / "notes", {"a.md": "# A\n\nThe quokka smiles.\n"})
    monkeypatch.setenv("LANCEBRAIN_INDEX", str(tmp_path / "index"))
    monkeypatch.setenv("NOTES_WRITABLE", "true")
    with Process(notes, program=[tmp_path / "installed" / "serve.py"]) as server:
        server.start()
        (source,) = server.call("list_sources")["structuredContent"]["sources"]
    assert (source["root"], source["writable"]) == (str(notes), True)


def test_packing_twice_gives_the_same_file(tmp_path: Path) -> None:
    script = PROJECT / "scripts" / "bundle.py"
    done = subprocess.run(
        [sys.executable, script, tmp_path / "one"], capture_output=True, text=True, check=True
    )
    assert Path(done.stdout.strip()).read_bytes() == pack(tmp_path / "two").read_bytes()
