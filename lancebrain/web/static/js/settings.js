// The dialog of what can be chosen, and of the keys.

import { EDITORS } from "./editors.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { choose, preference } from "./preferences.js";
import { LANGUAGES, t } from "./words.js";

/** The dialog. */
export function openSettings() {
  const dialog = h(
    "dialog",
    { class: "dialog", "aria-labelledby": "preferences-title", on: { close: () => dialog.remove() } },
    h("div", { class: "dialog-head" }, h("h2", { id: "preferences-title" }, t("preferences")), h("button", { type: "button", class: "round", "aria-label": t("close"), on: { click: () => dialog.close() } }, icon("close"))),
    select("theme", { "": t("theme.system"), light: t("theme.light"), dark: t("theme.dark") }),
    select("language", { "": t("language.system"), ...LANGUAGES }),
    select("editor", Object.fromEntries(Object.entries(EDITORS).map(([name, [title]]) => [name, title]))),
    select("keys", { on: t("keys.on"), off: t("keys.off") }),
    keyTable(),
  );
  document.body.append(dialog);
  dialog.showModal();
}

function select(name, options) {
  const chosen = preference(name);
  return h(
    "label",
    { class: "setting" },
    h("span", {}, t(`preference.${name}`)),
    h("select", { on: { change: (event) => choose(name, event.target.value) } }, Object.entries(options).map(([value, title]) => h("option", { value, selected: value === chosen }, title))),
  );
}

function keyTable() {
  const keys = [["/", "keys.search"], ["↓ ↑", "keys.move"], ["Enter", "keys.open"], ["[ ]", "keys.chunk"], ["e", "keys.editor"], ["Esc", "keys.close"], ["1 2 3 4", "keys.views"], ["?", "keys.help"]];
  return h("div", { class: "keys-table" }, h("h3", {}, t("preference.keys")), h("dl", {}, keys.map(([key, what]) => h("div", {}, h("dt", {}, key.split(" ").map((one) => h("kbd", {}, one))), h("dd", {}, t(what))))));
}
