// What the page says, in the reader's language: messages, numbers, times, sizes.

export const LANGUAGES = { en: "English", ja: "日本語", zh: "中文" };

let messages = {};
let language = "en";
let plural, number, day, clock, whole, relative;

/** Take up a language: the chosen one, else the browser's first that is known. */
export async function speak(chosen) {
  const wanted = chosen || navigator.languages.map((tag) => tag.slice(0, 2)).find((tag) => tag in LANGUAGES) || "en";
  language = wanted in LANGUAGES ? wanted : "en";
  messages = await (await fetch(`/static/messages/${language}.json`)).json();
  document.documentElement.lang = language === "zh" ? "zh-Hans" : language;
  const locale = navigator.languages.find((tag) => tag.startsWith(language)) || language;
  plural = new Intl.PluralRules(language);
  number = new Intl.NumberFormat(locale);
  day = new Intl.DateTimeFormat(locale, { weekday: "long", year: "numeric", month: "long", day: "numeric" });
  clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
  whole = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
  relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
}

/** A message; of one with plural forms the one that fits `count`. */
export function t(key, values = {}) {
  let message = messages[key];
  if (message === undefined) return key;
  if (typeof message === "object") message = message[plural.select(values.count)] ?? message.other;
  return message.replace(/\{(\w+)\}/g, (_, name) => (typeof values[name] === "number" ? number.format(values[name]) : (values[name] ?? "")));
}

/** Whether there is such a message. */
export function has(key) {
  return key in messages;
}

/** The messages of these counts, joined: "2 changed, 1 added". */
export function counted(prefix, counts) {
  return Object.entries(counts)
    .filter(([name, count]) => count && has(`${prefix}.${name}`))
    .map(([name, count]) => t(`${prefix}.${name}`, { count }))
    .join(t("list.comma"));
}

export const amount = (value) => number.format(value);
export const dayOf = (time) => day.format(new Date(time));
export const clockOf = (time) => clock.format(new Date(time));
export const moment = (time) => whole.format(new Date(time));

const UNITS = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** How long ago. */
export function ago(time, now = Date.now()) {
  const seconds = (new Date(time).getTime() - now) / 1000;
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return relative.format(Math.round(seconds / length), unit);
  }
  return t("time.now");
}

/** A size for people. */
export function sizeOf(bytes) {
  const step = bytes < 1 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** step;
  const shown = new Intl.NumberFormat(language, { maximumFractionDigits: step && value < 100 ? 1 : 0 }).format(value);
  return `${shown} ${["B", "kB", "MB", "GB", "TB"][step]}`;
}
