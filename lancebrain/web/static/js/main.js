// Where the page begins: the language, the frame, then whatever view the address names.

import { followAddress, here } from "./address.js";
import { listen } from "./beats.js";
import { h, put } from "./dom.js";
import { banners, globalKeys, rail } from "./frame.js";
import { healthView } from "./health.js";
import { mapView } from "./map.js";
import { pane as paneOf } from "./pane.js";
import { preference } from "./preferences.js";
import { searchView } from "./search.js";
import { timelineView } from "./timeline.js";
import { speak, t } from "./words.js";

// A view is a function of its root; it gives `update(parameters)`, `unmount()`, and perhaps
// `focus()` and `title()`.
const VIEWS = { search: searchView, timeline: timelineView, map: mapView, health: healthView };

await speak(preference("language"));

const root = document.getElementById("view");
const banner = h("div", { class: "banners" });
const stage = h("div", { class: "stage" });
put(root, banner, stage);
document.querySelector(".skip").textContent = t("skip");

const showRail = rail(document.getElementById("rail"));
const showBanners = banners(banner);
const pane = paneOf(document.getElementById("pane"));
let name = null;
let view = null;

function show({ view: next, asked }) {
  const isFirst = name === null;
  if (next !== name) {
    view?.unmount();
    name = next;
    put(stage);
    stage.className = `stage stage-${name}`;
    document.documentElement.dataset.view = name;
    view = VIEWS[name](stage);
  }
  view.update(asked);
  pane.update({ asked });
  showRail();
  showBanners();
  document.title = `${view.title?.() || t(`view.${name}`)} · LanceBrain`;
  if (isFirst) {
    if (!asked.get("open")) view.focus?.();
  } else if (document.activeElement === document.body || !document.activeElement.isConnected) {
    stage.querySelector("h1")?.focus({ preventScroll: true });
  }
}

followAddress(show);
globalKeys(() => view, pane);
listen();
show(here());
document.documentElement.classList.add("is-ready");
