"""The page in a real Chromium: by keyboard, in two tabs, in three languages, with hostile notes.

Skipped where there is no Playwright or no Chromium. With ``AXE_CORE`` naming a copy of axe-core
(``axe.min.js``), every view is checked for accessibility too.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.paged import Page, eventually, served
from tests.trees import write_tree

playwright = pytest.importorskip("playwright.sync_api")
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = os.environ.get("LANCEBRAIN_CHROMIUM") or next(
    filter(None, map(shutil.which, _NAMES)), ""
)
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="There is no Chromium.")

Tab = Any
EVIL = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
NOTES = {
    "coffee/espresso.md": "# Espresso\n\nDescale the machine with citric acid.\n\n"
    "## Grinder\n\nThe grinder wants new burrs each year. See [tea](../tea.md).\n",
    "tea.md": "---\ntags: [drinks]\n---\n# Tea\n\nGreen tea wants water of 70 degrees.\n",
    "evil.md": f"# Evil {EVIL}\n\nA wombat {EVIL} and [a link](javascript:document.title='owned')\n"
    f"`{EVIL}`\n\n| a | {EVIL} |\n|---|---|\n",
    "日記.md": "# 日記\n\n在庫同期の仕組みを調べた。\n",
    "binary.md": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8,
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A page that no test changes anything by."""
    yield from _paged(tmp_path_factory.mktemp("still"))


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    yield from _paged(tmp_path)


def _paged(tmp_path: Path) -> Iterator[Page]:
    with served(tmp_path, write_tree(tmp_path / "notes", NOTES)) as page:
        page.brain.sync()
        yield page


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Tab]]:
    """Opens a tab at a place of a page; nothing may go wrong in it until the test ends."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def open_tab(page: Page, place: str = "/", *, context: Any = None, **how: Any) -> Tab:
        if context is None:
            context = browser.new_context(**{"locale": "en-GB", **how})
            context.set_default_timeout(15_000)
            contexts.append(context)
            context.request.get(page.link)
        tab = context.new_page()
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("console", lambda said: _is_wrong(said) and wrong.append(said.text))
        tab.goto(page.url + place)
        tab.wait_for_selector("html.is-ready", state="attached")
        return tab

    yield open_tab
    for context in contexts:
        context.close()
    assert not wrong


def _is_wrong(said: Any) -> bool:
    """Whether a message of the console is a fault; a refusal that the page tells is none."""
    return said.type == "error" and "the server responded with a status of" not in said.text


def _answer_of(tab: Tab, question: str) -> None:
    tab.fill("#question", question)
    tab.wait_for_selector(".hit")


def test_everything_is_done_by_keys_alone(still: Page, visit: Callable[..., Tab]) -> None:
    tab = visit(still)
    keys = tab.keyboard
    keys.type("descale citric")
    tab.wait_for_selector(".hit mark")
    keys.press("ArrowDown")
    keys.press("Enter")
    tab.wait_for_selector(".chunk.is-focus mark")
    assert "open=" in tab.url
    keys.press("]")
    tab.wait_for_selector(".chunk.is-focus :text('burrs')")
    keys.press("Escape")
    tab.wait_for_selector("#pane", state="hidden")
    assert tab.evaluate("document.activeElement.className") == "hit-link"
    keys.press("/")
    assert tab.evaluate("document.activeElement.id") == "question"
    keys.press("Escape")
    assert tab.input_value("#question") == ""
    tab.evaluate("document.activeElement.blur()")
    for key, view in (("2", "timeline"), ("3", "map"), ("4", "health"), ("1", "search")):
        keys.press(key)
        tab.wait_for_selector(f".stage-{view}")
    tab.go_back()
    tab.wait_for_selector(".stage-health")


def test_a_question_that_is_taken_back_leaves_what_changed_lately(
    still: Page, visit: Callable[..., Tab]
) -> None:
    tab = visit(still, "/?q=descale")
    tab.wait_for_selector(".hit mark")
    tab.focus("#question")
    tab.keyboard.press("Escape")
    tab.wait_for_selector(".home .recent a")
    assert tab.locator(".hit").count() == 0


def test_what_a_note_says_is_text_and_nothing_else(still: Page, visit: Callable[..., Tab]) -> None:
    tab = visit(still)
    _answer_of(tab, "wombat")
    assert "<script>document.title" in tab.inner_text(".hit-title")
    tab.click(".hit-link")
    tab.wait_for_selector(".chunk")
    assert "<script>document.title" in tab.inner_text(".pane-title")
    assert tab.inner_text(".text").count(EVIL) >= 3
    for tag in ("script", "img", "[onerror]", "[href^='javascript']"):
        assert tab.locator(f"main {tag}, #pane {tag}").count() == 0
    assert tab.title().startswith("wombat")


def test_without_the_link_the_page_says_how_to_come_in(
    still: Page, visit: Callable[..., Tab], browser: Any
) -> None:
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(f"{still.url}/?q=wombat")
    tab.wait_for_selector(".failure :text('lancebrain ui')")
    assert tab.locator(".hit").count() == 0
    assert tab.goto(f"{still.url}/?token=wrong").status == 403
    context.close()


def test_filters_are_chosen_shown_and_taken_away(still: Page, visit: Callable[..., Tab]) -> None:
    tab = visit(still)
    _answer_of(tab, "wants")
    tab.click("button[aria-controls=filters]")
    tab.fill("input[name=path]", "notes/coffee/")
    tab.press("input[name=path]", "Enter")
    tab.wait_for_selector(".chip:has-text('notes/coffee/')")
    eventually(lambda: set(tab.locator(".hit .path").all_inner_texts()) == {ESPRESSO})
    tab.reload()
    tab.wait_for_selector(".hit")
    assert tab.locator(".hit .path").first.inner_text() == ESPRESSO
    tab.click(".chip")
    tab.wait_for_selector(".hit:has-text('Green tea')")


ESPRESSO = "notes/coffee/espresso.md"


def test_a_saved_file_is_found_without_asking_again(page: Page, visit: Callable[..., Tab]) -> None:
    tab = visit(page, "/?q=quokka&mode=keyword")
    tab.wait_for_selector(".told:has-text('Nothing found')")
    write_tree(page.root, {"new.md": "# Quokka\n\nThe quokka smiles.\n"})
    tab.wait_for_selector(".hit:has-text('smiles')")


def test_a_rollback_is_confirmed_and_every_tab_knows(page: Page, visit: Callable[..., Tab]) -> None:
    write_tree(page.root, {"new.md": "# Quokka\n\nThe quokka smiles.\n"})
    page.brain.sync()
    tab = visit(page, "/timeline")
    other = visit(page, "/?q=quokka&mode=keyword", context=tab.context)
    other.wait_for_selector(".hit")
    tab.click(".document-change:has-text('new.md')")
    tab.wait_for_selector(".diff ins:has-text('smiles')")
    tab.locator("li.version a").nth(1).click()
    tab.click("button:has-text('Roll back to here')")
    dialog = tab.locator("dialog")
    assert "1 removed" in dialog.inner_text()
    assert tab.evaluate("document.activeElement.textContent") == "Cancel"
    dialog.locator("button:has-text('Cancel')").click()
    other.wait_for_timeout(100)
    assert other.locator(".hit").count() == 1
    tab.click("button:has-text('Roll back to here')")
    tab.click("dialog .grave")
    for one in (tab, other):
        one.wait_for_selector(".banner.held")
    other.wait_for_selector(".told:has-text('Nothing found')")
    other.click("button:has-text('Follow the files again')")
    other.click("dialog .firm")
    for one in (tab, other):
        one.wait_for_selector(".banner.held", state="detached")
    other.wait_for_selector(".hit:has-text('smiles')")


def test_a_deleted_note_is_found_in_the_past_and_brought_back(
    page: Page, visit: Callable[..., Tab]
) -> None:
    file = page.root / "tea.md"
    text = file.read_bytes()
    file.unlink()
    page.brain.sync()
    tab = visit(page, "/?open=notes/tea.md")
    tab.wait_for_selector(".versions .what-removed")
    tab.click(".versions a:has-text('Read')")
    tab.wait_for_selector(".banner.past")
    tab.wait_for_selector(".chunk:has-text('70 degrees')")
    tab.click("#tab-past")
    tab.click(".versions button:has-text('Restore the file')")
    assert str(file) in tab.inner_text("dialog")
    tab.click("dialog .firm")
    tab.wait_for_selector(".toast:has-text('restored')")
    assert file.read_bytes() == text
    tab.click("button:has-text('Back to now')")
    tab.wait_for_selector(".banner.past", state="detached")


def test_the_map_lights_hits_up_and_opens_a_point(still: Page, visit: Callable[..., Tab]) -> None:
    tab = visit(still, "/map?q=citric")
    tab.wait_for_selector(".map-side .hit")
    tab.wait_for_selector(".map-cover", state="hidden")
    tab.focus("canvas")
    tab.keyboard.press("Enter")  # the point nearest to the middle
    tab.wait_for_selector(".chunk.is-focus")
    tab.keyboard.press("Escape")
    box = tab.locator("canvas").bounding_box()
    tab.hover(".map-side .hit")  # shows where its point is
    shown = tab.locator(".tip").evaluate("(tip) => tip.getAttribute('style')")
    left, top = (float(place) for place in re.findall(r"--[xy]: ([\d.]+)px", shown))
    tab.mouse.click(box["x"] + left, box["y"] + top)
    tab.wait_for_selector(".chunk.is-focus:has-text('citric')")


def test_health_names_problems_and_what_to_do(still: Page, visit: Callable[..., Tab]) -> None:
    tab = visit(still, "/health")
    tab.wait_for_selector(".problem:has-text('No text') .path:has-text('binary.md')")
    assert "UTF-8" in tab.inner_text(".problem .advice")
    assert "4" in tab.inner_text(".figures")
    tab.wait_for_selector(".now:has-text('looked at')")


@pytest.mark.parametrize(
    ("locale", "word"), [("en-GB", "Timeline"), ("ja-JP", "履歴"), ("zh-CN", "时间线")]
)
def test_every_view_speaks_the_readers_language_and_fits_a_phone(
    still: Page, visit: Callable[..., Tab], locale: str, word: str
) -> None:
    tab = visit(still, "/timeline", locale=locale, viewport={"width": 375, "height": 700})
    tab.wait_for_selector(f"h1:text('{word}')")
    for place, part in (
        ("", ".changes .documents"),
        (f"/?q=tea&open={ESPRESSO}", ".chunk"),
        (f"/?q=tea&open={ESPRESSO}&tab=past", ".versions"),
        ("/health", ".figures dd"),
    ):
        if place:
            tab.goto(still.url + place)
        tab.wait_for_selector(part)
        said = tab.inner_text("body")
        assert not re.search(r"\b(?:search|filter|health|timeline|doing|state|map)\.[a-z]", said)
        assert "{" not in said
        wide = tab.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{place} is {wide} pixels too wide"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_keeps_anyone_out(still: Page, visit: Callable[..., Tab], scheme: str) -> None:
    axe = os.environ.get("AXE_CORE")
    if not axe:
        pytest.skip("AXE_CORE names no axe-core.")
    # Scripts are added by the driver, past the policy of the page.
    tab = visit(still, "/", color_scheme=scheme, bypass_csp=True, reduced_motion="reduce")
    for place, part in (
        ("/", ".recent"),
        ("/?q=tea", ".hit"),
        (f"/?q=grinder&open={ESPRESSO}", ".chunk"),
        (f"/?open={ESPRESSO}&tab=around", ".around"),
        (f"/?open={ESPRESSO}&tab=past", ".versions"),
        ("/timeline", ".changes .documents"),
        ("/map?q=tea", ".map-side .hit"),
        ("/health", ".problem"),
    ):
        tab.goto(still.url + place)
        tab.wait_for_selector(part)
        if place == "/?q=tea":
            tab.click("button[aria-controls=filters]")
            tab.wait_for_selector(".filters fieldset")
        tab.add_script_tag(path=axe)
        found = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")
        told = [
            (one["id"], one["help"], [node["html"][:160] for node in one["nodes"][:3]])
            for one in found["violations"]
        ]
        assert not told, f"{place}: {told}"
    tab.click("button[aria-label='Settings and keys']")
    tab.add_script_tag(path=axe)
    assert not tab.evaluate("axe.run(document)")["violations"]
