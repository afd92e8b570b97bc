// Search as you type.

import { addressOf, change } from "./address.js";
import { get } from "./api.js";
import { onBeat, state } from "./beats.js";
import { afterPause, h, latest, languageOf, put, visible } from "./dom.js";
import { failure } from "./frame.js";
import { chips, filterPanel } from "./filters.js";
import { hitItem, moveInList, setCurrent } from "./hits.js";
import { icon } from "./icons.js";
import { MODES, activeFilters, searchOf } from "./questions.js";
import { ago, amount, t } from "./words.js";

const TYPING_MS = 60;
const PAGE = 10;

/** The view; see main.js. */
export function searchView(root) {
  let limit = PAGE;
  let asked = new URLSearchParams();
  let shownFor = "";
  let hasHits = false;

  const field = h("input", {
    type: "search",
    id: "question",
    name: "q",
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    enterkeyhint: "search",
    placeholder: t("search.placeholder"),
    "aria-label": t("search.label"),
    "aria-controls": "hits",
    "aria-keyshortcuts": "/",
  });
  const count = h("span", { class: "badge", hidden: true });
  const filters = filterPanel();
  filters.panel.hidden = true;
  const unfold = h("button", { type: "button", class: "quiet", "aria-expanded": "false", "aria-controls": "filters", on: { click: toggleFilters } }, icon("filter"), h("span", {}, t("filters")), count);
  const modes = h(
    "fieldset",
    { class: "modes" },
    h("legend", { class: "unseen" }, t("mode")),
    MODES.map((mode) =>
      h("label", { title: t(`mode.${mode}.why`) }, h("input", { type: "radio", name: "mode", value: mode, on: { change: () => change({ mode: mode === "hybrid" ? null : mode }, { replace: true }) } }), h("span", {}, t(`mode.${mode}`))),
    ),
  );
  const active = h("div", { class: "chips" });
  const told = h("p", { class: "told", role: "status" });
  const notes = h("div", { class: "notes" });
  const list = h("ol", { class: "hits", id: "hits", "aria-label": t("hits") });
  const more = h("button", { type: "button", class: "quiet more", hidden: true, on: { click: showMore } }, t("search.more"));
  const home = h("div", { class: "home" });

  put(
    root,
    h("h1", { class: "unseen", tabindex: "-1" }, t("view.search")),
    h(
      "search",
      { class: "ask" },
      h("form", { class: "question", on: { submit: (event) => event.preventDefault() } }, icon("search"), field, h("kbd", { "aria-hidden": "true" }, "/")),
      h("div", { class: "under" }, modes, unfold),
      filters.panel,
      active,
    ),
    h("div", { class: "found" }, told, notes, list, more),
    home,
  );

  const ask = latest(async (question, isStale) => {
    const started = performance.now();
    root.setAttribute("aria-busy", "true");
    try {
      const found = question && (await get("/api/search", question));
      if (isStale()) return;
      show(question, found, started);
    } catch (error) {
      if (!isStale()) fail(error);
    } finally {
      root.removeAttribute("aria-busy");
    }
  });
  const typed = afterPause(TYPING_MS, () => change({ q: field.value, open: null }, { replace: true }));

  field.addEventListener("input", (event) => {
    // While characters are being composed, the text is not yet a question.
    if (!event.isComposing) typed();
  });
  field.addEventListener("compositionend", typed);
  root.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && event.target === field) {
      const first = list.querySelector("a.hit-link");
      if (first && shownFor === JSON.stringify(searchOf(asked, { limit }))) first.click();
      return;
    }
    if (event.key === "Escape" && event.target === field && field.value) {
      field.value = "";
      typed();
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const isText = event.target !== field && event.target.matches("input, textarea, select");
    if (!isText && (event.target === field ? ["ArrowDown"].includes(event.key) : list.contains(event.target)) && moveInList(list, event, { before: field })) event.preventDefault();
  });

  function toggleFilters() {
    filters.panel.hidden = !filters.panel.hidden;
    unfold.setAttribute("aria-expanded", String(!filters.panel.hidden));
    if (!filters.panel.hidden) {
      filters.update(asked, state.beat?.pulse?.version).then(() => filters.panel.querySelector("input, button")?.focus({ preventScroll: true }));
    }
  }

  function showMore() {
    limit += PAGE;
    ask(searchOf(asked, { limit }));
  }

  function show(question, found, started) {
    shownFor = JSON.stringify(question);
    home.hidden = Boolean(question);
    if (!question) {
      hasHits = false;
      put(list);
      put(told);
      put(notes);
      more.hidden = true;
      showHome(); // as it is by now
      return;
    }
    const { answer, terms } = found;
    const focused = list.contains(document.activeElement) ? document.activeElement.closest("li").dataset.id : null;
    hasHits = answer.hits.length > 0;
    put(list, answer.hits.map((hit) => hitItem(hit, terms, { isOpen: hit.id === asked.get("open") })));
    more.hidden = !answer.has_more;
    put(told, hasHits ? [t("search.found", { count: answer.hits.length, more: answer.has_more ? "+" : "" }), h("span", { class: "took" }, t("search.took", { ms: Math.round(performance.now() - started) }))] : t("search.nothing"));
    put(
      notes,
      found.by_words_alone && note(t(`doing.${state.beat?.doing === "no-model" ? "no-model" : "loading"}`)),
      found.is_behind && note(t("search.behind")),
      answer.pending > 0 && note(t("search.pending", { count: answer.pending })),
      answer.notes.map((text) => note(text, "en")),
      !hasHits && h("p", { class: "hint" }, activeFilters(asked).length ? t("search.nothing.filters") : t("search.nothing.hint")),
    );
    if (focused) [...list.children].find((item) => item.dataset.id === focused)?.firstChild.focus();
  }

  function fail(error) {
    shownFor = "";
    home.hidden = true;
    put(list);
    put(told);
    more.hidden = true;
    put(notes, failure(error));
  }

  async function showHome() {
    const pulse = state.beat?.pulse;
    put(
      home,
      h("p", { class: "facts" }, pulse ? t("home.facts", { documents: pulse.documents, chunks: pulse.chunks }) : t(`doing.${state.beat?.doing ?? "opening"}`)),
      h("p", { class: "keys" }, [["↓ ↑", "keys.move"], ["Enter", "keys.open"], ["Esc", "keys.close"], ["?", "keys.help"]].map(([key, what]) => h("span", {}, h("kbd", {}, key), " ", t(what)))),
    );
    if (!pulse) return;
    try {
      const recent = await get("/api/recent", { limit: 8 });
      home.append(
        h(
          "section",
          { "aria-labelledby": "recent" },
          h("h2", { id: "recent" }, t("home.recent")),
          h("ul", { class: "recent" }, recent.map((one) => h("li", {}, h("a", { href: addressOf({ open: one.path }) }, h("span", { lang: languageOf(one.title) }, visible(one.title || one.path)), h("small", {}, visible(one.path), " · ", ago(one.modified_at)))))),
        ),
      );
    } catch {
      // What changed lately is a welcome, not an answer.
    }
  }

  const unhear = onBeat((beat, before) => {
    if (beat?.pulse?.version !== before?.pulse?.version || beat?.pulse?.pinned !== before?.pulse?.pinned || beat?.doing !== before?.doing) {
      if (asked.get("q")) ask(searchOf(asked, { limit }));
      if (!home.hidden) showHome();
    }
  });

  showHome();
  return {
    title: () => (asked.get("q") ? visible(asked.get("q")) : null),
    update(parameters) {
      const before = JSON.stringify(searchOf(asked));
      asked = parameters;
      if (document.activeElement !== field) field.value = asked.get("q") ?? "";
      for (const radio of modes.querySelectorAll("input")) radio.checked = radio.value === (asked.get("mode") ?? "hybrid");
      const on = activeFilters(asked).length;
      count.hidden = !on;
      count.textContent = amount(on);
      put(active, chips(asked));
      if (!filters.panel.hidden) filters.update(asked, state.beat?.pulse?.version);
      for (const link of list.querySelectorAll("a.hit-link")) {
        setCurrent(link, link.parentElement.dataset.id === asked.get("open"));
      }
      root.classList.toggle("is-asked", Boolean(asked.get("q")));
      if (JSON.stringify(searchOf(asked)) !== before || (asked.get("q") && !shownFor)) {
        limit = PAGE;
        ask(searchOf(asked, { limit }));
      }
    },
    focus: () => field.focus(),
    unmount: unhear,
  };
}

function note(text, lang = null) {
  return h("p", { class: "note", lang }, visible(text));
}

