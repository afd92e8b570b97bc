// What a search is narrowed to: a panel that unfolds, and a chip for all that is on.

import { change } from "./address.js";
import { get } from "./api.js";
import { h, put, visible } from "./dom.js";
import { icon } from "./icons.js";
import { activeFilters, unfiltered, without } from "./questions.js";
import { amount, t } from "./words.js";

const QUICK = ["1d", "7d", "30d", "365d"];

/** The chips of what is on. */
export function chips(asked) {
  const active = activeFilters(asked);
  if (!active.length) return [];
  return [
    ...active.map(([name, value]) =>
      h(
        "button",
        { type: "button", class: "chip", "aria-label": t("filter.remove", { what: `${t(`filter.${name}`)} ${value}` }), on: { click: () => change(without(asked, name, value)) } },
        h("span", { class: "chip-name" }, t(name === "since" && QUICK.includes(value) ? "filter.time" : `filter.${name}`)),
        visible(shownValue(name, value)),
        icon("close"),
      ),
    ),
    active.length > 1 && h("button", { type: "button", class: "plain", on: { click: () => change(unfiltered()) } }, t("filter.clear")),
  ];
}

function shownValue(name, value) {
  return name === "role" ? t(`role.${value}`) : name === "since" && QUICK.includes(value) ? t(`ago.${value}`) : value;
}

/** The panel; it fills itself with what there is to choose from. */
export function filterPanel() {
  const panel = h("div", { class: "filters", id: "filters", role: "group", "aria-label": t("filters") });
  let choices = null;
  let shown = "";

  async function update(asked, version) {
    if (!choices || choices.version !== version) {
      try {
        choices = await get("/api/choices");
      } catch {
        choices ??= { sources: {}, domains: {}, kinds: {}, tags: {}, folders: {} };
      }
    }
    const key = `${choices.version} ${activeFilters(asked).join("|")}`;
    if (key === shown || panel.contains(document.activeElement) && shown) {
      if (key !== shown) syncBoxes(asked);
      return;
    }
    shown = key;
    put(
      panel,
      boxes("source", choices.sources, asked),
      boxes("domain", choices.domains, asked),
      boxes("kind", choices.kinds, asked),
      logs(choices.kinds) && boxes("role", { user: null, assistant: null }, asked, (role) => t(`role.${role}`)),
      dates(asked),
      text("path", asked, Object.keys(choices.folders), t("filter.path.hint")),
      text("tag", asked, Object.keys(choices.tags), t("filter.tag.hint"), true),
      logs(choices.kinds) && text("project", asked, [], t("filter.project.hint"), true),
    );
  }

  function syncBoxes(asked) {
    for (const box of panel.querySelectorAll("input[type=checkbox]")) box.checked = asked.getAll(box.name).includes(box.value);
  }

  return { panel, update };
}

const logs = (kinds) => ["claude", "codex", "gemini", "jsonl"].some((kind) => kind in kinds);

function boxes(name, counts, asked, label = (value) => value) {
  const values = Object.keys(counts);
  const chosen = asked.getAll(name);
  if (values.length < 2 && !chosen.length) return null;
  return h(
    "fieldset",
    {},
    h("legend", {}, t(`filter.${name}`)),
    h(
      "div",
      { class: "boxes" },
      [...new Set([...values, ...chosen])].map((value) =>
        h(
          "label",
          { class: "box" },
          h("input", {
            type: "checkbox",
            name,
            value,
            checked: chosen.includes(value),
            on: { change: (event) => toggle(name, value, event.target.checked) },
          }),
          h("span", {}, visible(label(value)), counts[value] ? h("small", {}, amount(counts[value])) : null),
        ),
      ),
    ),
  );
}

function toggle(name, value, isOn) {
  const others = new URLSearchParams(location.search).getAll(name).filter((other) => other !== value);
  change({ [name]: isOn ? [...others, value] : others }, { replace: true });
}

function dates(asked) {
  const since = asked.get("since");
  const day = (name) =>
    h(
      "label",
      { class: "field" },
      h("span", {}, t(`filter.${name}`)),
      h("input", { type: "date", name, value: /^\d{4}-/.test(asked.get(name) ?? "") ? asked.get(name) : "", on: { change: (event) => change({ [name]: event.target.value }, { replace: true }) } }),
    );
  return h(
    "fieldset",
    {},
    h("legend", {}, t("filter.time")),
    h(
      "div",
      { class: "boxes" },
      QUICK.map((ago) =>
        h("button", { type: "button", class: "box-button", "aria-pressed": String(since === ago), on: { click: () => change({ since: since === ago ? null : ago }) } }, t(`ago.${ago}`)),
      ),
      day("since"),
      day("until"),
    ),
  );
}

function text(name, asked, known, hint, isList = false) {
  const id = `known-${name}`;
  return h(
    "label",
    { class: "field wide-field" },
    h("span", {}, t(`filter.${name}`)),
    h("input", {
      type: "text",
      name,
      list: id,
      placeholder: hint,
      autocomplete: "off",
      spellcheck: "false",
      value: isList ? "" : (asked.get(name) ?? ""),
      on: {
        change: (event) => {
          const value = event.target.value.trim();
          if (isList && value) change({ [name]: [...new Set([...new URLSearchParams(location.search).getAll(name), value])] }, { replace: true });
          else if (!isList) change({ [name]: value }, { replace: true });
          if (isList) event.target.value = "";
        },
      },
    }),
    known.length > 0 && h("datalist", { id }, known.map((value) => h("option", { value }))),
  );
}
