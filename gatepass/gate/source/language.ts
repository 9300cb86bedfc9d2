/** The language of the screen: chosen in the settings, else that of the phone. */

import words from "./words.js";

let spoken = "en";
// With the country, for times: 14:03 in Britain is 02:03 PM in America.
let locale = "en";
let texts: Readonly<Record<string, string>> = words["en"] ?? {};

/** Put the whole page into a language. An empty choice is the phone's own. */
export function speak(chosen: string): void {
  const wanted = [chosen, ...navigator.languages].map((tag) => tag.split("-")[0]?.toLowerCase() ?? "");
  spoken = wanted.find((tag) => Object.hasOwn(words, tag)) ?? "en";
  texts = words[spoken] ?? {};
  locale = navigator.languages.find((tag) => tag.split("-")[0]?.toLowerCase() === spoken) ?? spoken;
  document.documentElement.lang = spoken;
  document.title = word("title");
  for (const element of document.querySelectorAll<HTMLElement>("[data-word]")) {
    element.textContent = word(element.dataset["word"] ?? "");
  }
  for (const element of document.querySelectorAll<HTMLElement>("[data-label]")) {
    element.setAttribute("aria-label", word(element.dataset["label"] ?? ""));
  }
}

export const language = (): string => spoken;

/** The text of this key; what stands in braces is replaced. */
export function word(key: string, values: Readonly<Record<string, string>> = {}): string {
  const text = texts[key];
  if (text === undefined) throw new Error(`There is no text ${key}.`);
  return text.replace(/\{(\w+)\}/g, (field, name: string) => values[name] ?? field);
}

/** The text of a key that may not be there, such as that of a verdict of tomorrow's service. */
export function wordIfKnown(key: string): string | null {
  return texts[key] ?? null;
}

/** A time of day, with its date if that is another day. */
export function moment(at: Date, now = new Date()): string {
  const isToday = at.toDateString() === now.toDateString();
  const day: Intl.DateTimeFormatOptions = isToday ? {} : { day: "numeric", month: "short" };
  return new Intl.DateTimeFormat(locale, { ...day, hour: "2-digit", minute: "2-digit" }).format(at);
}

/** The same, and how long ago: who was let in two minutes ago may stand beside this guest. */
export function momentAndAge(at: Date, now = new Date()): string {
  const minutes = Math.floor((now.getTime() - at.getTime()) / 60_000);
  if (minutes < 0 || minutes >= 12 * 60) return moment(at, now);
  const age = new Intl.RelativeTimeFormat(spoken, { numeric: "auto" });
  const ago = minutes < 60 ? age.format(-minutes, "minute") : age.format(-Math.floor(minutes / 60), "hour");
  return `${moment(at, now)} (${ago})`;
}
