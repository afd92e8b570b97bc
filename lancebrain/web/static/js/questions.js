// From the address to what the server is asked.

const FILTERS = ["source", "domain", "kind", "role", "tag", "project"];
const SINGLE = ["path", "since", "until"];

export const MODES = ["hybrid", "vector", "keyword"];

/** What the address narrows a search to: lists, and single texts. */
export function filterOf(asked) {
  const found = {};
  for (const name of FILTERS) found[name] = asked.getAll(name);
  for (const name of SINGLE) found[name] = asked.get(name);
  return found;
}

/** The parameters of a search; null when nothing is asked. */
export function searchOf(asked, extra = {}) {
  const q = (asked.get("q") || "").trim();
  if (!q) return null;
  return { q, mode: asked.get("mode") || "hybrid", at: asked.get("at"), ...filterOf(asked), ...extra };
}

/** Each filter that is on: its name and one value. */
export function activeFilters(asked) {
  const found = [];
  for (const name of FILTERS) for (const value of asked.getAll(name)) found.push([name, value]);
  for (const name of SINGLE) if (asked.get(name)) found.push([name, asked.get(name)]);
  return found;
}

/** An address's parameters without one value of a filter. */
export function without(asked, name, value) {
  return { [name]: asked.getAll(name).filter((other) => other !== value) };
}

/** All filters off. */
export function unfiltered() {
  return Object.fromEntries([...FILTERS, ...SINGLE].map((name) => [name, null]));
}
