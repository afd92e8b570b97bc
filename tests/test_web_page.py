"""The files of the page: small, whole, and the same in every language."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path

import pytest

STATIC = Path(str(resources.files("lancebrain.web") / "static"))
LANGUAGES = ("en", "ja", "zh")
MODULES = sorted((STATIC / "js").glob("*.js"))


def _messages(language: str) -> dict[str, str | dict[str, str]]:
    return json.loads((STATIC / "messages" / f"{language}.json").read_text(encoding="utf-8"))


def test_all_files_together_are_small() -> None:
    total = sum(file.stat().st_size for file in STATIC.rglob("*") if file.is_file())
    assert total < 300_000


def test_nothing_is_fetched_from_elsewhere_and_nothing_is_inline() -> None:
    shell = (STATIC / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"(?:src|href)=\"(?!/|#)", shell)
    assert not re.search(r"<script(?![^>]*src=)|<style| style=| on\w+=", shell)
    for file in (*MODULES, STATIC / "page.css"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)
        assert not re.search(r"@import|url\(|import\(", text)


def test_the_shell_names_every_module_so_that_none_is_found_late() -> None:
    shell = (STATIC / "index.html").read_text(encoding="utf-8")
    named = set(re.findall(r'modulepreload" href="/static/js/([a-z]+\.js)"', shell))
    assert named == {file.name for file in MODULES} - {"before.js"}


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_every_language_says_the_same(language: str) -> None:
    english, other = _messages("en"), _messages(language)
    assert list(other) == list(english)
    for key, message in other.items():
        assert _names(message) == _names(english[key]), key
        assert message, key


def test_every_message_that_is_used_is_there() -> None:
    known = _messages("en")
    for file in MODULES:
        text = file.read_text(encoding="utf-8")
        for key in re.findall(r'\bt\(\s*"([^"]+)"', text):
            assert key in known, f"{file.name}: {key}"
        for start, end in re.findall(r"\bt\(`([a-z.]+)\.\$\{[^`]*?\}(\.[a-z]+)?`", text):
            found = [key for key in known if key.startswith(start + ".") and key.endswith(end)]
            assert found, f"{file.name}: {start}.…{end}"


def test_no_message_is_there_for_nothing() -> None:
    source = "".join(file.read_text(encoding="utf-8") for file in MODULES)
    built = re.findall(r"`([a-z.-]+)\.\$\{", source) + re.findall(r'counted\("(\w+)"', source)
    for key in _messages("en"):
        is_named = f'"{key}"' in source
        assert is_named or any(key.startswith(f"{start}.") for start in built), key


def _names(message: str | dict[str, str]) -> set[str]:
    forms = [message] if isinstance(message, str) else message.values()
    return {name for form in forms for name in re.findall(r"\{(\w+)\}", form)}
