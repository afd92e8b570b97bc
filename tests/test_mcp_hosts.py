"""Telling programs of the server: their files are theirs."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lancebrain.errors import ConfigError, UsageError
from lancebrain.mcp_server.hosts import HOSTS, Launch, installed, launch_of

LAUNCH = Launch("/opt/bin/lancebrain", ("serve", "--index", "/data/in dex"), {"LANCEBRAIN_X": "1"})


def _load(file: Path) -> dict[str, Any]:
    text = file.read_text(encoding="utf-8")
    loaded: dict[str, Any] = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    return loaded


def _install(name: str, home: Path, launch: Launch | None = LAUNCH, **how: Any) -> Any:
    return installed(name, launch, home=home, environ={}, platform="linux", **how)


@pytest.mark.parametrize("name", HOSTS)
def test_each_program_is_told_with_absolute_paths_and_it_can_be_undone(
    tmp_path: Path, name: str
) -> None:
    done = _install(name, tmp_path)
    entry = _load(done.file)[HOSTS[name].key]["lancebrain"]
    assert entry["command"] == "/opt/bin/lancebrain"
    assert entry["args"] == ["serve", "--index", "/data/in dex"]
    assert not _install(name, tmp_path).changed
    assert _install(name, tmp_path, None).changed
    assert "lancebrain" not in _load(done.file).get(HOSTS[name].key, {})
    assert not _install(name, tmp_path, None).changed


@pytest.mark.parametrize("name", HOSTS)
def test_what_the_file_holds_else_is_kept_and_backed_up(tmp_path: Path, name: str) -> None:
    host = HOSTS[name]
    file = host.file(tmp_path, "linux", {})
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".toml":
        before = f'# mine\nmodel = "x"  # kept\n\n[{host.key}.other]\ncommand = "o"\n'
    else:
        before = json.dumps({"theme": "日本", host.key: {"other": {"command": "o"}}}, indent=4)
    file.write_text(before, encoding="utf-8")
    file.chmod(0o600)
    done = _install(name, tmp_path)
    content = _load(file)
    assert content[host.key]["other"] == {"command": "o"}
    assert content.get("theme", content.get("model")) in ("日本", "x")
    assert file.stat().st_mode & 0o777 == 0o600
    assert done.backup.read_text(encoding="utf-8") == before
    if file.suffix == ".toml":
        assert before in file.read_text(encoding="utf-8")
    again = _install(name, tmp_path, Launch("/opt/other/lancebrain", ("serve",), {}))
    assert again.changed
    assert done.backup.read_text(encoding="utf-8") == before  # of the time before the first
    undone = _install(name, tmp_path, None)
    assert undone.changed
    assert file.read_text(encoding="utf-8") == before
    assert done.backup.read_text(encoding="utf-8") == before


@pytest.mark.parametrize("name", ["cursor", "codex"])
def test_taking_it_out_keeps_what_was_put_in_since(tmp_path: Path, name: str) -> None:
    file = HOSTS[name].file(tmp_path, "linux", {})
    file.parent.mkdir(parents=True, exist_ok=True)
    is_toml = file.suffix == ".toml"
    file.write_text('model = "x"\n' if is_toml else '{"model":"x"}')
    _install(name, tmp_path)
    since = 'new = "y"\n' + file.read_text() if is_toml else json.dumps(_load(file) | {"new": "y"})
    file.write_text(since)
    _install(name, tmp_path, None)
    content = _load(file)
    assert (content["model"], content["new"]) == ("x", "y")
    assert not content.get(HOSTS[name].key)


def test_a_file_with_comments_is_left_alone_with_what_to_put_in(tmp_path: Path) -> None:
    file = HOSTS["zed"].file(tmp_path, "linux", {})
    file.parent.mkdir(parents=True)
    file.write_text('// my settings\n{"theme": "One"}\n')
    with pytest.raises(ConfigError) as failed:
        _install("zed", tmp_path)
    assert "context_servers" in failed.value.hint
    assert file.read_text() == '// my settings\n{"theme": "One"}\n'


def test_printing_writes_nothing(tmp_path: Path) -> None:
    done = _install("cursor", tmp_path, write=False)
    assert json.loads(done.text)["mcpServers"]["lancebrain"]
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_program_is_told_which_are_known(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as failed:
        _install("emacs", tmp_path)
    assert "claude-code" in failed.value.hint


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_every_file_is_in_the_users_folders(tmp_path: Path, platform: str) -> None:
    files = {host.file(tmp_path, platform, {}) for host in HOSTS.values()}
    assert len(files) == len(HOSTS)
    assert all(file.is_relative_to(tmp_path) for file in files)


def test_settings_by_variables_are_handed_on_and_paths_are_not() -> None:
    environ = {"LANCEBRAIN_MODEL": "m:f", "LANCEBRAIN_INDEX": "x", "HOME": "/h"}
    launch = launch_of(("--index", "/i"), environ=environ)
    assert launch.env == {"LANCEBRAIN_MODEL": "m:f"}
    assert Path(launch.command).is_absolute()
    assert os.access(launch.command, os.X_OK)


def test_the_command_line_installs_for_this_index(
    tmp_path: Path, lb: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = lb("install", "gemini", "--index", tmp_path / "index", "--json")
    assert ran.code == 0
    entry = _load(Path(ran.json["file"]))["mcpServers"]["lancebrain"]
    assert str(tmp_path / "index") in entry["args"]
    assert lb("install", "gemini", "--undo").code == 0
