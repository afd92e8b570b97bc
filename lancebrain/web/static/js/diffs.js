// Unified diffs to read: what went, what came, and within a changed line the words.

import { h, languageOf, visible } from "./dom.js";

const MOST_LINES = 2_000;

/** One document's change with its text. */
export function diffBlock(change) {
  const lines = (change.text_diff ?? "").split("\n").slice(2);
  const rows = [];
  let left = 0;
  let right = 0;
  for (let at = 0; at < Math.min(lines.length, MOST_LINES); at++) {
    const line = lines[at];
    const place = line.match(/^@@ -(\d+)(?:,\d+)? \+(\d+)/);
    if (place) {
      left = Number(place[1]);
      right = Number(place[2]);
      if (rows.length) rows.push(h("div", { class: "gap" }, "⋯"));
    } else if (line.startsWith("-")) {
      const gone = [];
      const come = [];
      while (lines[at]?.startsWith("-")) gone.push(lines[at++].slice(1));
      while (lines[at]?.startsWith("+")) come.push(lines[at++].slice(1));
      at--;
      const pairs = gone.map((text, number) => (number < come.length ? changedParts(text, come[number]) : [null, null]));
      gone.forEach((text, number) => rows.push(row("gone", left++, text, pairs[number][0])));
      come.forEach((text, number) => rows.push(row("come", right++, text, pairs[number]?.[1] ?? null)));
    } else if (line.startsWith("+")) {
      rows.push(row("come", right++, line.slice(1), null));
    } else {
      rows.push(row("same", right++, line.slice(1), null));
      left++;
    }
  }
  return h("div", { class: "diff", tabindex: "0", role: "group", "aria-label": change.path, lang: languageOf(change.text_diff ?? "") }, rows, lines.length > MOST_LINES && h("div", { class: "gap" }, "⋯"));
}

function row(kind, number, text, part) {
  const sign = { gone: "−", come: "+", same: " " }[kind];
  const content = part ? [visible(text.slice(0, part[0])), h("b", {}, visible(text.slice(part[0], part[1]))), visible(text.slice(part[1]))] : visible(text);
  return h("div", { class: kind }, h("span", { class: "line-number", "aria-hidden": "true" }, String(number)), h("span", { class: "sign" }, sign), h(kind === "gone" ? "del" : kind === "come" ? "ins" : "span", { class: "line" }, content));
}

/** The parts of two lines between what they begin and end with alike; null where too much differs. */
function changedParts(before, after) {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  if (start + end < 0.3 * Math.max(before.length, after.length)) return [null, null];
  return [[start, before.length - end], [start, after.length - end]];
}
