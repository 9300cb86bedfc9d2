// The card in the hand: what was kept is shown at once, then the server is asked, then followed.

import { followMoves } from "./move.js";
import { follow } from "./network.js";
import { Phone, canSign } from "./phone.js";
import * as server from "./server.js";
import { Showing } from "./showing.js";
import * as store from "./store.js";
import * as view from "./view.js";

// `/c/<token>`; the shell that the service worker keeps is shown at the same address.
const token = location.pathname.split("/")[2];
const isShell = document.querySelector("link[rel=manifest]") === null;
// Only the service itself says that a card ended: what a proxy answers must not cost anybody their key.
const ENDED = new Set(["link_ended", "link_not_found", "card_not_found"]);
// Another phone has the card.
const NOT_HERE = new Set(["phone_not_enrolled", "phone_ended"]);
// A certificate lasts 7 days. Each visit renews it, and a page that stays open does so too.
const RENEWED_EVERY = 6 * 3600;

export class Card {
  constructor(phone, kept) {
    this.token = token;
    this.phone = phone;
    this.state = null;
    this.isOnline = true;
    this.logo = kept?.logo ?? null;
    this.logoPath = kept?.logoPath ?? null;
    // A phone's clock may be wrong by minutes; codes hold for one. The server's clock counts.
    this.offset = kept?.offset ?? 0;
    this.renewedAt = 0;
    this.showing = new Showing(this);
  }

  now() {
    return Math.floor(Date.now() / 1000 + this.offset);
  }

  // Ask for the state. One question at a time: what changes meanwhile is asked for after it.
  async refresh() {
    this.isStale = true;
    this.refreshing ??= this.#refreshed().finally(() => { this.refreshing = null; });
    await this.refreshing;
  }

  async #refreshed() {
    while (this.isStale) {
      this.isStale = false;
      const { kept } = this.phone;
      try {
        const state = await server.state(token, document.documentElement.lang);
        // An answer of before the card came to this phone, or left it, must not undo that.
        if (this.phone.kept !== kept) this.isStale = true;
        else await this.take(state);
        await this.#renew();
      } catch (fault) {
        await this.#failed(fault);
      }
    }
  }

  async take(state) {
    this.offset = state.now - Date.now() / 1000;
    this.connected(true);
    await this.#takeLogo(state.look.logo);
    const { offset, logo, logoPath } = this;
    // Before it is shown: a phone that dies now shows the same again, also without a network.
    await store.write("states", token, { state, offset, logo, logoPath, language: document.documentElement.lang });
    await this.show(state);
  }

  async show(state) {
    const before = this.state;
    this.state = state;
    view.show(state, this.now());
    if (before) this.#tell(before, state);
    await this.showing.draw();
  }

  #tell(before, state) {
    for (const event of state.events) {
      const was = before.events.find((one) => one.id === event.id);
      if (!was || was.state === event.state) continue;
      const values = { event: event.name, when: event.state === "in" ? view.enteredWhen(event) : event.when };
      if (event.state === "in") {
        view.arrive();
        view.tell(view.word("told_entered", values));
      } else if (event.state === "changed" || event.state === "cancelled") {
        view.tell(view.word(`told_${event.state}`, values));
      }
    }
  }

  async #takeLogo(path) {
    if (path === this.logoPath) return;
    this.logo = path ? await server.logo(path).catch(() => null) : null;
    this.logoPath = this.logo ? path : null;
    view.showLogo(this.logo);
  }

  // The phone's certificate. A key that has none was enrolled just before the network went, or waits for a move.
  async #renew() {
    const { phone } = this;
    if (!phone.kept || !this.state || this.state.phone.state !== "enrolled") return;
    if (phone.shows(this.state.phone) && this.now() - this.renewedAt < RENEWED_EVERY) return;
    if (phone.refusedFor === this.state.phone.enrolment) return;
    try {
      await phone.renew(this.now());
      this.renewedAt = this.now();
    } catch (fault) {
      if (!NOT_HERE.has(fault.code)) throw fault;
      phone.refusedFor = this.state.phone.enrolment;
      if (phone.isEnrolled) await phone.forget();
    }
    await this.showing.draw();
  }

  async #failed(fault) {
    if (fault instanceof server.Refused && ENDED.has(fault.code)) {
      await this.end(fault.notice ?? view.word("not_found"));
    } else if (!(fault instanceof server.Refused) || fault.status >= 500) {
      this.connected(false);
      if (!this.state && isShell) view.showNothing(view.word("not_here"));
    }
  }

  connected(isOnline) {
    const before = this.isOnline;
    this.isOnline = isOnline;
    const sentence = isOnline ? null : view.word(this.showing.hasCode ? "offline" : "offline_no_code");
    view.showNetwork(sentence);
    if (before !== isOnline) view.tell(sentence ?? view.word("online"));
    if (before !== isOnline && this.state) void this.showing.draw();
  }

  // A card that ended leaves nothing on this phone.
  async end(sentence) {
    this.state = null;
    this.hasEnded = true;
    this.showing.stop();
    await store.forget(token);
    view.showNothing(sentence);
  }
}

async function start() {
  const [kept, phone] = [await store.read("states", token), await Phone.of(token)];
  view.speak(isShell ? (kept?.language ?? navigator.language.slice(0, 2)) : document.documentElement.lang);
  const card = new Card(phone, kept);
  card.showing.canSign = await canSign();
  if (kept) {
    if (kept.logo || isShell) view.showLogo(kept.logo);
    await card.show(kept.state);
  }
  followMoves(card);
  follow(card);
  await card.refresh();
}

if (document.documentElement.classList.contains("script")) {
  await start();
  const version = new URL(".", import.meta.url).pathname.split("/").at(-2);
  await navigator.serviceWorker?.register(`/c/worker.js?v=${version}`, { scope: "/c/" });
}
