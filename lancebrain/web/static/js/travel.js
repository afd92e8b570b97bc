// Going back: each with a dry run first, whose outcome is what the person is asked about.

import { send } from "./api.js";
import { h, visible } from "./dom.js";
import { confirmed, toast } from "./frame.js";
import { counted, dayOf, clockOf, t } from "./words.js";

/** Roll the index back to a version, if the person agrees. */
export async function rollback(version) {
  try {
    const planned = await send("/api/rollback", { ref: String(version.version), dry_run: true });
    const changes = counted("change", planned.changes);
    const yes = await confirmed({
      title: t("rollback.title", { version: String(planned.restored) }),
      text: [t("rollback.when", { when: `${dayOf(version.at)} ${clockOf(version.at)}` }), changes ? t("rollback.changes", { changes }) : t("rollback.same"), t("rollback.files"), t("rollback.back")],
      action: t("rollback.do"),
      isGrave: true,
    });
    if (!yes) return;
    const done = await send("/api/rollback", { ref: planned.ref });
    toast(t("rollback.done", { version: String(done.restored), checkpoint: done.checkpoint }));
  } catch (error) {
    toast([error.message, error.hint].join(" "), "bad");
  }
}

/** Write a note back to its file as a version has it, if the person agrees. */
export async function restore(path, version) {
  const at = String(version.version);
  try {
    let [planned] = await send("/api/restore", { path, at, dry_run: true });
    if (planned.is_same) {
      toast(t("restore.same"));
      return;
    }
    const replaces = !planned.done;
    if (replaces) [planned] = await send("/api/restore", { path, at, overwrite: true, dry_run: true });
    if (!planned.done) {
      toast(planned.why, "bad");
      return;
    }
    const yes = await confirmed({
      title: t("restore.title", { name: visible(path.split("/").at(-1)) }),
      text: [t("restore.when", { when: `${dayOf(version.at)} ${clockOf(version.at)}` }), replaces ? t("restore.replaces") : t("restore.writes")],
      body: h("p", { class: "path" }, visible(planned.file)),
      action: replaces ? t("restore.replace") : t("restore.do"),
      isGrave: replaces,
    });
    if (!yes) return;
    const [done] = await send("/api/restore", { path, at, overwrite: replaces });
    toast(done.done ? t("restore.done", { name: path.split("/").at(-1) }) : done.why, done.done ? "good" : "bad");
  } catch (error) {
    toast([error.message, error.hint].join(" "), "bad");
  }
}

/** Name the version of now. */
export async function checkpoint() {
  const name = h("input", { type: "text", required: true, pattern: "[A-Za-z0-9._-]+", autocomplete: "off", spellcheck: "false" });
  const message = h("input", { type: "text", autocomplete: "off" });
  const body = h("div", { class: "fields" }, h("label", { class: "field" }, h("span", {}, t("checkpoint.name")), name, h("small", {}, t("checkpoint.letters"))), h("label", { class: "field" }, h("span", {}, t("checkpoint.message")), message));
  const yes = await confirmed({ title: t("checkpoint.title"), text: [t("checkpoint.text")], body, action: t("checkpoint.do") });
  if (!yes || !name.value.trim()) return false;
  try {
    const made = await send("/api/checkpoints", { name: name.value.trim(), message: message.value.trim() });
    toast(t("checkpoint.done", { name: made.name, version: String(made.version) }));
    return true;
  } catch (error) {
    toast([error.message, error.hint].join(" "), "bad");
    return false;
  }
}

/** Take a name away. */
export async function removeCheckpoint(name) {
  const yes = await confirmed({ title: t("checkpoint.remove.title", { name: visible(name) }), text: [t("checkpoint.remove.text")], action: t("checkpoint.remove"), isGrave: true });
  if (!yes) return false;
  try {
    await send(`/api/checkpoints/${encodeURIComponent(name)}`, {}, "DELETE");
    return true;
  } catch (error) {
    toast(error.message, "bad");
    return false;
  }
}
