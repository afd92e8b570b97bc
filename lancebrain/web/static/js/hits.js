// Hits as a list: what an answer says of each, in a form to scan.

import { addressOf } from "./address.js";
import { h, languageOf, visible } from "./dom.js";
import { marked } from "./highlight.js";
import { dayOf, t } from "./words.js";

/** One hit as a list item; its link opens the passage beside the list. */
export function hitItem(hit, terms, { isOpen = false, number = null } = {}) {
  const [folder, name] = parted(hit.path);
  const trail = hit.heading_path.filter((heading) => heading !== hit.title);
  return h(
    "li",
    { class: "hit", data: { id: hit.id } },
    h(
      "a",
      { class: "hit-link", href: addressOf({ open: hit.id }), "aria-current": isOpen ? "true" : null },
      h(
        "span",
        { class: "hit-head" },
        h("span", { class: "hit-title", lang: languageOf(hit.title) }, marked(hit.title, terms)),
        hit.role && h("span", { class: `role role-${hit.role}` }, t(`role.${hit.role}`)),
        hit.freshness !== "fresh" && h("span", { class: "freshness", title: t(`freshness.${hit.freshness}.why`) }, t(`freshness.${hit.freshness}`)),
      ),
      trail.length > 0 && h("span", { class: "hit-trail", lang: languageOf(trail.join()) }, trail.map((heading, at) => [at > 0 && h("i", { "aria-hidden": "true" }, "›"), h("span", {}, visible(heading))])),
      h("span", { class: "hit-snippet", lang: languageOf(hit.snippet) }, marked(hit.snippet, terms)),
      h(
        "span",
        { class: "hit-place" },
        h("span", { class: "path" }, h("span", {}, visible(folder)), visible(name)),
        h("span", {}, hit.line_start === hit.line_end ? t("line", { from: String(hit.line_start) }) : t("lines", { from: String(hit.line_start), to: String(hit.line_end) })),
        hit.said_at && h("span", {}, dayOf(hit.said_at)),
        hit.also_at.length > 0 && h("span", { title: hit.also_at.map((place) => `${visible(place.path)}:${place.line_start}`).join("\n") }, t("also-at", { count: hit.also_at.length })),
      ),
    ),
  );
}

/** Whether a link leads to what is open. */
export function setCurrent(link, isCurrent) {
  if (isCurrent) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
}

/** The folder of a path, with its slash, and the name. */
export function parted(path) {
  const at = path.lastIndexOf("/") + 1;
  return [path.slice(0, at), path.slice(at)];
}

/** Moving through a list of links by arrow keys: whether the event was one of these. */
export function moveInList(list, event, { before = null } = {}) {
  if (event.altKey || event.ctrlKey || event.metaKey) return false;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const links = [...list.querySelectorAll("a.hit-link")];
  if (!links.length || (step === undefined && event.key !== "Home" && event.key !== "End")) return false;
  const at = links.indexOf(document.activeElement);
  let next = event.key === "Home" ? 0 : event.key === "End" ? links.length - 1 : at + step;
  if (next < 0 && before) {
    before.focus();
    before.select?.();
    return true;
  }
  next = Math.max(0, Math.min(links.length - 1, next));
  links[next].focus();
  links[next].scrollIntoView({ block: "nearest" });
  return true;
}
