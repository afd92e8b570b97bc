// What is around every view: the rail, the banners, dialogs, and how failures are told.

import { addressOf, change, go, here } from "./address.js";
import { send } from "./api.js";
import { onBeat, state } from "./beats.js";
import { h, put, visible } from "./dom.js";
import { icon } from "./icons.js";
import { preference } from "./preferences.js";
import { openSettings } from "./settings.js";
import { ago, moment, t } from "./words.js";

export const VIEW_NAMES = ["search", "timeline", "map", "health"];

/** The rail with the views, and the state at its foot. */
export function rail(root) {
  const links = VIEW_NAMES.map((view, at) => h("a", { data: { view }, href: "/", "aria-keyshortcuts": String(at + 1) }, icon(view), h("span", {}, t(`view.${view}`))));
  const lamp = h("span", { class: "lamp" });
  const words = h("span", { role: "status" });
  const status = h("a", { class: "state", href: "/health" }, lamp, words);
  put(
    root,
    root.querySelector(".brand") ?? null,
    h("nav", { "aria-label": t("views") }, links),
    h("div", { class: "rail-foot" }, status, h("button", { type: "button", class: "round", "aria-label": t("preferences"), title: t("preferences"), on: { click: openSettings } }, icon("settings"))),
  );

  function show() {
    const { kind, text } = stateOf(state);
    lamp.dataset.kind = kind;
    words.textContent = text;
    if (state.beat?.why) status.title = state.beat.why;
    else status.removeAttribute("title");
  }
  onBeat(show);
  setInterval(show, 20_000);
  show();
  return () => {
    for (const link of links) {
      link.href = addressOf({}, link.dataset.view);
      if (link.dataset.view === here().view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    status.href = addressOf({}, "health");
  };
}

function stateOf({ beat, isLost }) {
  if (isLost) return { kind: "lost", text: t("state.lost") };
  if (!beat) return { kind: "busy", text: t("doing.opening.short") };
  if (beat.pulse?.pinned) return { kind: "held", text: t("state.held") };
  if (beat.progress || beat.doing === "opening" || beat.doing === "loading" || beat.doing === "catching-up") return { kind: "busy", text: t(`doing.${beat.progress ? "catching-up" : beat.doing}.short`) };
  if (!beat.pulse || beat.doing === "failing") return { kind: "bad", text: t("state.bad") };
  if (beat.doing === "no-model") return { kind: "held", text: t("doing.no-model.short") };
  if (beat.pulse.pending) return { kind: "busy", text: t("state.pending", { count: beat.pulse.pending }) };
  if (beat.doing === "on-demand") return { kind: "good", text: t("doing.on-demand.short") };
  if (beat.looked_at) return { kind: "good", text: t("state.looked", { ago: ago(beat.looked_at) }) };
  return { kind: "good", text: t("state.good") };
}

/** Banners above every view: the index is held, or the page is in the past. */
export function banners(root) {
  function show() {
    const at = here().asked.get("at");
    const pulse = state.beat?.pulse;
    const shown = [];
    if (pulse?.pinned) {
      shown.push(
        h(
          "div",
          { class: "banner held", role: "status" },
          icon("pause"),
          h("p", {}, h("strong", {}, t("held.at", { ref: visible(pulse.pinned) })), " ", t("held.why", { when: pulse.pinned_at ? moment(pulse.pinned_at) : "" })),
          !state.beat.read_only && h("button", { type: "button", class: "firm", on: { click: resume } }, t("resume")),
        ),
      );
    }
    if (at) {
      shown.push(
        h(
          "div",
          { class: "banner past", role: "status" },
          icon("clock"),
          h("p", {}, t("past.at", { ref: visible(at) })),
          h("button", { type: "button", class: "firm", on: { click: () => change({ at: null }) } }, t("past.leave")),
        ),
      );
    }
    if (state.isLost) shown.push(h("div", { class: "banner bad", role: "alert" }, icon("warning"), h("p", {}, t("state.lost.why"))));
    const key = shown.map((banner) => banner.textContent).join("|");
    if (key !== root.dataset.key) {
      root.dataset.key = key;
      put(root, shown);
    }
  }
  onBeat(show);
  show();
  return show;
}

async function resume() {
  const yes = await confirmed({ title: t("resume.title"), text: [t("resume.text")], action: t("resume") });
  if (!yes) return;
  try {
    const report = await send("/api/resume");
    toast(t("resume.done", { count: report.added + report.changed + report.moved + report.removed }));
  } catch (error) {
    toast(error.message, "bad");
  }
}

/** Ask plainly; whether the answer was yes. The way out has the focus. */
export function confirmed({ title, text, action, isGrave = false, body = null }) {
  return new Promise((resolve) => {
    const no = h("button", { type: "button", class: "quiet", on: { click: () => dialog.close("no") } }, t("cancel"));
    const yes = h("button", { type: "button", class: isGrave ? "firm grave" : "firm", on: { click: () => dialog.close("yes") } }, action);
    const dialog = h(
      "dialog",
      { class: "dialog", "aria-labelledby": "dialog-title", "aria-describedby": "dialog-text", on: { close: done } },
      h("h2", { id: "dialog-title" }, title),
      h("div", { id: "dialog-text" }, text.filter(Boolean).map((paragraph) => h("p", {}, paragraph))),
      body,
      h("div", { class: "dialog-foot" }, no, yes),
    );
    function done() {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    }
    document.body.append(dialog);
    dialog.showModal();
    no.focus();
  });
}

const toasts = h("div", { class: "toasts", role: "status", "aria-live": "polite" });

/** Tell in passing. */
export function toast(text, kind = "good") {
  if (!toasts.isConnected) document.body.append(toasts);
  const one = h("div", { class: `toast ${kind}` }, icon(kind === "bad" ? "warning" : "check"), h("span", {}, visible(text)));
  toasts.append(one);
  setTimeout(() => one.remove(), kind === "bad" ? 9000 : 5000);
}

/** A failure where something was to be shown. */
export function failure(error, again = null) {
  const title = t(`error.${error.kind ?? "mistake"}`);
  return h(
    "div",
    { class: "failure", role: "alert" },
    icon("warning"),
    h("div", {}, h("h2", {}, title === `error.${error.kind}` ? t("error.mistake") : title), h("p", { lang: error.kind === "no-cookie" || error.kind === "unreachable" ? null : "en" }, error.kind === "no-cookie" ? t("error.no-cookie.hint") : error.kind === "unreachable" ? t("state.lost.why") : visible([error.message, error.hint].filter(Boolean).join(" ")))),
    again && h("button", { type: "button", class: "quiet", on: { click: again } }, t("again")),
  );
}

/** Something that goes on. */
export function waiting(text = t("waiting")) {
  return h("p", { class: "waiting", role: "status" }, h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")), text);
}

/** Keys that hold everywhere. */
export function globalKeys(view, pane) {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape" && here().asked.get("open")) {
      event.preventDefault();
      pane.close();
      return;
    }
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.matches?.("input, textarea, select, [contenteditable]")) return;
    if (preference("keys") === "off") return;
    const number = VIEW_NAMES[Number(event.key) - 1];
    if (event.key === "/") (view().focus ?? (() => go(addressOf({}, "search"))))();
    else if (event.key === "?") openSettings();
    else if (number) go(addressOf({}, number));
    else if (!pane.key(event.key)) return;
    event.preventDefault();
  });
}
