// The map: every passage a point, near what is like it; the hits of the question lit up.

import { change } from "./address.js";
import { get, getBytes } from "./api.js";
import { onBeat, state } from "./beats.js";
import { afterPause, h, languageOf, latest, put, visible } from "./dom.js";
import { failure, waiting } from "./frame.js";
import { hitItem, moveInList, setCurrent } from "./hits.js";
import { icon } from "./icons.js";
import { Points, SIDE } from "./points.js";
import { searchOf } from "./questions.js";
import { amount, t } from "./words.js";

const LIT = 60;
const GROUPS = 12;
const DRAG_PX = 4;
const FAR_PX = 100_000;

/** The view; see main.js. */
export function mapView(root) {
  let asked = new URLSearchParams();
  let map = null;
  let points = null;
  let hidden = new Set();
  let hits = [];
  let terms = [];
  let lit = [];
  let isEnded = false;

  const field = h("input", { type: "search", autocomplete: "off", spellcheck: "false", enterkeyhint: "search", placeholder: t("map.placeholder"), "aria-label": t("map.label") });
  const told = h("p", { class: "told", role: "status" });
  const list = h("ol", { class: "hits compact" });
  const canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": t("map.canvas"), "aria-describedby": "map-keys" });
  const tip = h("div", { class: "tip", hidden: true });
  const labels = h("div", { class: "map-labels", "aria-hidden": "true" });
  const legend = h("div", { class: "legend", role: "group", "aria-label": t("map.legend") });
  const cover = h("div", { class: "map-cover" }, waiting(t("map.drawing")));
  const fresh = h("button", { type: "button", class: "firm", hidden: true, on: { click: () => load() } }, icon("refresh"), t("map.fresh"));
  const buttons = [["plus", "map.in", () => points?.zoom(1.6)], ["minus", "map.out", () => points?.zoom(1 / 1.6)], ["fit", "map.fit", () => points?.fit()]];

  put(
    root,
    h("h1", { class: "unseen", tabindex: "-1" }, t("view.map")),
    h(
      "div",
      { class: "map" },
      h("div", { class: "map-stage" }, canvas, labels, tip, cover, h("div", { class: "map-buttons" }, buttons.map(([drawing, label, act]) => h("button", { type: "button", class: "round", "aria-label": t(label), title: t(label), on: { click: act } }, icon(drawing)))), h("p", { class: "unseen", id: "map-keys" }, t("map.keys"))),
      h("div", { class: "map-side" }, h("form", { class: "question", on: { submit: (event) => event.preventDefault() } }, icon("search"), field), told, fresh, list, legend),
    ),
  );

  const load = latest(async (_, isStale) => {
    fresh.hidden = true;
    cover.hidden = false;
    put(cover, waiting(t("map.drawing")));
    try {
      map = unpacked(await getBytes("/api/map"));
      if (isStale() || isEnded) return;
      if (!map.count) {
        put(cover, h("p", { class: "hint" }, t("map.empty")));
        return;
      }
      points ??= new Points(canvas, follow);
      drawLabels();
      cover.hidden = true;
      group();
      canvas.setAttribute("aria-label", t("map.canvas.of", { count: map.count }));
      light();
    } catch (error) {
      put(cover, failure(error, () => load()));
    }
  });

  // The question is answered whether the map is there yet or not.
  const ask = latest(async (question, isStale) => {
    try {
      const found = question && (await get("/api/search", question));
      if (isStale() || isEnded) return;
      [hits, terms] = found ? [found.answer.hits, found.terms] : [[], []];
      light();
    } catch (error) {
      put(told);
      put(list, h("li", {}, failure(error)));
    }
  });

  function light() {
    const numbers = hits.map((hit) => (map ? map.find(hit.id) : -1));
    lit = numbers.filter((number) => number >= 0);
    points?.light(lit);
    put(told, asked.get("q") ? (hits.length ? t("map.lit", { count: hits.length }) : t("search.nothing")) : map ? t("map.count", { count: map.count }) : "");
    put(
      list,
      hits.map((hit, at) => {
        const item = hitItem(hit, terms, { isOpen: hit.id === asked.get("open") });
        if (numbers[at] >= 0) for (const event of ["pointerenter", "focusin"]) item.addEventListener(event, () => showTip(numbers[at], null));
        item.addEventListener("pointerleave", hideTip);
        return item;
      }),
    );
  }

  // Colours.

  function group() {
    const by = asked.get("colour") === "domain" ? "domain" : "source";
    const of = map[by];
    const counts = new Map();
    for (let at = 0; at < map.count; at++) counts.set(of[map.document[at]], (counts.get(of[map.document[at]]) ?? 0) + 1);
    const names = [...counts.keys()].sort((one, other) => counts.get(other) - counts.get(one));
    const number = new Map(names.map((name, at) => [name, Math.min(at, GROUPS - 1)]));
    const groups = new Uint8Array(map.count);
    for (let at = 0; at < map.count; at++) groups[at] = number.get(of[map.document[at]]);
    if (points.count === map.count && points.x === map.x) points.regroup(groups);
    else points.set(map.x, map.y, groups);
    drawLegend(by, names, counts);
    paint();
  }

  function drawLegend(by, names, counts) {
    const shown = names.slice(0, GROUPS - (names.length > GROUPS ? 1 : 0));
    const rest = names.slice(shown.length);
    put(
      legend,
      h("div", { class: "segments" }, ["source", "domain"].map((one) => h("button", { type: "button", "aria-pressed": String(one === by), on: { click: () => change({ colour: one === "source" ? null : one }, { replace: true }) } }, t(`map.by.${one}`)))),
      h(
        "ul",
        {},
        shown.map((name, at) => entry(at, visible(name), counts.get(name))),
        rest.length > 0 && entry(GROUPS - 1, t("map.others", { count: rest.length }), rest.reduce((sum, name) => sum + counts.get(name), 0)),
      ),
    );
  }

  function entry(at, name, count) {
    return h("li", {}, h("label", {}, h("input", { type: "checkbox", checked: !hidden.has(at), on: { change: (event) => (event.target.checked ? hidden.delete(at) : hidden.add(at), paint()) } }), h("span", { class: "swatch", data: { group: at } }), h("span", {}, name), h("small", {}, amount(count))));
  }

  /** The points have the colours of the legend, whatever the theme. */
  function paint() {
    if (!points) return;
    const colours = [];
    for (const swatch of legend.querySelectorAll(".swatch")) {
      const group = Number(swatch.dataset.group);
      colours[group] = hidden.has(group) ? null : rgb(getComputedStyle(swatch).backgroundColor);
    }
    points.paint(colours, rgb(getComputedStyle(root).color), rgb(getComputedStyle(canvas).backgroundColor));
  }

  // What the groups are about.

  let named = [];

  function drawLabels() {
    named = map.topics.map(({ words, x, y }) => ({ x: x / SIDE, y: y / SIDE, node: h("span", { lang: languageOf(words.join("")) }, visible(words.join(" · "))) }));
    put(labels, named.map(({ node }) => node));
    for (const one of named) [one.width, one.height] = [one.node.offsetWidth, one.node.offsetHeight];
  }

  /** The view has moved: labels go with it, the larger groups' first; none covers another. */
  function follow() {
    hideTip();
    const taken = [];
    for (const { x, y, node, width, height } of named) {
      const [middle, line] = points.toCanvas(x, y);
      const [left, top] = [middle - width / 2, line - height / 2];
      const isFree = taken.every((other) => left > other.right || left + width < other.left || top > other.bottom || top + height < other.top);
      node.classList.toggle("is-shown", isFree);
      if (!isFree) continue;
      taken.push({ left: left - 6, right: left + width + 6, top: top - 3, bottom: top + height + 3 });
      node.style.setProperty("transform", `translate(${Math.round(left)}px, ${Math.round(top)}px)`);
    }
  }

  // Pointing.

  function at(event) {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  const describe = afterPause(140, async (number) => {
    try {
      const passage = await get("/api/passage", { id: map.id(number) });
      if (tip.dataset.number === String(number)) tip.append(h("p", { lang: languageOf(passage.text) }, visible(passage.text.trim().slice(0, 260))));
    } catch {
      // The title has to do.
    }
  });

  function showTip(number) {
    if (!points || tip.dataset.number === String(number) && !tip.hidden) return;
    const document = map.document[number];
    const [left, top] = points.placeOf(number);
    tip.dataset.number = number;
    put(tip, h("strong", { lang: languageOf(map.title[document]) }, visible(map.title[document] || map.path[document])), h("small", { class: "path" }, visible(map.path[document])));
    tip.hidden = false;
    tip.style.setProperty("--x", `${left}px`);
    tip.style.setProperty("--y", `${top}px`);
    describe(number);
  }

  function hideTip() {
    tip.hidden = true;
    tip.dataset.number = "";
  }

  const fingers = new Map();
  let dragged = 0;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, at(event));
    if (fingers.size === 1) dragged = 0;
    hideTip();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!points) return;
    const now = at(event);
    const before = fingers.get(event.pointerId);
    if (!before) {
      const number = points.nearest(...now);
      canvas.classList.toggle("is-over", number >= 0);
      if (number >= 0) showTip(number);
      else hideTip();
      return;
    }
    if (fingers.size === 2) {
      const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      const apart = (place) => Math.hypot(place[0] - other[0], place[1] - other[1]);
      points.zoom(apart(now) / Math.max(1, apart(before)), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      dragged = DRAG_PX + 1;
    } else {
      dragged += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
      if (dragged > DRAG_PX) points.pan(now[0] - before[0], now[1] - before[1]);
    }
    fingers.set(event.pointerId, now);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, (event) => {
      const wasDown = fingers.delete(event.pointerId);
      if (end === "pointerup" && wasDown && dragged <= DRAG_PX && points) {
        const number = points.nearest(...at(event), event.pointerType === "touch" ? 20 : 10);
        if (number >= 0) change({ open: map.id(number), tab: null });
      }
    });
  }
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      points?.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : event.deltaMode ? 0.05 : 0.0018)), ...at(event));
    },
    { passive: false },
  );
  canvas.addEventListener("dblclick", (event) => points?.zoom(2, ...at(event)));
  canvas.addEventListener("keydown", (event) => {
    if (!points || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: [80, 0], ArrowRight: [-80, 0], ArrowUp: [0, 80], ArrowDown: [0, -80] }[event.key];
    if (step) points.pan(...step);
    else if (event.key === "+" || event.key === "=") points.zoom(1.4);
    else if (event.key === "-") points.zoom(1 / 1.4);
    else if (event.key === "0") points.fit();
    else if (event.key === "Enter") {
      const number = points.nearest(canvas.clientWidth / 2, canvas.clientHeight / 2, FAR_PX);
      if (number >= 0) change({ open: map.id(number), tab: null });
    } else return;
    event.preventDefault();
  });

  const typed = afterPause(150, () => change({ q: field.value }, { replace: true }));
  field.addEventListener("input", (event) => !event.isComposing && typed());
  field.addEventListener("compositionend", typed);
  field.addEventListener("keydown", (event) => event.key === "Enter" && lit.length && points?.fit(lit));
  root.addEventListener("keydown", (event) => {
    if ((event.target === field && event.key === "ArrowDown") || list.contains(event.target)) if (moveInList(list, event, { before: field })) event.preventDefault();
  });

  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", paint);
  addEventListener("preference", paint);
  const unhear = onBeat(() => {
    const pulse = state.beat?.pulse;
    fresh.hidden = !(map && pulse && cover.hidden && pulse.version !== map.version);
  });

  load();
  return {
    update(parameters) {
      const before = JSON.stringify(searchOf(asked));
      const colour = asked.get("colour");
      asked = parameters;
      if (document.activeElement !== field) field.value = asked.get("q") ?? "";
      if (map && points && colour !== asked.get("colour")) {
        hidden = new Set();
        group();
      }
      if (JSON.stringify(searchOf(asked)) !== before || !map) ask(searchOf(asked, { limit: LIT }));
      for (const link of list.querySelectorAll("a.hit-link")) setCurrent(link, link.parentElement.dataset.id === asked.get("open"));
    },
    focus: () => field.focus(),
    unmount() {
      isEnded = true;
      unhear();
      dark.removeEventListener("change", paint);
      removeEventListener("preference", paint);
      points?.end();
    },
  };
}

/** The map as the server packs it; see lancebrain/web/mapping.py. */
function unpacked(bytes) {
  const length = new DataView(bytes).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  let at = 4 + length;
  function array(Kind) {
    const found = new Kind(bytes, at, header.count);
    at += header.count * Kind.BYTES_PER_ELEMENT;
    return found;
  }
  const [chunk, document, x, y] = [array(Float64Array), array(Uint32Array), array(Uint16Array), array(Uint16Array)];
  const numberOf = new Map(header.documents.map((path, number) => [path, number]));
  return {
    version: header.version,
    count: header.count,
    topics: header.topics,
    document,
    x,
    y,
    path: header.documents,
    title: header.titles,
    domain: header.domains,
    source: header.documents.map((path) => path.slice(0, path.indexOf("/"))),
    id: (number) => `${header.documents[document[number]]}#${chunk[number]}`,
    /** The number of a chunk's point; -1 if it has none. A document's points are neighbours. */
    find(id) {
      const cut = id.lastIndexOf("#");
      const wanted = numberOf.get(id.slice(0, cut));
      if (wanted === undefined) return -1;
      const index = Number(id.slice(cut + 1));
      let [low, high] = [0, header.count];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (document[middle] < wanted) low = middle + 1;
        else high = middle;
      }
      while (low < header.count && document[low] === wanted && chunk[low] !== index) low++;
      return low < header.count && document[low] === wanted ? low : -1;
    },
  };
}

function rgb(colour) {
  return colour.match(/[\d.]+/g).slice(0, 3).map(Number);
}
