// A document, opened beside any view: its text chunk by chunk, what is around it, its history.

import { addressOf, change, here } from "./address.js";
import { get } from "./api.js";
import { onBeat } from "./beats.js";
import { diffBlock } from "./diffs.js";
import { copied, h, languageOf, latest, put, visible } from "./dom.js";
import { editorLink } from "./editors.js";
import { failure, toast, waiting } from "./frame.js";
import { hitItem } from "./hits.js";
import { icon } from "./icons.js";
import { reader } from "./markdown.js";
import { marked } from "./highlight.js";
import { restore } from "./travel.js";
import { clockOf, dayOf, moment, sizeOf, t } from "./words.js";

const TABS = ["text", "around", "past"];
const MARKDOWN = "md";

/** The pane; `update` follows the address. */
export function pane(root) {
  let shown = {};
  let page = null;
  let terms = [];
  let focusBack = null;
  let outline = null;

  const body = h("div", { class: "pane-body", id: "pane-body", role: "tabpanel", tabindex: "-1" });
  const head = h("div", { class: "pane-head" });
  put(root, head, body);
  root.setAttribute("aria-label", t("document"));

  const load = latest(async (wanted, isStale) => {
    try {
      const found = await get("/api/document", { what: wanted.open, at: wanted.at });
      if (isStale()) return;
      page = found;
      drawHead();
      await drawTab(isStale);
    } catch (error) {
      if (isStale()) return;
      page = null;
      put(head, closing(h("h2", {}, visible(wanted.open.replace(/#\d+$/, "")))));
      put(body, failure(error), wanted.at ? null : lookBack(wanted.open));
    }
  });

  function update({ asked }) {
    const open = asked.get("open");
    const next = { open, at: asked.get("at"), tab: TABS.includes(asked.get("tab")) ? asked.get("tab") : "text", q: asked.get("q") ?? "" };
    const wasOpen = Boolean(shown.open);
    const isSame = next.open === shown.open && next.at === shown.at;
    const isSameTab = isSame && next.tab === shown.tab && next.q === shown.q;
    shown = next;
    root.hidden = !open;
    document.documentElement.classList.toggle("has-pane", Boolean(open));
    if (!open) {
      page = null;
      if (wasOpen && focusBack?.isConnected) focusBack.focus();
      else if (wasOpen) document.querySelector(`a.hit-link[aria-current]`)?.focus();
      return;
    }
    if (!wasOpen) focusBack = document.activeElement;
    if (isSameTab) return;
    if (isSame && page) {
      drawHead();
      drawTab(() => false);
      return;
    }
    // Another passage of a text that is shown: it is only scrolled to.
    const chunk = page && next.at === page.at && root.querySelector(`[data-chunk="${CSS.escape(open)}"]`);
    if (chunk && next.tab === "text" && page.path === open.replace(/#\d+$/, "")) {
      focusOn(chunk);
      return;
    }
    if (!page) put(body, waiting());
    load(next);
  }

  function closing(title) {
    return h("div", { class: "pane-title" }, title, h("button", { type: "button", class: "round", "aria-label": t("document.close"), title: t("document.close"), on: { click: close } }, icon("close")));
  }

  function drawHead() {
    const line = focusChunk()?.line_start ?? 1;
    const editor = page.file && editorLink(page.file, line);
    put(
      head,
      closing(h("div", {}, h("h2", { tabindex: "-1", lang: languageOf(page.title) }, visible(page.title || page.path)), h("p", { class: "path" }, visible(page.path)))),
      h(
        "div",
        { class: "pane-tools" },
        editor && h("a", { class: "firm", href: editor.href, data: { editor: "" }, title: `${visible(page.file)}:${line}` }, icon("editor"), h("span", {}, t("document.edit", { editor: editor.name }))),
        page.file && h("button", { type: "button", class: "quiet", title: visible(page.file), on: { click: copyPath } }, icon("copy"), h("span", {}, t("document.copy"))),
        h(
          "div",
          { class: "tabs", role: "tablist", "aria-label": t("document"), on: { keydown: moveTabs } },
          TABS.map((tab) => h("button", { type: "button", role: "tab", id: `tab-${tab}`, "aria-selected": String(tab === shown.tab), "aria-controls": "pane-body", tabindex: tab === shown.tab ? "0" : "-1", on: { click: () => change({ tab: tab === "text" ? null : tab }, { replace: true }) } }, t(`document.${tab}`))),
        ),
      ),
      facts(),
    );
    body.setAttribute("aria-labelledby", `tab-${shown.tab}`);
  }

  function facts() {
    return h(
      "p",
      { class: "facts" },
      page.freshness !== "fresh" && h("span", { class: "freshness", title: t(`freshness.${page.freshness}.why`) }, t(`freshness.${page.freshness}`)),
      h("span", {}, t("document.chunks", { count: page.chunk_count })),
      h("span", {}, sizeOf(page.size)),
      h("span", {}, visible(page.domain)),
      page.tags.slice(0, 12).map((tag) => h("a", { class: "tag", href: addressOf({ tag: [tag], open: null }, "search") }, "#", visible(tag))),
      shown.at && h("span", { class: "freshness" }, t("version.short", { version: String(page.version) })),
    );
  }

  function moveTabs(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = TABS[(TABS.indexOf(shown.tab) + step + TABS.length) % TABS.length];
    change({ tab: next === "text" ? null : next }, { replace: true });
    head.querySelector(`#tab-${next}`).focus();
  }

  async function copyPath() {
    if (await copied(page.file)) toast(t("copied"));
    else toast(page.file);
  }

  async function drawTab(isStale) {
    if (shown.tab === "text") await drawText();
    else if (shown.tab === "around") await drawAround(isStale);
    else await drawPast(isStale);
  }

  // The text.

  async function drawText() {
    terms = shown.q ? await termsOf(shown.q) : [];
    const text = h("div", { class: `text text-${kindOf(page.kind)}`, lang: languageOf(page.chunks.slice(0, 3).map((chunk) => chunk.text).join("")) });
    put(body, outlineBox(), earlier(text), text, later(text));
    append(text, page.chunks);
    const chunk = root.querySelector(`[data-chunk="${CSS.escape(focusChunk()?.id ?? "")}"]`);
    if (chunk && page.focus !== null) focusOn(chunk);
    else body.scrollTop = 0;
    if (text.querySelector("a[data-target]")) leadLinks(text, page);
  }

  /** Links lead where the index says, as soon as that is known. */
  async function leadLinks(text, of) {
    try {
      of.links ??= (await get("/api/document/links", { path: of.path, at: shown.at })).links;
    } catch {
      return; // they lead where their names do
    }
    const places = new Map(of.links);
    for (const link of text.querySelectorAll("a[data-target]")) {
      const path = places.get(link.dataset.target);
      if (path) link.href = addressOf({ open: path, tab: null });
      else if (path === null) link.classList.add("dead-link");
    }
  }

  function outlineBox() {
    const sections = page.outline.filter((section) => section.heading_path.length);
    if (sections.length < 4) return null;
    outline ??= { isOpen: false };
    return h(
      "details",
      { class: "outline", open: outline.isOpen, on: { toggle: (event) => (outline.isOpen = event.target.open) } },
      h("summary", {}, t("document.outline", { count: sections.length })),
      h("ol", {}, sections.map((section) => h("li", { style: { "--depth": Math.min(5, section.heading_path.length - 1) } }, h("a", { href: addressOf({ open: section.id }, here().view) }, visible(section.heading_path.at(-1)))))),
    );
  }

  function append(text, chunks, { isBefore = false } = {}) {
    const read = page.kind === MARKDOWN ? reader(terms, follow) : null;
    const nodes = chunks.map((chunk) => chunkNode(chunk, read));
    if (isBefore) text.prepend(...nodes);
    else text.append(...nodes);
  }

  function chunkNode(chunk, read) {
    const lines = t("lines", { from: String(chunk.line_start), to: String(chunk.line_end) });
    return h(
      "section",
      { class: `chunk${chunk.id === focusChunk()?.id && page.focus !== null ? " is-focus" : ""}${chunk.role ? ` said-by-${chunk.role}` : ""}`, data: { chunk: chunk.id, rank: chunk.rank }, tabindex: "-1", "aria-label": t("chunk.label", { rank: chunk.rank + 1, count: page.chunk_count, lines }) },
      h("a", { class: "chunk-place", href: addressOf({ open: chunk.id, tab: null }), title: t("chunk.label", { rank: chunk.rank + 1, count: page.chunk_count, lines }) }, String(chunk.line_start)),
      chunk.role && h("p", { class: "speaker" }, t(`role.${chunk.role}`), chunk.said_at && h("time", { datetime: chunk.said_at }, moment(chunk.said_at))),
      read ? read(chunk.text) : chunk.role ? reader(terms, follow)(chunk.text) : h("pre", { class: "plain-text" }, marked(chunk.text, terms)),
      !chunk.embedded && h("p", { class: "note" }, t("chunk.pending")),
    );
  }

  function earlier(text) {
    return moreButton("document.earlier", () => page.chunks[0]?.rank > 0, async (button) => {
      const first = page.chunks[0].rank;
      const found = await get("/api/document", { what: page.path, at: shown.at, from: Math.max(0, first - 40) });
      const chunks = found.chunks.filter((chunk) => chunk.rank < first);
      const before = text.firstChild;
      const top = before.getBoundingClientRect().top;
      page.chunks.unshift(...chunks);
      append(text, chunks, { isBefore: true });
      body.scrollTop += before.getBoundingClientRect().top - top;
      button.hidden = page.chunks[0].rank === 0;
    });
  }

  function later(text) {
    return moreButton("document.later", () => page.chunks.length && page.chunks.at(-1).rank < page.chunk_count - 1, async (button) => {
      const found = await get("/api/document", { what: page.path, at: shown.at, from: page.chunks.at(-1).rank + 1 });
      page.chunks.push(...found.chunks);
      append(text, found.chunks);
      button.hidden = page.chunks.at(-1).rank >= page.chunk_count - 1;
    });
  }

  function moreButton(key, isThere, load) {
    const button = h("button", { type: "button", class: "quiet more", hidden: !isThere(), on: { click: () => load(button).catch((error) => toast(error.message, "bad")) } }, t(key));
    return button;
  }

  function follow(target) {
    if (target.startsWith("#")) return null;
    return addressOf({ open: guess(page.path, target), tab: null });
  }

  function focusChunk() {
    return page.focus === null ? page.chunks[0] : page.chunks.find((chunk) => chunk.rank === page.focus);
  }

  function focusOn(chunk) {
    for (const other of root.querySelectorAll(".chunk.is-focus")) other.classList.remove("is-focus");
    chunk.classList.add("is-focus");
    page.focus = Number(chunk.dataset.rank);
    const gap = Math.max(24, body.clientHeight * 0.12);
    body.scrollTop = chunk.offsetTop - gap;
    if (document.activeElement === document.body || root.contains(document.activeElement)) chunk.focus({ preventScroll: true });
    const line = focusChunk()?.line_start ?? 1;
    const link = head.querySelector("[data-editor]");
    if (link) {
      link.href = editorLink(page.file, line).href;
      link.title = `${visible(page.file)}:${line}`;
    }
  }

  // What is around.

  async function drawAround(isStale) {
    put(body, waiting());
    const chunk = focusChunk();
    const [related, links] = await Promise.all([
      chunk ? get("/api/related", { id: chunk.id, at: shown.at }).catch(() => []) : [],
      get("/api/document/links", { path: page.path, at: shown.at }).catch(() => ({ links: [], backlinks: [] })),
    ]);
    if (isStale()) return;
    const leading = links.links.filter(([, path]) => path);
    put(
      body,
      h("div", { class: "around" },
      chunk && h("p", { class: "hint" }, t("around.of", { lines: t("lines", { from: String(chunk.line_start), to: String(chunk.line_end) }) })),
      part("around.related", related.length && h("ol", { class: "hits" }, related.map((hit) => hitItem(hit, [])))),
      part("around.backlinks", links.backlinks.length && paths(links.backlinks)),
      part("around.links", leading.length && paths([...new Set(leading.map(([, path]) => path))]))),
    );
  }

  function part(key, content) {
    return h("section", {}, h("h3", {}, t(key)), content || h("p", { class: "hint" }, t("none")));
  }

  function paths(all) {
    return h("ul", { class: "paths" }, all.slice(0, 200).map((path) => h("li", {}, h("a", { href: addressOf({ open: path, tab: null }) }, visible(path)))));
  }

  // Its history.

  async function drawPast(isStale) {
    put(body, waiting());
    const versions = await get("/api/document/history", { path: page.path });
    if (isStale()) return;
    put(body, h("div", { class: "past-list" }, h("p", { class: "hint" }, t("past.hint")), versionList(versions, page.path)));
  }

  function versionList(versions, path) {
    return h(
      "ol",
      { class: "versions" },
      versions.map((version, at) => {
        const place = h("div", { class: "version-diff", hidden: true });
        const before = versions[at + 1];
        return h(
          "li",
          { class: `what-${version.what}` },
          h("div", { class: "version-line" }, h("strong", {}, t(`document.was.${version.what}`)), h("time", { datetime: version.at }, dayOf(version.at), " ", clockOf(version.at)), h("span", { class: "number" }, t("version.short", { version: String(version.version) })), version.tags.map((tag) => h("span", { class: "checkpoint" }, icon("flag"), visible(tag))), version.size ? h("span", { class: "number" }, sizeOf(version.size)) : null, version.path !== path && h("span", { class: "path" }, visible(version.path))),
          h(
            "div",
            { class: "version-tools" },
            before && h("button", { type: "button", class: "quiet", "aria-expanded": "false", on: { click: (event) => toggleDiff(event.currentTarget, place, version.path, before.version, version.version) } }, t("version.changes")),
            version.what !== "removed" && h("a", { class: "quiet", href: addressOf({ at: version.version, open: version.path, tab: null }) }, t("version.read")),
            version.what !== "removed" && h("button", { type: "button", class: "quiet", on: { click: () => restore(version.path, version) } }, icon("undo"), t("restore")),
          ),
          place,
        );
      }),
    );
  }

  async function toggleDiff(button, place, path, from, to) {
    place.hidden = !place.hidden;
    button.setAttribute("aria-expanded", String(!place.hidden));
    if (place.hidden || place.firstChild) return;
    put(place, waiting());
    try {
      const { diff } = await get("/api/diff", { from, to, path });
      put(place, diff.changes.map((one) => diffBlock(one)));
    } catch (error) {
      put(place, failure(error));
    }
  }

  function lookBack(open) {
    const path = open.replace(/#\d+$/, "");
    const place = h("div", {});
    get("/api/document/history", { path }).then((versions) => versions.length && put(place, h("h3", {}, t("document.past")), versionList(versions, path)), () => {});
    return place;
  }

  function close() {
    change({ open: null, tab: null });
  }

  /** A key that was pressed anywhere; whether it meant something. */
  function key(pressed) {
    if (!page || root.hidden) return false;
    if (pressed === "e") {
      const link = head.querySelector("[data-editor]");
      link?.click();
      return Boolean(link);
    }
    const step = { "]": 1, "[": -1 }[pressed];
    if (!step || shown.tab !== "text") return false;
    const chunks = [...root.querySelectorAll(".chunk")];
    const at = chunks.findIndex((chunk) => chunk.classList.contains("is-focus"));
    const next = chunks[Math.max(0, Math.min(chunks.length - 1, at + step))];
    if (next) change({ open: next.dataset.chunk }, { replace: true });
    return true;
  }

  onBeat((beat, before) => {
    if (shown.open && !shown.at && before?.pulse && beat?.pulse && beat.pulse.version !== before.pulse.version) refresh();
  });

  /** The index has another version: what is shown is read again, and stays where it was. */
  async function refresh() {
    if (shown.tab !== "text" || !page) return;
    try {
      const found = await get("/api/document", { what: page.path, from: page.chunks[0]?.rank ?? 0 });
      const isSame = found.chunks.length === page.chunks.length && found.chunks.every((chunk, at) => chunk.text === page.chunks[at].text && chunk.id === page.chunks[at].id);
      if (isSame && found.freshness === page.freshness) return;
      const top = body.scrollTop;
      found.focus = page.focus;
      page = found;
      drawHead();
      await drawText();
      body.scrollTop = top;
    } catch (error) {
      if (error.status === 400) load(shown);
    }
  }

  addEventListener("preference", (event) => event.detail === "editor" && page && drawHead());

  return { update, close, key };
}

const kindOf = (kind) => (kind === MARKDOWN ? "markdown" : kind === "text" ? "plain" : "log");

/** The words that a question's hits are ranked by, as the server folds them. */
async function termsOf(question) {
  try {
    return (await get("/api/terms", { q: question })).terms;
  } catch {
    return [];
  }
}

/** The document that a relative link most likely means. */
function guess(from, target) {
  const parts = from.split("/").slice(0, -1);
  let plain = target.split("#")[0];
  try {
    plain = decodeURIComponent(plain);
  } catch {
    // It is no encoding but a percent sign.
  }
  if (plain.startsWith("/")) parts.length = 1;
  for (const part of plain.split("/")) {
    if (part === "..") parts.pop();
    else if (part && part !== ".") parts.push(part);
  }
  const path = parts.join("/");
  return /\.[a-z0-9]{1,9}$/i.test(path) ? path : `${path}.md`;
}

