/** What the screen of a gate shows: a colour, a word, and why. Never colour alone. */

import { ACTIVATED } from "./decision/rules.js";

export type Colour = "green" | "red" | "amber";

type Sentences = Readonly<Record<string, readonly [word: string, message: string]>>;

// A large word for each verdict, and a sentence for the person at the gate.
export const REFUSALS: Sentences = {
  event_not_found: ["STOP", "This gate's event is gone. Ask the gate lead."],
  event_not_active: ["CLOSED", "The event is not open for scans."],
  doors_closed: ["TOO EARLY", "The doors are not open yet."],
  expired: ["EXPIRED", "The code has expired. Ask for a fresh one."],
  static_code_refused: ["PHONE", "Only the code on the guest's phone counts here."],
  card_not_found: ["UNKNOWN", "This card is not known."],
  card_suspended: ["SUSPENDED", "The card is suspended."],
  card_revoked: ["REVOKED", "The card was revoked."],
  ticket_not_found: ["NO TICKET", "The card has no ticket for this event."],
  ticket_cancelled: ["CANCELLED", "The ticket was cancelled."],
  already_activated: ["USED", "This ticket has already been used."],
  outside_window: ["NOT NOW", "The ticket is not valid at this time."],
  wrong_gate: ["OTHER GATE", "The ticket is for another gate."],
  invalid_token: ["UNKNOWN", "This code is not one of ours."],
  unreadable: ["UNKNOWN", "This is no code of Gatepass."],
};
export const WARNINGS: Sentences = {
  online_only: ["WAIT", "There is no network, and this event admits online only. Show it again."],
  no_manifest: ["WAIT", "There is no network, and this gate has no list of the event. Show it again."],
  was_admitted: ["CHECK", "Admitted here as this gate stopped. Let in only if nobody went in."],
  not_kept: ["STOP", "This gate cannot write to its disk. Let nobody in; ask the gate lead."],
  device_ended: ["STOP", "This device no longer admits anybody. Ask the gate lead."],
};

/** Who was first, where and when (RFC 3339). */
export interface First {
  at: string | null;
  gate: string | null;
  scanner_id: string | null;
}

/** What is known of a scan besides its verdict. */
export interface Known {
  category?: string | null;
  tier?: string | null;
  first?: First | null;
  details?: Readonly<Record<string, unknown>>;
  online?: boolean;
  echo?: boolean;
  sequence?: number | null;
}

/**
 * The answer to one code.
 *
 * `verdict` is `activated`, the code of a refusal, or one of `online_only`, `no_manifest`, `was_admitted`, `not_kept`
 * and `device_ended`, which are amber: a person decides. `online` says whether the service decided, `echo` that it is
 * the same answer to the same code again. `sequence` is its number in the journal if the device decided.
 */
export class Shown {
  readonly colour: Colour;
  readonly word: string;
  readonly message: string;
  readonly verdict: string;
  readonly category: string | null;
  readonly tier: string | null;
  readonly first: First | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly online: boolean;
  readonly echo: boolean;
  readonly sequence: number | null;

  private constructor(colour: Colour, word: string, message: string, verdict: string, known: Known) {
    this.colour = colour;
    this.word = word;
    this.message = message;
    this.verdict = verdict;
    this.category = known.category ?? null;
    this.tier = known.tier ?? null;
    this.first = known.first ?? null;
    this.details = known.details ?? {};
    this.online = known.online ?? false;
    this.echo = known.echo ?? false;
    this.sequence = known.sequence ?? null;
  }

  static of(verdict: string, known: Known = {}): Shown {
    if (verdict === ACTIVATED) return new Shown("green", "ENTER", "Welcome.", verdict, known);
    const warning = sentence(WARNINGS, verdict);
    if (warning !== null) return new Shown("amber", ...warning, verdict, known);
    const refusal = sentence(REFUSALS, verdict) ?? ["STOP", "The service refuses this code."];
    return new Shown("red", ...refusal, verdict, known);
  }

  get admitted(): boolean {
    return this.colour === "green";
  }

  /** The same answer, to the same code again. */
  again(): Shown {
    return new Shown(this.colour, this.word, this.message, this.verdict, { ...this, echo: true });
  }
}

export const isWarning = (verdict: string): boolean => sentence(WARNINGS, verdict) !== null;

function sentence(of: Sentences, verdict: string): readonly [string, string] | null {
  return Object.hasOwn(of, verdict) ? (of[verdict] ?? null) : null;
}

/** From the details of `already_activated`. */
export function firstOf(details: Readonly<Record<string, unknown>>): First | null {
  if (!details["activated_at"]) return null;
  return { at: text(details["activated_at"]), gate: text(details["gate"]), scanner_id: text(details["scanner_id"]) };
}

const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
