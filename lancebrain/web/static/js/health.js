// The state of the index: what there is, what is wrong and what to do, what says the same twice.

import { addressOf } from "./address.js";
import { get, send } from "./api.js";
import { onBeat, state } from "./beats.js";
import { afterPause, h, latest, put, visible } from "./dom.js";
import { failure, toast, waiting } from "./frame.js";
import { icon } from "./icons.js";
import { ago, amount, has, moment, sizeOf, t } from "./words.js";

const MOST_FILES = 50;

/** The view; see main.js. */
export function healthView(root) {
  const figures = h("dl", { class: "figures" });
  const now = h("div", { class: "now", role: "status" });
  const sources = h("div", {});
  const problems = h("div", {});
  const twins = h("div", {});
  const look = h("button", { type: "button", class: "quiet", on: { click: lookNow } }, icon("refresh"), t("health.look"));

  put(
    root,
    h("div", { class: "view-head" }, h("h1", { tabindex: "-1" }, t("view.health")), h("div", { class: "view-tools" }, look)),
    h("div", { class: "health" }, now, figures, section("health.problems", problems), section("health.sources", sources), section("health.twins", twins)),
  );

  const load = latest(async () => {
    try {
      draw(await get("/api/status"));
    } catch (error) {
      put(figures);
      put(sources);
      put(problems, failure(error, () => load()));
    }
  });
  const loadTwins = latest(async () => {
    if (!twins.firstChild) put(twins, waiting());
    try {
      drawTwins(await get("/api/duplicates"));
    } catch (error) {
      put(twins, error.kind === "no-index" ? h("p", { class: "hint" }, t("none")) : failure(error));
    }
  });

  function draw(status) {
    const shown = [
      ["documents", amount(status.documents)],
      ["chunks", amount(status.chunks)],
      ["pending", amount(status.pending)],
      ["size", sizeOf(status.bytes)],
      ["versions", amount(status.versions), status.oldest_at ? t("health.since", { when: moment(status.oldest_at) }) : ""],
      ["model", visible(status.model)],
    ];
    put(figures, shown.map(([name, value, more]) => h("div", { class: name === "pending" && status.pending ? "is-warned" : null }, h("dt", {}, t(`health.${name}`)), h("dd", {}, value), more && h("dd", { class: "more" }, more))));
    put(
      sources,
      h(
        "ul",
        { class: "sources" },
        status.sources.map((source) => h("li", {}, h("span", { class: "lamp", data: { kind: source.state === "ok" ? "good" : "bad" } }), h("div", {}, h("a", { href: addressOf({ source: [source.name], q: null, open: null }, "search") }, visible(source.name)), h("span", { class: "path" }, visible(source.root))), h("span", { class: "number" }, t("health.source.documents", { count: source.documents })), h("span", { class: source.state === "ok" ? "ok" : "freshness" }, t(`source.${source.state}`)), source.state !== "ok" && h("p", { class: "advice" }, t(`source.${source.state}.advice`, { name: source.name })))),
      ),
      status.masked_secrets > 0 && h("p", { class: "hint" }, t("health.masked", { count: status.masked_secrets })),
      h("p", { class: "hint path" }, visible(status.index)),
    );
    drawProblems(status.problems);
  }

  function drawProblems(all) {
    if (!all.length) {
      put(problems, h("p", { class: "all-well" }, icon("check"), t("health.well")));
      return;
    }
    const byCode = Map.groupBy ? Map.groupBy(all, (one) => one.code) : grouped(all);
    put(
      problems,
      [...byCode].map(([code, ones]) =>
        h(
          "details",
          { class: "problem", open: byCode.size <= 3 },
          h("summary", {}, icon("warning"), h("strong", {}, has(`problem.${code}`) ? t(`problem.${code}`) : code), h("span", { class: "badge" }, amount(ones.length))),
          has(`problem.${code}.advice`) && h("p", { class: "advice" }, t(`problem.${code}.advice`)),
          h("ul", {}, ones.slice(0, MOST_FILES).map((one) => h("li", {}, one.path && (one.path.includes("/") ? h("a", { class: "path", href: addressOf({ open: one.path, tab: null }) }, visible(one.path)) : h("span", { class: "path" }, visible(one.path))), h("span", { lang: "en" }, visible(one.message))))),
          ones.length > MOST_FILES && h("p", { class: "hint" }, t("health.more", { count: ones.length - MOST_FILES })),
        ),
      ),
    );
  }

  function drawTwins(pairs) {
    if (!pairs.length) {
      put(twins, h("p", { class: "all-well" }, icon("check"), t("health.no-twins")));
      return;
    }
    put(
      twins,
      h("p", { class: "hint" }, t("health.twins.why")),
      h("ul", { class: "twins" }, pairs.map((pair) => h("li", {}, h("span", { class: "number" }, t("health.alike", { percent: String(Math.round(pair.shared_text * 100)) })), h("div", {}, h("a", { class: "path", href: addressOf({ open: pair.path, tab: null }) }, visible(pair.path)), h("a", { class: "path", href: addressOf({ open: pair.like, tab: null }) }, visible(pair.like)))))),
    );
  }

  function drawNow() {
    const { beat, isLost } = state;
    if (!beat) return put(now, waiting(t("doing.opening")));
    const lines = [h("p", {}, h("span", { class: "lamp", data: { kind: isLost ? "lost" : (beat.doing === "up-to-date" || beat.doing === "on-demand") && beat.pulse && !beat.pulse.pinned ? "good" : "busy" } }), isLost ? t("state.lost") : t(`doing.${beat.doing}`))];
    if (beat.why) lines.push(h("p", { class: "advice", lang: "en" }, visible(beat.why)));
    if (beat.progress) lines.push(progress(beat.progress));
    lines.push(h("p", { class: "hint" }, beat.is_followed ? t("health.followed") : t("health.not-followed"), beat.looked_at && ` ${t("health.looked", { ago: ago(beat.looked_at) })}`));
    return put(now, lines);
  }

  function progress({ phase, files, files_total, chunks, chunks_total }) {
    const [done, all] = phase === "embed" ? [chunks, chunks_total] : [files, files_total];
    return h("p", { class: "progress" }, h("progress", { "aria-label": t(`phase.${phase}`), max: all || null, value: all ? done : undefined }), h("span", {}, t(`phase.${phase}`), all ? ` ${amount(done)}/${amount(all)}` : ""));
  }

  async function lookNow() {
    look.disabled = true;
    try {
      const report = await send("/api/look");
      const changed = report.added + report.changed + report.moved + report.removed;
      toast(changed ? t("health.look.changed", { count: changed }) : t("health.look.same"));
    } catch (error) {
      toast([error.message, error.hint].join(" "), "bad");
    } finally {
      look.disabled = false;
    }
  }

  const again = afterPause(300, load);
  const twinsAgain = afterPause(4_000, loadTwins);
  const unhear = onBeat((beat, before) => {
    drawNow();
    if (JSON.stringify(beat?.pulse) !== JSON.stringify(before?.pulse) || beat?.looked_at !== before?.looked_at) again();
    if (beat?.pulse?.version !== before?.pulse?.version) twinsAgain();
  });
  const clock = setInterval(drawNow, 10_000);

  drawNow();
  load();
  loadTwins();
  return {
    update() {},
    unmount() {
      unhear();
      clearInterval(clock);
    },
  };
}

function section(key, content) {
  return h("section", { "aria-labelledby": key }, h("h2", { id: key }, t(key)), content);
}

function grouped(all) {
  const found = new Map();
  for (const one of all) found.set(one.code, [...(found.get(one.code) ?? []), one]);
  return found;
}
