// Which code this page shows, when it draws the next one, and that the screen stays on meanwhile.

import { Refused, post } from "./server.js";
import * as view from "./view.js";

// The server takes a phone's code for 60 seconds, either way.
const RENEWED_AFTER = 20;
// A phone that cannot sign asks for a code of 60 seconds, and for the next one before it ends.
const SHORT_RENEWED_AFTER = 40;

export class Showing {
  constructor(card) {
    this.card = card;
    this.canSign = false;
    this.hasCode = false;
    this.short = null;
    this.turn = 0;
  }

  stop() {
    this.turn += 1;
    clearTimeout(this.timer);
    void this.lock?.release().catch(() => undefined);
  }

  // Draws the code that belongs to this moment, and plans the next. A later call makes an earlier one void.
  async draw() {
    const { card } = this;
    const turn = (this.turn += 1);
    const chosen = await this.#chosen(card.state, card.now());
    if (turn !== this.turn || !card.state) return;
    clearTimeout(this.timer);
    this.hasCode = chosen.code != null;
    view.showCode(chosen.code, view.word(chosen.note), { renews: chosen.renews ?? false });
    view.showActions({
      keep: chosen.keep ?? false,
      elsewhere: chosen.elsewhere ?? false,
      remove: card.phone.shows(card.state.phone) && card.isOnline,
    });
    if (chosen.again) this.timer = setTimeout(() => void this.draw(), chosen.again * 1000);
    if (chosen.code) await this.#stayAwake();
  }

  async #chosen(state, now) {
    if (state.card.status !== "active") return { note: "suspended" };
    if (state.phone.state === "enrolled") return this.#ofPhone(state.phone, now);
    if (!this.canSign && this.card.isOnline) return this.#ofOldPhone(state, now);
    const keep = this.canSign && this.card.isOnline;
    if (state.code && state.code.expires_at > now) return { code: state.code.token, note: "code_static", keep };
    return { note: state.events.length ? "code_needs_phone" : "no_code", keep };
  }

  async #ofPhone(enrolled, now) {
    const { phone } = this.card;
    if (!phone.shows(enrolled)) return { note: "elsewhere_short", elsewhere: true };
    if (!phone.isValid(now)) return { note: "certificate_ended" };
    return { code: await phone.code(now), note: "code_moves", renews: true, again: RENEWED_AFTER };
  }

  async #ofOldPhone(state, now) {
    if (!this.short || now - this.short.at >= SHORT_RENEWED_AFTER) {
      try {
        this.short = { ...(await post(this.card.token, "/short-token")), at: now };
      } catch (fault) {
        if (fault instanceof Refused) return { code: state.code?.token, note: "code_static", again: SHORT_RENEWED_AFTER };
        return { note: "code_waits", again: 5 };
      }
    }
    return { code: this.short.token, note: "code_short", again: SHORT_RENEWED_AFTER - (now - this.short.at) };
  }

  // Browsers release the lock when the page is hidden; each drawing asks again.
  async #stayAwake() {
    if (!("wakeLock" in navigator) || document.visibilityState !== "visible" || (this.lock && !this.lock.released)) return;
    this.lock = await navigator.wakeLock.request("screen").catch(() => null);
  }
}
