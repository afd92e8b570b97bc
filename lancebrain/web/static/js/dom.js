// Building the page: nodes, never markup. Whatever a file says can only become text.

const SVG = "http://www.w3.org/2000/svg";

/** An element. Properties: `class`, `on` (listeners), `data`, `style` (custom properties), any
 *  attribute; false and null leave it out. */
export function h(name, properties = {}, ...children) {
  return filled(document.createElement(name), properties, children);
}

/** The same in a drawing. */
export function s(name, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, name), properties, children);
}

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "data") {
      Object.assign(element.dataset, value);
    } else if (name === "style") {
      for (const [property, set] of Object.entries(value)) element.style.setProperty(property, set);
    } else if (name === "value" || name === "checked" || name === "disabled") {
      element[name] = value;
    } else {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Put other children in place of those that are there. */
export function put(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// Marks that turn the direction of reading, and control characters: what cannot be seen must not
// change what is seen.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Text of a file as it can be shown: what acts unseen stands as its number. */
export function visible(text) {
  return text.replace(/\r\n?/g, "\n").replace(UNSEEN, (char) => `⟨${char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** The language of a text as far as its letters tell, for the right glyphs and fonts. */
export function languageOf(text) {
  if (/[\u3040-\u30ff]/.test(text)) return "ja";
  if (/[\uac00-\ud7af]/.test(text)) return "ko";
  if (/[\u4e00-\u9fff]/.test(text)) return "zh";
  return null;
}

/** Calls of which only the last of each burst is made, after a pause. */
export function afterPause(pauseMs, call) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(call, pauseMs, ...given);
  };
}

/** One piece of work at a time: while it runs, only what was asked for last waits. */
export function latest(work) {
  let waiting = null;
  let isRunning = false;
  return async (given) => {
    waiting = { given };
    if (isRunning) return;
    isRunning = true;
    try {
      while (waiting) {
        const { given: next } = waiting;
        waiting = null;
        await work(next, () => waiting !== null);
      }
    } finally {
      isRunning = false;
    }
  };
}

/** Text into the clipboard; whether that was allowed. */
export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
