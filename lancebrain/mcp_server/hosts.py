"""The programs that start servers, where each keeps that, and in which form.

Their files belong to their owners: one entry is put in or taken out, the rest is kept, and the
file as it was is kept beside it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lancebrain.errors import ConfigError, UsageError

NAME = "lancebrain"
BACKUP = ".before-lancebrain"
_START_S, _TOOL_S = 30, 120


@dataclass(frozen=True, slots=True)
class Launch:
    """How a server is started.

    Attributes:
        command: absolute.
        arguments: after it.
        env: variables that it needs.
    """

    command: str
    arguments: tuple[str, ...]
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Host:
    """A program that starts servers.

    Attributes:
        title: its name.
        file: where it keeps them: home folder, platform and variables → path.
        key: the table in that file that holds them by name.
        entry: what is put there.
    """

    title: str
    file: Callable[[Path, str, Mapping[str, str]], Path]
    key: str
    entry: Callable[[Launch], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Installed:
    """What was done to a host's file.

    Attributes:
        file: of the host.
        backup: as it was before; None when it was new or is unchanged.
        changed: something was to be done.
        text: what the file holds now, or would hold.
    """

    host: str
    file: Path
    backup: Path | None
    changed: bool
    text: str


def _plain(launch: Launch) -> dict[str, Any]:
    return {
        "command": launch.command,
        "args": list(launch.arguments),
        "env": dict(launch.env),
    }


def _typed(launch: Launch) -> dict[str, Any]:
    return {"type": "stdio", **_plain(launch)}


def _codex(launch: Launch) -> dict[str, Any]:
    entry = _plain(launch)
    if not entry["env"]:
        del entry["env"]
    return {**entry, "startup_timeout_sec": _START_S, "tool_timeout_sec": _TOOL_S}


def _application_data(home: Path, platform: str, env: Mapping[str, str]) -> Path:
    if platform == "darwin":
        return home / "Library" / "Application Support"
    if platform == "win32":
        return Path(env.get("APPDATA") or home / "AppData" / "Roaming")
    return Path(env.get("XDG_CONFIG_HOME") or home / ".config")


def _zed(home: Path, platform: str, env: Mapping[str, str]) -> Path:
    base = _application_data(home, platform, env)
    if platform == "darwin":
        return home / ".config" / "zed" / "settings.json"
    return base / ("Zed" if platform == "win32" else "zed") / "settings.json"


HOSTS: Mapping[str, Host] = {
    "claude-code": Host("Claude Code", lambda h, p, e: h / ".claude.json", "mcpServers", _typed),
    "claude-desktop": Host(
        "Claude Desktop",
        lambda h, p, e: _application_data(h, p, e) / "Claude" / "claude_desktop_config.json",
        "mcpServers",
        _plain,
    ),
    "cursor": Host("Cursor", lambda h, p, e: h / ".cursor" / "mcp.json", "mcpServers", _plain),
    "vscode": Host(
        "VS Code",
        lambda h, p, e: _application_data(h, p, e) / "Code" / "User" / "mcp.json",
        "servers",
        _typed,
    ),
    "codex": Host(
        "Codex",
        lambda h, p, e: Path(e.get("CODEX_HOME") or h / ".codex") / "config.toml",
        "mcp_servers",
        _codex,
    ),
    "gemini": Host(
        "Gemini CLI", lambda h, p, e: h / ".gemini" / "settings.json", "mcpServers", _plain
    ),
    "zed": Host("Zed", _zed, "context_servers", _plain),
    "windsurf": Host(
        "Windsurf",
        lambda h, p, e: h / ".codeium" / "windsurf" / "mcp_config.json",
        "mcpServers",
        _plain,
    ),
}
"""All that are known, by the name that one types."""


def launch_of(arguments: tuple[str, ...], *, environ: Mapping[str, str] | None = None) -> Launch:
    """How this very installation is started, with absolute paths.

    Args:
        arguments: after ``serve``.
        environ: whose settings for us are handed on.
    """
    environ = os.environ if environ is None else environ
    left = {"LANCEBRAIN_INDEX", "LANCEBRAIN_CONFIG", "LANCEBRAIN_DEBUG", "LANCEBRAIN_SHARED"}
    env = {
        name: value
        for name, value in sorted(environ.items())
        if name.startswith("LANCEBRAIN_") and name not in left
    }
    suffix = ".exe" if sys.platform == "win32" else ""
    program = Path(sys.executable).with_name(f"lancebrain{suffix}")
    if program.exists():
        return Launch(str(program), ("serve", *arguments), env)
    return Launch(sys.executable, ("-m", "lancebrain", "serve", *arguments), env)


def installed(
    name: str,
    launch: Launch | None,
    *,
    write: bool = True,
    home: Path | None = None,
    platform: str = sys.platform,
    environ: Mapping[str, str] | None = None,
) -> Installed:
    """Put our entry into a host's file, or take it out.

    Args:
        name: of the host, a key of :data:`HOSTS`.
        launch: what is to be started; None takes the entry out.
        write: False only tells what would be done.

    Raises:
        UsageError: there is no such host.
        ConfigError: its file cannot be read or written, or not without losing something.
    """
    if name not in HOSTS:
        raise UsageError(f"{name!r} is not known.", hint=f"Known are: {', '.join(HOSTS)}.")
    host = HOSTS[name]
    file = host.file(home or Path.home(), platform, os.environ if environ is None else environ)
    before = _read(file)
    entry = None if launch is None else host.entry(launch)
    change = _toml_changed if file.suffix == ".toml" else _json_changed
    after = change(before or "", host.key, entry, file)
    changed = after != (before or "")
    without = change(before or "", host.key, None, file)
    kept = file.with_name(file.name + BACKUP)
    original = _read(kept) if entry is None and changed else None
    if original is not None and _differ_in_form(after, original, host.key, file):
        after = original
    # What has our entry already is not as it was before.
    backup = kept if changed and before is not None and without == before else None
    if write and changed:
        _write(file, after, before, backup)
    return Installed(name, file, backup, changed, after)


def _differ_in_form(one: str, other: str, key: str, file: Path) -> bool:
    """Whether two contents of a host's file say the same; a table of servers without any says
    nothing."""
    import tomlkit

    parse = tomlkit.parse if file.suffix == ".toml" else json.loads
    try:
        contents = [dict(parse(text)) if text.strip() else {} for text in (one, other)]
    except ValueError:
        return False
    for content in contents:
        if not content.get(key, True):
            del content[key]
    return contents[0] == contents[1]


def _read(file: Path) -> str | None:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}.") from error


def _write(file: Path, after: str, before: str | None, backup: Path | None) -> None:
    from lancebrain.config.atomic import write_atomically

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if backup is not None and before is not None:
            write_atomically(backup, before)
            backup.chmod(file.stat().st_mode & 0o777)
        write_atomically(file, after)
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror or error}.") from error


def _json_changed(text: str, key: str, entry: dict[str, Any] | None, file: Path) -> str:
    try:
        content = json.loads(text) if text.strip() else {}
    except ValueError:
        shown = json.dumps({key: {NAME: entry}}, indent=2, ensure_ascii=False)
        raise ConfigError(
            f"{file} is no plain JSON (it may have comments, which would be lost).",
            hint=f"Put this in by hand: {shown}" if entry else f"Take {key}.{NAME} out by hand.",
        ) from None
    if not isinstance(content, dict) or not isinstance(content.get(key, {}), dict):
        raise ConfigError(f"{file} does not hold what its program keeps there.")
    servers = content.get(key, {})
    if servers.get(NAME) == entry:
        return text
    if entry is None:
        del servers[NAME]
    else:
        content.setdefault(key, {})[NAME] = entry
    return json.dumps(content, indent=_indent(text), ensure_ascii=False) + "\n"


def _indent(text: str) -> int | str:
    for line in text.splitlines()[1:]:
        space = line[: len(line) - len(line.lstrip())]
        if space:
            return space
    return 2


def _toml_changed(text: str, key: str, entry: dict[str, Any] | None, file: Path) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        content = tomlkit.parse(text)
    except TOMLKitError as error:
        raise ConfigError(f"{file} is no TOML: {error}.") from None
    servers = content.get(key)
    if servers is not None and not isinstance(servers, dict):
        raise ConfigError(f"{file} does not hold what its program keeps there.")
    if (servers or {}).get(NAME) == entry:
        return text
    if entry is None:
        del content[key][NAME]
        return tomlkit.dumps(content)
    if servers is None:
        content[key] = tomlkit.table(is_super_table=True)
    table = tomlkit.table()
    table.update(entry)
    content[key][NAME] = table
    return tomlkit.dumps(content)
