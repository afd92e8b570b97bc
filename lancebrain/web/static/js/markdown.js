// Markdown for reading: enough of it to be pleasant, line by line, with every character a text
// node. A reader's state goes on from one chunk to the next, since a chunk may begin anywhere.

import { h, visible } from "./dom.js";
import { marked } from "./highlight.js";

const FENCE = /^\s{0,3}(`{3,}|~{3,})(.*)$/;
const HEADING = /^\s{0,3}(#{1,6})(?:\s+(.*?))?\s*#*\s*$/;
const RULE = /^\s{0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^(\s*)(?:([-*+])|(\d{1,9})[.)])\s+(?:\[([ xX])\]\s+)?(.*)$/;
const QUOTE = /^\s{0,3}>\s?(.*)$/;
const TABLE = /^\s*\|.*\|\s*$/;
const INLINE = /(`+)(.+?)\1(?!`)|(!?)\[\[([^\]|#]+)(?:#[^\]|]*)?(?:\|([^\]]+))?\]\]|(!?)\[([^\]]*)\]\(\s*<?([^)\s>]*)>?(?:\s+"[^"]*")?\s*\)|<(https?:\/\/[^>\s]+)>|(https?:\/\/[^\s<>()\]"'`。、，）]+[^\s<>()\]"'`。、，）.,;:!?])|(\*\*|__)(?=\S)(.+?\S|\S)\11|(?<![\w*])([*_])(?=\S)([^*_]*[^\s*_])\13(?![\w*])|(~~)(?=\S)(.+?)~~/gu;

/** A reader of one document.
 *  `follow(target)` gives the address that a link within the index leads to, or null. */
export function reader(terms, follow) {
  let fence = null;
  let isComment = false;
  let isFirst = true;

  function inline(text) {
    const nodes = [];
    let at = 0;
    for (const match of text.matchAll(INLINE)) {
      const [whole, , code, , wiki, wikiName, isImage, label, target, angle, bare, , bold, , italic, , struck] = match;
      nodes.push(...marked(text.slice(at, match.index), terms));
      at = match.index + whole.length;
      if (code !== undefined) nodes.push(h("code", {}, marked(code, terms)));
      else if (wiki !== undefined) nodes.push(link(wiki.trim(), marked(wikiName ?? wiki, terms)));
      else if (target !== undefined) nodes.push(isImage ? picture(label || target) : link(target, label ? inline(label) : [target]));
      else if (angle ?? bare) nodes.push(link(angle ?? bare, marked(angle ?? bare, terms)));
      else if (bold !== undefined) nodes.push(h("strong", {}, inline(bold)));
      else if (italic !== undefined) nodes.push(h("em", {}, inline(italic)));
      else nodes.push(h("s", {}, inline(struck)));
    }
    nodes.push(...marked(text.slice(at), terms));
    return nodes;
  }

  function link(target, children) {
    if (/^https?:\/\//i.test(target)) {
      return h("a", { href: target, target: "_blank", rel: "noopener noreferrer", class: "outward" }, children);
    }
    const address = follow(target);
    return address ? h("a", { href: address, data: { target } }, children) : h("span", { class: "dead-link", title: visible(target) }, children);
  }

  const picture = (name) => h("span", { class: "picture" }, visible(name));

  /** The nodes of the next chunk. */
  return function read(text) {
    const lines = visible(text).split("\n");
    const nodes = [];
    let paragraph = [];
    let list = null;
    let commentFrom = isComment ? 0 : -1;

    function endParagraph() {
      if (paragraph.length) nodes.push(h("p", {}, inline(joined(paragraph))));
      paragraph = [];
    }
    function end() {
      endParagraph();
      list = null;
    }

    let at = 0;
    if (isFirst && /^(---|\+\+\+)\s*$/.test(lines[0])) {
      const close = lines.findIndex((line, number) => number > 0 && (line.trim() === lines[0].trim() || line.trim() === "..."));
      if (close > 0) {
        nodes.push(h("pre", { class: "frontmatter", tabindex: "0" }, marked(lines.slice(1, close).join("\n"), terms)));
        at = close + 1;
      }
    }
    if (text.trim()) isFirst = false;

    for (; at < lines.length; at++) {
      const line = lines[at];
      const fenced = line.match(FENCE);
      if (fence) {
        if (fenced && fenced[1][0] === fence.mark[0] && fenced[1].length >= fence.mark.length && !fenced[2].trim()) {
          fence = null;
        } else {
          const last = nodes.at(-1);
          if (fence.block && last === fence.block) fence.lines.push(line);
          else nodes.push((fence.block = h("pre", { tabindex: "0" }))), (fence.lines = [line]);
          fence.block.replaceChildren(h("code", {}, marked(fence.lines.join("\n"), terms)));
        }
        continue;
      }
      if (fenced && !fenced[2].includes("`")) {
        end();
        fence = { mark: fenced[1], block: null, lines: [] };
        continue;
      }
      if (!line.trim()) {
        end();
        continue;
      }
      if (!isComment && /^\s{0,3}<!--/.test(line)) {
        end();
        isComment = true;
        commentFrom = nodes.length;
      }
      if (isComment && line.includes("-->")) {
        paragraph.push(line);
        end();
        isComment = false;
        for (const node of nodes.slice(commentFrom)) node.classList.add("comment");
        continue;
      }
      const heading = line.match(HEADING);
      if (heading) {
        end();
        // Below the title of the page and that of the document.
        nodes.push(h(`h${Math.min(6, heading[1].length + 2)}`, { class: `level-${heading[1].length}` }, inline(heading[2] ?? "")));
        continue;
      }
      if (RULE.test(line)) {
        end();
        nodes.push(h("hr"));
        continue;
      }
      if (TABLE.test(line)) {
        end();
        const rows = [];
        while (at < lines.length && TABLE.test(lines[at])) rows.push(lines[at++]);
        at--;
        nodes.push(table(rows));
        continue;
      }
      const item = line.match(ITEM);
      if (item) {
        endParagraph();
        const depth = Math.min(6, Math.floor(item[1].replace(/\t/g, "    ").length / 2));
        if (!list) nodes.push((list = h("ul", { class: "items" })));
        const box = item[4] === undefined ? null : h("span", { class: "box" }, item[4] === " " ? "☐ " : "☑ ");
        list.append(h("li", { data: { depth, mark: item[2] ? "•" : `${item[3]}.` }, style: { "--depth": depth, "--mark": `"${item[2] ? "•" : `${item[3]}.`}"` } }, box, inline(item[5])));
        continue;
      }
      const quote = line.match(QUOTE);
      if (quote) {
        end();
        const quoted = [quote[1]];
        while (at + 1 < lines.length && QUOTE.test(lines[at + 1])) quoted.push(lines[++at].match(QUOTE)[1]);
        nodes.push(h("blockquote", {}, quoted.join("\n").split(/\n\s*\n/).map((part) => h("p", {}, inline(joined(part.split("\n")))))));
        continue;
      }
      if (list && /^\s+/.test(line)) {
        list.lastChild.append(" ", ...inline(line.trim()));
        continue;
      }
      if (list) end();
      paragraph.push(line);
    }
    end();
    if (fence) fence.block = null;
    if (isComment) for (const node of nodes.slice(commentFrom)) node.classList.add("comment");
    return nodes;
  };

  function table(rows) {
    const cells = rows.filter((row) => !/^[\s|:-]+$/.test(row)).map((row) => row.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/));
    const hasHead = rows.length > 1 && /^[\s|:-]+$/.test(rows[1]);
    const body = cells.map((row, number) =>
      h("tr", {}, row.map((cell) => h(hasHead && number === 0 ? "th" : "td", {}, inline(cell.trim().replaceAll("\\|", "|"))))),
    );
    return h("div", { class: "wide", tabindex: "0" }, h("table", {}, body));
  }
}

/** Lines of a paragraph as one: no space where a language has none. */
function joined(lines) {
  return lines.reduce((text, line) => {
    const next = line.trim();
    const isUnspaced = /[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]$/.test(text) && /^[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]/.test(next);
    return text + (text && !isUnspaced ? " " : "") + next;
  }, "");
}
