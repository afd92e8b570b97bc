// Words of the question, marked where they stand.

import { h, visible } from "./dom.js";

const UNSPACED = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff]/;
const LETTER = /[\p{L}\p{N}]/u;

/** Where folded terms stand in a text: [start, end] pairs, in order, not overlapping. */
export function placesOf(text, terms) {
  if (!terms.length) return [];
  const { folded, origin } = foldedWithOrigin(text);
  const found = [];
  for (const term of terms) {
    if (!term) continue;
    for (let at = folded.indexOf(term); at >= 0; at = folded.indexOf(term, at + term.length)) {
      // Within a word of letters a term has to begin it, or "art" would be marked in "start".
      if (!UNSPACED.test(term) && at > 0 && LETTER.test(folded[at - 1]) && LETTER.test(term[0])) continue;
      found.push([origin[at], origin[at + term.length]]);
    }
  }
  found.sort((one, other) => one[0] - other[0] || other[1] - one[1]);
  const merged = [];
  for (const [start, end] of found) {
    const last = merged.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

/** A text as nodes, with its terms marked. */
export function marked(text, terms) {
  const shown = visible(text);
  const nodes = [];
  let at = 0;
  for (const [start, end] of placesOf(shown, terms)) {
    if (start > at) nodes.push(shown.slice(at, start));
    nodes.push(h("mark", {}, shown.slice(start, end)));
    at = end;
  }
  if (at < shown.length) nodes.push(shown.slice(at));
  return nodes;
}

/** NFKC and lower case, and for each character of that where it comes from. */
function foldedWithOrigin(text) {
  if (/^[\u0000-\u007f]*$/.test(text)) {
    return { folded: text.toLowerCase(), origin: Array.from({ length: text.length + 1 }, (_, at) => at) };
  }
  let folded = "";
  const origin = [];
  let at = 0;
  for (const char of text) {
    const plain = char.normalize("NFKC").toLowerCase();
    for (let part = 0; part < plain.length; part++) origin.push(at);
    folded += plain;
    at += char.length;
  }
  origin.push(text.length);
  return { folded, origin };
}
