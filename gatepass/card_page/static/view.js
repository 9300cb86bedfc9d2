// What the page shows. Everything here follows from the state, the phone and the network; nothing is kept.

import { picture } from "./code.js";
import all from "./words.js";

const at = (id) => document.getElementById(id);
const shown = (element, yes) => { element.hidden = !yes; };

let words = all.en;
let pictured = "";

export function speak(language) {
  words = all[language] ?? all.en;
  document.documentElement.lang = language in all ? language : "en";
  document.title = words.title;
  for (const element of document.querySelectorAll("[data-word]")) element.textContent = words[element.dataset.word];
}

export function word(key, values = {}) {
  return Object.entries(values).reduce((text, [name, value]) => text.replace(`{${name}}`, () => value ?? ""), words[key]);
}

// For screen readers: the region is polite, and says each thing once.
export function tell(sentence) {
  at("told").textContent = sentence;
}

export function show(state, now) {
  at("organizer").textContent = state.organizer;
  for (const id of ["sandbox", "sandbox-note"]) shown(at(id), state.sandbox);
  document.documentElement.style.setProperty("--brand", state.look.colour);
  document.documentElement.style.setProperty("--brand-ink", state.look.ink);
  fill(at("holder"), state.look.name);
  fill(at("line"), state.look.line);
  at("number").textContent = state.card.number;
  for (const name of ["apple", "google"]) {
    shown(at(name), state.wallets[name]);
    if (state.wallets[name]) at(name).href = state.wallets[name];
  }
  showEvents(state.events.map((event) => (isOver(event, now) ? { ...event, state: "over" } : event)));
}

function isOver(event, now) {
  return event.state !== "cancelled" && Date.parse(event.ends_at) / 1000 < now;
}

function showEvents(events) {
  const next = events.find((event) => event.state !== "over");
  const others = events.filter((event) => event !== next);
  at("next").replaceChildren(...(next ? [eventItem(next)] : []));
  at("others").replaceChildren(...others.map(eventItem));
  shown(at("next-title"), next);
  shown(at("others-title"), others.length > 0);
  shown(at("no-events"), events.length === 0);
  const entered = events.find((event) => event.state === "in");
  shown(at("entered"), entered);
  if (entered) {
    at("entered-when").textContent = enteredWhen(entered);
    at("entered-event").textContent = entered.name;
  }
}

export function enteredWhen(event) {
  return [event.activated_when, event.gate].filter(Boolean).join(" · ");
}

function eventItem(event) {
  const item = at("event").content.firstElementChild.cloneNode(true);
  const field = (name) => item.querySelector(`[data-field=${name}]`);
  item.dataset.state = event.state;
  for (const name of ["name", "when", "venue", "category"]) fill(field(name), event[name]);
  field("when").dateTime = event.starts_at;
  fill(field("state"), event.state === "coming" ? null : words[`state_${event.state}`]);
  fill(field("activated"), event.state === "in" ? enteredWhen(event) : null);
  return item;
}

function fill(element, text) {
  element.textContent = text ?? "";
  shown(element, text);
}

export function arrive() {
  at("entered").classList.remove("arrives");
  requestAnimationFrame(() => at("entered").classList.add("arrives"));
  at("entered").scrollIntoView({ block: "nearest" });
}

// The code, or none; `renews` draws the bar that says how long it lasts.
export function showCode(text, note, { renews = false } = {}) {
  shown(at("code"), text);
  shown(at("renewal"), text && renews);
  fill(at("note"), note);
  if (text && text !== pictured) {
    at("code").replaceChildren(picture(text, words.code));
    at("renewal").classList.remove("runs");
    requestAnimationFrame(() => at("renewal").classList.toggle("runs", renews));
  } else if (!text) {
    at("code").replaceChildren();
  }
  pictured = text ?? "";
}

export function showActions({ keep, elsewhere, remove }) {
  shown(at("keep"), keep);
  shown(at("elsewhere"), elsewhere);
  shown(at("remove"), remove);
}

export function showNetwork(sentence) {
  fill(at("network"), sentence);
}

export function showRequest(address) {
  at("request").replaceChildren(picture(address, words.move_by_phone_code));
}

let logoUrl = null;
export function showLogo(blob) {
  if (logoUrl) URL.revokeObjectURL(logoUrl);
  logoUrl = blob ? URL.createObjectURL(blob) : null;
  if (logoUrl) at("logo").src = logoUrl;
  shown(at("logo"), logoUrl);
}

// A card that ended: nothing of it stays on the page.
export function showNothing(sentence) {
  for (const id of ["next", "others", "code", "request"]) at(id).replaceChildren();
  for (const id of ["number", "holder", "organizer", "line", "entered-event", "entered-when"]) at(id).textContent = "";
  document.querySelector(".brand").hidden = true;
  shown(at("card"), false);
  shown(at("nothing"), true);
  at("nothing-why").textContent = sentence;
  tell("");
}
