// The address is the state: what is shown follows from it, so reload, back and links all work.

const VIEWS = { "/": "search", "/timeline": "timeline", "/map": "map", "/health": "health" };
// What stays when another view is chosen: the question, its filter, the time, the open document.
const KEPT = ["q", "mode", "source", "domain", "kind", "role", "tag", "project", "path", "since", "until", "at", "open"];

let listener = () => {};

/** The view and parameters of now. */
export function here() {
  return { view: VIEWS[location.pathname] || "search", asked: new URLSearchParams(location.search) };
}

/** An address: the present one with other parameters; null or an empty list takes one out. */
export function addressOf(changes = {}, view = here().view) {
  const current = here();
  const asked = new URLSearchParams();
  for (const [name, value] of current.asked) {
    if (!(name in changes) && (view === current.view || KEPT.includes(name))) asked.append(name, value);
  }
  for (const [name, value] of Object.entries(changes)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") asked.append(name, one);
    }
  }
  const path = Object.keys(VIEWS).find((known) => VIEWS[known] === view);
  return asked.size ? `${path}?${asked}` : path;
}

/** Go there; `replace` leaves no step in the history. */
export function go(address, { replace = false } = {}) {
  if (address === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", address);
  listener(here());
}

/** Change parameters of the present address. */
export function change(changes, options) {
  go(addressOf(changes), options);
}

/** Tell of every change, and follow links within the page without loading it again. */
export function followAddress(tell) {
  listener = tell;
  addEventListener("popstate", () => tell(here()));
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.target || link.origin !== location.origin || !(link.pathname in VIEWS) || link.hash) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
