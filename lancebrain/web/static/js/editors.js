// Links that open a file in an editor at a line. The server starts nothing: the system hands such
// a link to the program that registered for it.

import { preference } from "./preferences.js";

const encoded = (path) => path.split("/").map(encodeURIComponent).join("/");
const withSlash = (path) => (path.startsWith("/") ? path : `/${path}`);
const asUrl = (path) => encodeURIComponent(`file://${encoded(withSlash(path))}`);

export const EDITORS = {
  vscode: ["VS Code", (path, line) => `vscode://file${encoded(withSlash(path))}:${line}`],
  vscodium: ["VSCodium", (path, line) => `vscodium://file${encoded(withSlash(path))}:${line}`],
  cursor: ["Cursor", (path, line) => `cursor://file${encoded(withSlash(path))}:${line}`],
  windsurf: ["Windsurf", (path, line) => `windsurf://file${encoded(withSlash(path))}:${line}`],
  zed: ["Zed", (path, line) => `zed://file${encoded(withSlash(path))}:${line}`],
  obsidian: ["Obsidian", (path) => `obsidian://open?path=${encodeURIComponent(path)}`],
  sublime: ["Sublime Text", (path, line) => `subl://open?url=${asUrl(path)}&line=${line}`],
  textmate: ["TextMate", (path, line) => `txmt://open?url=${asUrl(path)}&line=${line}`],
  idea: ["IntelliJ IDEA", (path, line) => `idea://open?file=${encodeURIComponent(path)}&line=${line}`],
  emacs: ["Emacs", (path, line) => `emacs://open?url=${asUrl(path)}&line=${line}`],
};

/** The link for the editor that was chosen, with its name. */
export function editorLink(file, line) {
  const [name, link] = EDITORS[preference("editor")] ?? EDITORS.vscode;
  return { name, href: link(file.replaceAll("\\", "/"), Math.max(1, line)) };
}
