/** What the scanner says of itself: one line that is always there, and all of it in the settings. */

import type { GateStatus } from "@gatepass/sdk/gate";

import { moment, word } from "../language.js";
import { at, drawIcon, fill, tell } from "../page.js";

// Below this a clock is right enough: codes of phones hold for a minute either way.
const CLOCK_OFF_SECONDS = 30;

let wasOffline = false;

export function drawStatus(status: GateStatus): void {
  const { device, offline_since: since, waiting } = status;
  const line = at("status");
  line.dataset["network"] = since === null ? "online" : "offline";
  fill("status-gate", device?.gate ?? null);
  fill("status-device", device?.name ?? null);
  drawIcon("status-icon", since === null ? "online" : "offline");
  fill("status-network", since === null ? word("online") : word("offline_since", { when: moment(new Date(since)) }));
  fill("status-waiting", waiting === 0 ? null : word("waiting", { count: String(waiting) }));
  const [first] = warningsOf(status);
  at("status-warning").hidden = first === undefined;
  fill("status-warning-text", first ?? null);
  drawFacts(status);
  // The lead signs in there; nothing of it comes back here.
  const place = new URLSearchParams({ event: device?.event_id ?? "", gate: device?.gate ?? "" });
  at<HTMLAnchorElement>("lead").href = `/studio/lead?${place}`;
  if ((since !== null) !== wasOffline) tell(word(since === null ? "told_online" : "told_offline"));
  wasOffline = since !== null;
}

/** The names of what is not as it should be, the worst first. */
function warningsOf(status: GateStatus): string[] {
  const found: [boolean, string][] = [
    [status.rejected.length > 0, "rejected"],
    [status.device_unknown, "not_known"],
    [status.lost !== null, "storage"],
    [status.cards === null, "list"],
    [isClockOff(status), "clock"],
    [!status.persistent, "storage"],
  ];
  return [...new Set(found.filter(([isTrue]) => isTrue).map(([, key]) => word(key)))];
}

function drawFacts(status: GateStatus): void {
  const { device, offline_since: since, waiting, rejected } = status;
  const facts: [key: string, text: string, isWarning: boolean][] = [
    ["gate", device?.gate ?? "", false],
    ["device", device?.name ?? "", false],
    since === null
      ? ["online", waitingText(waiting), false]
      : ["offline", `${word("offline_since", { when: moment(new Date(since)) })}. ${waitingText(waiting)}`, true],
    ["list", listText(status), status.cards === null],
    ["clock", clockText(status), isClockOff(status)],
    ["storage", storageText(status), status.lost !== null || !status.persistent],
  ];
  if (status.device_unknown) facts.push(["not_known", word("not_known_note"), true]);
  if (rejected.length > 0) facts.push(["rejected", word("rejected_note", { count: String(rejected.length) }), true]);
  facts.push(["version", versionText(), false]);
  at("facts").replaceChildren(...facts.flatMap(([key, text, isWarning]) => pair(word(key), text, isWarning)));
  at("send-again").hidden = rejected.length === 0;
}

function pair(name: string, text: string, isWarning: boolean): HTMLElement[] {
  const term = document.createElement("dt");
  term.textContent = name;
  const value = document.createElement("dd");
  value.textContent = text;
  value.classList.toggle("warning", isWarning);
  return [term, value];
}

export function waitingText(waiting: number): string {
  if (waiting === 0) return word("waiting_none");
  return `${word("waiting", { count: String(waiting) })}. ${word("waiting_some")}`;
}

/** Of a device that sends nothing until it is paired again. */
export function waitingThen(waiting: number): string | null {
  return waiting === 0 ? null : word("waiting_then", { count: String(waiting) });
}

function listText({ cards, manifest_issued_at: issued }: GateStatus): string {
  if (cards === null || issued === null) return word("list_none");
  return word("list_cards", { count: String(cards), when: moment(new Date(issued)) });
}

const isClockOff = ({ clock_offset: seconds }: GateStatus): boolean => Math.abs(seconds) >= CLOCK_OFF_SECONDS;

function clockText(status: GateStatus): string {
  return isClockOff(status) ? word("clock_off", { seconds: String(Math.round(Math.abs(status.clock_offset))) }) : word("clock_right");
}

function storageText({ lost, persistent }: GateStatus): string {
  const said = [lost === null ? null : word("storage_lost"), persistent ? null : word("storage_not_persistent")];
  return said.filter(Boolean).join(" ") || word("storage_kept");
}

function versionText(): string {
  const version = document.querySelector<HTMLMetaElement>("meta[name=gatepass-version]")?.content ?? "";
  return version.slice(0, 8);
}
