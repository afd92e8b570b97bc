// What a person chose, kept in this browser.

const KEY = "lancebrain";
const DEFAULTS = { theme: "", language: "", editor: "vscode", keys: "on" };

function all() {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEY) || "{}") };
  } catch {
    return { ...DEFAULTS };
  }
}

/** What was chosen for one of them. */
export const preference = (name) => all()[name];

/** Choose; it holds at once. */
export function choose(name, value) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...all(), [name]: value }));
  } catch {
    // Without storage it holds as long as the page.
  }
  if (name === "theme") {
    if (value) document.documentElement.dataset.theme = value;
    else delete document.documentElement.dataset.theme;
  }
  if (name === "language") location.reload();
  dispatchEvent(new CustomEvent("preference", { detail: name }));
}
