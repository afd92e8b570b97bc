// The index in time: versions along a line, what changed in each, and the ways back.

import { addressOf, change } from "./address.js";
import { get } from "./api.js";
import { onBeat, state } from "./beats.js";
import { diffBlock } from "./diffs.js";
import { h, latest, put, visible } from "./dom.js";
import { failure, waiting } from "./frame.js";
import { icon } from "./icons.js";
import { checkpoint, removeCheckpoint, restore, rollback } from "./travel.js";
import { ago, clockOf, counted, dayOf, has, moment, t } from "./words.js";

const PAGE = 300;
const SILENT = new Set(["maintenance", "backfill"]);

/** The view; see main.js. */
export function timelineView(root) {
  let versions = [];
  let count = 0;
  let limit = PAGE;
  let asked = new URLSearchParams();
  let showsSilent = false;
  let shownDiff = "";

  const line = h("div", { class: "line" });
  const more = h("button", { type: "button", class: "quiet more", hidden: true, on: { click: () => ((limit += PAGE), load()) } }, t("timeline.older"));
  const silent = h("label", { class: "switch" }, h("input", { type: "checkbox", on: { change: (event) => ((showsSilent = event.target.checked), draw()) } }), h("span", {}, t("timeline.silent")));
  const detail = h("section", { class: "detail", "aria-live": "polite", "aria-label": t("timeline.detail"), tabindex: "-1" });
  const name = h("button", { type: "button", class: "quiet", hidden: true, on: { click: async () => (await checkpoint()) && load() } }, icon("flag"), t("checkpoint.do"));

  put(root, h("div", { class: "view-head" }, h("h1", { tabindex: "-1" }, t("view.timeline")), h("div", { class: "view-tools" }, silent, name)), h("div", { class: "timeline" }, h("div", { class: "line-box" }, line, more), detail));

  const load = latest(async () => {
    try {
      const found = await get("/api/history", { limit });
      versions = found.versions;
      count = found.count;
      draw();
      drawDetail();
    } catch (error) {
      put(line, failure(error, () => load()));
    }
  });

  function draw() {
    const days = [];
    for (const entry of grouped(versions, showsSilent)) {
      const day = dayOf(entry.at);
      if (days.at(-1)?.day !== day) days.push({ day, entries: [] });
      days.at(-1).entries.push(entry);
    }
    put(line, days.map(({ day, entries }) => h("section", { class: "day" }, h("h2", {}, day), h("ol", {}, entries.map(row)))));
    more.hidden = versions.length >= count;
    name.hidden = state.beat?.read_only !== false;
    mark();
  }

  function row(entry) {
    if (entry.silent) return h("li", { class: "silent" }, h("span", { class: "node" }), h("p", {}, t("timeline.silent.count", { count: entry.silent })));
    const summary = summaryOf(entry);
    return h(
      "li",
      { class: `version reason-${entry.reason || "unknown"}`, data: { version: entry.version } },
      h("span", { class: "node" }),
      h(
        "a",
        { class: "hit-link", href: addressOf({ version: String(entry.version), from: null, doc: null }, "timeline") },
        h("span", { class: "version-what" }, summary),
        h("span", { class: "version-when" }, h("time", { datetime: entry.at, title: moment(entry.at) }, clockOf(entry.at)), h("span", { class: "number" }, t("version.short", { version: String(entry.version) })), entry.is_current && h("span", { class: "badge" }, t("version.now")), entry.pinned && h("span", { class: "badge held" }, t("state.held"))),
        entry.message && h("span", { class: "version-message" }, visible(entry.message)),
      ),
      entry.tags.length > 0 && h("span", { class: "checkpoints" }, entry.tags.map((tag) => h("span", { class: "checkpoint" }, icon("flag"), visible(tag)))),
    );
  }

  function mark() {
    const { from, to } = chosen();
    for (const item of line.querySelectorAll("li.version")) {
      const version = Number(item.dataset.version);
      item.classList.toggle("is-to", version === to);
      item.classList.toggle("is-from", asked.get("from") !== null && version === from);
      item.classList.toggle("is-between", asked.get("from") !== null && version > from && version < to);
      const link = item.querySelector("a.hit-link");
      if (version === to) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  /** The two versions whose difference is shown: a version and the one before it, or any two. */
  function chosen() {
    const to = Number(asked.get("version")) || versions.find((entry) => !SILENT.has(entry.reason))?.version || 0;
    const at = versions.findIndex((entry) => entry.version === to);
    const from = asked.get("from") ? Number(asked.get("from")) : (versions[at + 1]?.version ?? 0);
    return { from: Math.min(from, to), to: Math.max(from, to), isPair: Boolean(asked.get("from")) };
  }

  async function drawDetail() {
    const { from, to, isPair } = chosen();
    const entry = versions.find((one) => one.version === to);
    const key = `${from} ${to} ${state.beat?.pulse?.version} ${state.beat?.pulse?.pinned} ${entry?.tags}`;
    if (key === shownDiff) return openDocument();
    shownDiff = key;
    if (!entry) {
      put(detail, versions.length ? h("p", { class: "hint" }, t("timeline.gone")) : h("p", { class: "hint" }, t("timeline.empty")));
      return;
    }
    const changes = h("div", { class: "changes" }, waiting());
    put(detail, heading(entry, from, isPair), tools(entry, from, isPair), changes);
    if (!from) {
      put(changes, h("p", { class: "hint" }, t("timeline.first")));
      return;
    }
    try {
      const found = await get("/api/diff", { from, to });
      if (shownDiff !== key) return;
      drawChanges(changes, found, from, to);
    } catch (error) {
      if (shownDiff === key) put(changes, failure(error));
    }
  }

  function heading(entry, from, isPair) {
    const title = isPair ? t("timeline.between", { from: String(from), to: String(entry.version) }) : summaryOf(entry);
    return h("div", { class: "detail-head" }, h("h2", {}, title), h("p", { class: "hint" }, isPair ? `${whenOf(from)} — ${moment(entry.at)}` : `${moment(entry.at)} · ${ago(entry.at)} · ${t("version.short", { version: String(entry.version) })}`), entry.tags.map((tag) => h("span", { class: "checkpoint" }, icon("flag"), visible(tag), state.beat?.read_only === false && h("button", { type: "button", class: "in-chip", "aria-label": t("checkpoint.remove.title", { name: visible(tag) }), on: { click: async () => (await removeCheckpoint(tag)) && load() } }, icon("close")))));
  }

  const whenOf = (number) => moment(versions.find((entry) => entry.version === number)?.at ?? Date.now());

  function tools(entry, from, isPair) {
    const others = versions.filter((one) => one.version < entry.version && !one.silent);
    const select = h(
      "select",
      { "aria-label": t("timeline.compare"), on: { change: (event) => change({ from: event.target.value, version: String(entry.version), doc: null }) } },
      h("option", { value: "", selected: !isPair }, t("timeline.before")),
      others.map((one) => h("option", { value: String(one.version), selected: isPair && one.version === from }, `${one.version} · ${moment(one.at)}${one.tags.length ? ` · ${one.tags.join(", ")}` : ""}`)),
    );
    return h(
      "div",
      { class: "detail-tools" },
      h("label", { class: "compare" }, h("span", {}, t("timeline.compare")), select),
      h("a", { class: "quiet", href: addressOf({ at: String(entry.version), open: null }, "search") }, icon("search"), t("timeline.search")),
      state.beat?.read_only === false && !entry.is_current && h("button", { type: "button", class: "quiet", on: { click: () => rollback(entry) } }, icon("undo"), t("rollback.do")),
    );
  }

  function drawChanges(place, { diff, count: all }, from, to) {
    if (!diff.changes.length) {
      put(place, h("p", { class: "hint" }, t("timeline.same")));
      return;
    }
    const counts = {};
    for (const one of diff.changes) counts[one.what] = (counts[one.what] ?? 0) + 1;
    put(
      place,
      h("p", { class: "told" }, counted("change", counts), all > diff.changes.length && ` · ${t("timeline.cut", { count: all })}`),
      h("ul", { class: "documents" }, diff.changes.map((one) => documentChange(one, from, to))),
    );
    openDocument();
  }

  function documentChange(one, from, to) {
    const place = h("div", { class: "document-diff", hidden: true });
    const before = one.what === "removed" ? { version: from, at: versions.find((entry) => entry.version === from)?.at ?? "" } : null;
    const unfold = h("button", { type: "button", class: "document-change", "aria-expanded": "false", data: { path: one.path }, on: { click: () => toggle() } }, h("span", { class: `what what-${one.what}` }, t(`what.${one.what}`)), h("span", { class: "path" }, one.before ? [h("s", {}, visible(one.before)), " → "] : null, visible(one.path)));
    async function toggle(isOpen = place.hidden) {
      place.hidden = !isOpen;
      unfold.setAttribute("aria-expanded", String(isOpen));
      if (!isOpen || place.firstChild) return;
      put(place, waiting());
      try {
        const { diff } = await get("/api/diff", { from, to, path: one.path });
        put(
          place,
          diff.changes.map((change) => (change.text_diff ? diffBlock(change) : h("p", { class: "hint" }, t("timeline.text-same")))),
          h("div", { class: "detail-tools" }, one.what !== "removed" ? h("a", { class: "quiet", href: addressOf({ open: one.path, at: isNewest(to) ? null : String(to) }) }, t("version.read")) : h("a", { class: "quiet", href: addressOf({ open: one.path, at: String(from) }) }, t("version.read")), before && state.beat?.read_only === false && h("button", { type: "button", class: "quiet", on: { click: () => restore(one.path, before) } }, icon("undo"), t("restore"))),
        );
      } catch (error) {
        put(place, failure(error));
      }
    }
    unfold.toggle = toggle;
    return h("li", {}, unfold, place);
  }

  const isNewest = (version) => versions[0]?.version === version;

  function openDocument() {
    const wanted = asked.get("doc");
    if (!wanted) return;
    const button = [...detail.querySelectorAll("button.document-change")].find((one) => one.dataset.path === wanted);
    if (button?.getAttribute("aria-expanded") === "false") button.toggle(true);
  }

  line.addEventListener("keydown", (event) => {
    const links = [...line.querySelectorAll("a.hit-link")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const next = links[links.indexOf(document.activeElement) + (step ?? 0)];
    if (!step || !next) return;
    event.preventDefault();
    next.focus();
    next.click();
  });

  const unhear = onBeat((beat, before) => {
    if (beat?.pulse?.version !== before?.pulse?.version || beat?.pulse?.pinned !== before?.pulse?.pinned) load();
  });

  put(line, waiting());
  load();
  return {
    update(parameters) {
      const before = `${asked.get("from")} ${asked.get("version")}`;
      asked = parameters;
      if (!versions.length) return;
      mark();
      if (`${asked.get("from")} ${asked.get("version")}` !== before) drawDetail();
    },
    unmount: unhear,
  };
}

/** Versions that change nothing that is found are told as one line, or each if wanted. */
function grouped(versions, showsSilent) {
  const found = [];
  for (const version of versions) {
    const isSilent = SILENT.has(version.reason) && !version.tags.length && !version.is_current;
    if (!isSilent || showsSilent) found.push(version);
    else if (found.at(-1)?.silent) found.at(-1).silent += 1;
    else found.push({ silent: 1, at: version.at });
  }
  return found;
}

function summaryOf(entry) {
  const what = counted("change", entry.counts);
  if (entry.reason === "sync" && what) return what;
  const reason = has(`reason.${entry.reason}`) ? t(`reason.${entry.reason}`) : t("reason.unknown");
  const note = entry.note ? ` ${visible(entry.note)}` : "";
  return what && entry.reason !== "backfill" && entry.reason !== "maintenance" ? `${reason}${note} · ${what}` : reason + note;
}
