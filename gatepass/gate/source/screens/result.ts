/** The result of a scan: it fills the screen for a second, then stands in a line below the camera until the next one. */

import type { Colour, Shown } from "@gatepass/sdk/gate";

import { moment, momentAndAge, word, wordIfKnown } from "../language.js";
import { at, drawIcon, fill, tell } from "../page.js";

/** What is written on the screen. */
export interface Result {
  colour: Colour;
  word: string;
  why: string;
  /** Category and tier. */
  what: string;
  /** Who was first, which gate instead, from when. */
  more: string;
  notes: string;
  isEcho: boolean;
}

const ICONS: Readonly<Record<Colour, string>> = { green: "check", red: "cross", amber: "alert" };

export function resultOf(shown: Shown): Result {
  const isSaidOnce = shown.category?.toLowerCase() === shown.tier?.toLowerCase();
  const what = [shown.category, isSaidOnce ? null : shown.tier];
  const isDecision = shown.verdict !== "unreadable" && shown.colour !== "amber";
  const notes = [shown.echo ? word("echo") : null, isDecision && !shown.online ? word("offline_decision") : null];
  return {
    colour: shown.colour,
    word: wordIfKnown(`word_${shown.verdict}`) ?? shown.word,
    why: wordIfKnown(`why_${shown.verdict}`) ?? shown.message,
    what: what.filter(Boolean).join(" · "),
    more: moreOf(shown).join(" "),
    notes: notes.filter(Boolean).join(" · "),
    isEcho: shown.echo,
  };
}

/** A scan that could not be judged at all, by a fault of ours. */
export function notJudged(): Result {
  const nothing = { what: "", more: "", notes: "", isEcho: false };
  return { colour: "amber", word: word("not_judged"), why: word("not_judged_note"), ...nothing };
}

function moreOf({ first, verdict, details }: Shown): string[] {
  if (first !== null) {
    const when = first.at === null ? null : momentAndAge(new Date(first.at));
    const where = [first.gate, when].filter(Boolean);
    const by = first.scanner_id ? [word("first_by", { scanner: first.scanner_id })] : [];
    return where.length === 0 ? by : [word("first", { gate: first.gate ?? "–", when: when ?? "–" }), ...by];
  }
  if (verdict === "wrong_gate" && Array.isArray(details["gates"])) {
    return [word("go_to", { gates: details["gates"].join(", ") })];
  }
  if (verdict === "outside_window") return windowOf(timeOf(details["valid_from"]), timeOf(details["valid_until"]));
  const opens = timeOf(details["doors_open_at"]);
  return verdict === "doors_closed" && opens !== null ? [word("doors_open", { when: opens })] : [];
}

function windowOf(from: string | null, until: string | null): string[] {
  if (from !== null && until !== null) return [word("valid_between", { from, until })];
  if (from !== null) return [word("valid_from", { from })];
  return until === null ? [] : [word("valid_until", { until })];
}

function timeOf(value: unknown): string | null {
  const read = typeof value === "string" ? new Date(value) : null;
  return read === null || Number.isNaN(read.getTime()) ? null : moment(read);
}

export function showResult(result: Result): void {
  const screen = at("result");
  screen.dataset["colour"] = result.colour;
  screen.dataset["echo"] = String(result.isEcho);
  drawIcon("result-icon", ICONS[result.colour]);
  fill("result-word", result.word);
  // The longest word of it decides how large it can be: see result.css.
  const longest = Math.max(...result.word.split(" ").map((part) => part.length));
  at("result-word").dataset["size"] = longest <= 6 ? "short" : longest <= 9 ? "middle" : "long";
  fill("result-category", result.what);
  fill("result-why", result.why);
  fill("result-more", result.more);
  fill("result-notes", result.notes);
  screen.hidden = false;
  // Begins anew also if the one before is still shown.
  screen.classList.remove("arrives");
  requestAnimationFrame(() => screen.classList.add("arrives"));
  const said = [result.word, result.what, result.why, result.more, result.notes].filter(Boolean);
  tell(said.map((text) => (text.endsWith(".") ? text : `${text}.`)).join(" "), "judged");
  showLast(result);
}

export function hideResult(): void {
  at("result").hidden = true;
}

export const isResultShown = (): boolean => !at("result").hidden;

function showLast(result: Result): void {
  const line = at("last");
  line.hidden = false;
  line.classList.remove("old");
  line.dataset["colour"] = result.colour;
  drawIcon("last-icon", ICONS[result.colour]);
  fill("last-word", result.word);
  fill("last-what", result.what);
  fill("last-why", result.more || (result.colour === "green" ? null : result.why));
}

/** While the next code is judged, nobody must take the last result for its own. */
export function fadeLast(): void {
  at("last").classList.add("old");
}

export const iconOf = (colour: Colour): string => ICONS[colour];
