/** What was shown at the gate, read without a network: a token, a phone's code, or a typed number. */

import { asStored, numberIn, UNREADABLE } from "../../card/number.js";
import { PREFIX as PHONE_CODE } from "../../card/phone_code.js";
import { isObject } from "../../http/call.js";
import { sha256Hex, utf8 } from "../bytes.js";

const TOKEN = "SVC1.";
// Longer than any code. A reader that types without end must not fill the memory.
const LONGEST = 512;
const NUMBER = /^[A-Z]{2,6} \d{4} \d{4} \d{4}$/;
const TEST_CARD = /^TEST_[A-Z_]{1,27}$/;
const PRINTABLE_ASCII = /^[\x20-\x7e]+$/;

/** One of `token` and `card_number` is what is sent; `number` names the card. */
export class Code {
  readonly number: string;
  // Private, so that it does not get into a log.
  readonly #token: string | null;
  readonly #card_number: string | null;

  constructor(token: string | null, card_number: string | null, number: string) {
    this.#token = token;
    this.#card_number = card_number;
    this.number = number;
  }

  /** From what `sent` gave. */
  static from(sent: unknown): Code {
    const kept = isObject(sent) ? sent : {};
    const token = typeof kept["token"] === "string" ? kept["token"] : null;
    const typed = String(kept["card_number"] ?? "");
    return token !== null ? new Code(token, null, numberIn(token)) : new Code(null, typed, asStored(typed));
  }

  get token(): string | null {
    return this.#token;
  }

  /** What makes two readings the same. A phone that is held still makes another code every few seconds. */
  get echo(): string {
    return this.#token?.startsWith(PHONE_CODE) ? this.number : this.#shown;
  }

  get sent(): { token: string } | { card_number: string } {
    return this.#token !== null ? { token: this.#token } : { card_number: this.#card_number ?? "" };
  }

  /** The SHA-256 of what was shown, which the journal signs. */
  digest(): Promise<string> {
    return sha256Hex(utf8(this.#shown));
  }

  get #shown(): string {
    return this.#token ?? this.#card_number ?? "";
  }
}

/** null if this is no code of ours: a gate's reader also sees parcels, posters and phones. */
export function readCode(text: string): Code | null {
  const shown = text.trim();
  if (shown.length > LONGEST || !PRINTABLE_ASCII.test(shown)) return null;
  if (shown.startsWith(TOKEN) || shown.startsWith(PHONE_CODE)) {
    const number = numberIn(shown);
    return number === UNREADABLE ? null : new Code(shown, null, number);
  }
  const number = asStored(shown);
  return NUMBER.test(number) || TEST_CARD.test(number) ? new Code(null, number, number) : null;
}

/**
 * A typed card number as it is stored, if its check digit is good; else null. For a screen that says so while somebody
 * types: `scan` sends any number, because the service may know better.
 */
export function typedNumber(text: string): string | null {
  const number = asStored(text);
  if (!NUMBER.test(number)) return null;
  const digits = [...number.replace(/\D/g, "")].map(Number);
  // Luhn: from the right, every second digit is doubled, and the sum of all digits ends in zero.
  const sum = digits.reverse().reduce((total, digit, n) => total + (n % 2 === 0 ? digit : doubled(digit)), 0);
  return sum % 10 === 0 ? number : null;
}

function doubled(digit: number): number {
  return digit < 5 ? digit * 2 : digit * 2 - 9;
}
