/** The ten last scans, in memory only: without names, and of a card number only its end. */

import { moment, word } from "../language.js";
import { at } from "../page.js";
import { iconOf, type Result } from "./result.js";

interface Scan {
  at: Date;
  result: Result;
  card: string;
}

const MOST = 10;
const NAMESPACE = "http://www.w3.org/2000/svg";

let scans: Scan[] = [];

export function remember(result: Result, card: string): void {
  if (result.isEcho) return;
  scans = [{ at: new Date(), result, card }, ...scans].slice(0, MOST);
  drawRecent();
}

export function forgetRecent(): void {
  scans = [];
  at("last").hidden = true;
  drawRecent();
}

export function drawRecent(): void {
  for (const list of document.querySelectorAll("[data-recent]")) list.replaceChildren(...scans.map(itemOf));
  at("recent-none").hidden = scans.length > 0;
}

function itemOf({ at: when, result, card }: Scan): HTMLElement {
  const item = document.createElement("li");
  item.dataset["colour"] = result.colour;
  const text = document.createElement("span");
  text.append(strong(result.word), " ", result.what || result.more || result.why);
  const side = document.createElement("span");
  side.className = "soft";
  side.textContent = [card, moment(when)].filter(Boolean).join(" · ");
  item.append(drawn(iconOf(result.colour)), text, side);
  return item;
}

function strong(text: string): HTMLElement {
  const element = document.createElement("b");
  element.textContent = text;
  return element;
}

function drawn(name: string): SVGElement {
  const icon = document.createElementNS(NAMESPACE, "svg");
  icon.classList.add("icon");
  icon.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(NAMESPACE, "use");
  use.setAttribute("href", `#icon-${name}`);
  icon.append(use);
  return icon;
}

/** `SVC 1234 5678 9012` is shown as `… 9012`. What is no number is not shown at all. */
export function shortened(number: string): string {
  const digits = /^[A-Z]{2,6} \d{4} \d{4} (\d{4})$/.exec(number)?.[1];
  return digits === undefined ? "" : word("card_end", { digits });
}
