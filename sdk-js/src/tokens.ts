/**
 * Card tokens without a network: `SVC1.<card number>.<expiry>.<signature>`, and codes of phones, `SVC2.…`.
 *
 *     const keys = await client.cards.keys();      // while there is a network; keys.toJson() keeps them
 *     const reading = await keys.verify(token);    // whenever
 *
 * A good signature proves that the organization issued the card, and until when the token is valid. It does not show that
 * the card was suspended or revoked since, or that its ticket is used: only a scan does. A phone's code is good for 60
 * seconds. That the card has moved to another phone since shows only when the phone's certificate ends, within 7 days.
 */

import { formatTime, type Time } from "./arguments.js";
import { type Bytes, decoded, encoded } from "./card/base64url.js";
import { asciiIn, SANDBOX_TOKEN } from "./card/number.js";
import { isExpired, isSignedByOne, type PhoneCode, PREFIX, readPhoneCode, TOLERANCE } from "./card/phone_code.js";
import { list } from "./decode.js";
import { isObject, Unreadable } from "./http/call.js";

const LONGEST = 512;
const PATTERN = /^(SVC1\.([A-Za-z0-9_-]{1,64})\.(0|[1-9][0-9]{0,11}))\.([A-Za-z0-9_-]{86})$/;
// A token may have an expiry that RFC 3339 cannot represent.
const LAST_SECOND = Date.UTC(9999, 11, 31) / 1000;
const SANDBOX_TOKENS: ReadonlyMap<string, TokenReading["reason"]> = new Map([
  ["TEST_VALID", null],
  ["TEST_VIP", null],
  ["TEST_USED", null],
  ["TEST_EXPIRED", "expired"],
  ["TEST_REVOKED", "card_revoked"],
  ["TEST_SUSPENDED", "card_suspended"],
  ["TEST_NO_TICKET", null],
  ["TEST_CANCELLED", null],
]);

export interface TokenReading {
  valid: boolean;
  expired: boolean;
  card_number: string | null;
  expires_at: string | null;
  /** Null if the token is valid. The last two are of test cards of the sandbox. */
  reason: "invalid_token" | "expired" | "card_revoked" | "card_suspended" | null;
  /** The number, 0 to 15, of the phone that made a code; null for a token. */
  phone: number | null;
}

const INVALID: TokenReading = {
  valid: false,
  expired: false,
  card_number: null,
  expires_at: null,
  reason: "invalid_token",
  phone: null,
};

/** Public keys of one organization. They are no secret, and cannot make a token. */
export class CardKeys {
  readonly keys: readonly Bytes[];
  readonly is_sandbox: boolean;

  constructor(keys: readonly Bytes[], options: { is_sandbox?: boolean } = {}) {
    this.keys = keys;
    this.is_sandbox = options.is_sandbox ?? false;
  }

  /** From a JWK set. Keys of another kind are ignored. */
  static of(jwks: unknown, options: { is_sandbox?: boolean } = {}): CardKeys {
    if (!isObject(jwks)) throw new Unreadable("a set of keys was expected");
    const named = list((key) => key)(jwks["keys"]).filter(isObject);
    const keys = named.filter((key) => key["crv"] === "Ed25519").map((key) => decoded(String(key["x"])));
    return new CardKeys(keys, options);
  }

  /** From the output of `toJson`. */
  static fromJson(text: string): CardKeys {
    const value: unknown = JSON.parse(text);
    return CardKeys.of(value, { is_sandbox: isObject(value) && value["sandbox"] === true });
  }

  /** As JSON, to be stored at the gate for a start without a network. */
  toJson(): string {
    const about = { kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig" };
    return JSON.stringify({ keys: this.keys.map((key) => ({ ...about, x: encoded(key) })), sandbox: this.is_sandbox });
  }

  /** Verify the token for this time, or for now. */
  async verify(token: string, options: { at?: Time | null | undefined } = {}): Promise<TokenReading> {
    const at = secondsOf(options.at ?? new Date());
    const test_card = this.is_sandbox ? SANDBOX_TOKEN.exec(token)?.[1] : undefined;
    if (test_card !== undefined) return testCard(test_card);
    if (token.startsWith(PREFIX)) return phoneReading(await readPhoneCode(token, this.keys), at);
    const found = token.length <= LONGEST ? PATTERN.exec(token) : null;
    if (found === null) return INVALID;
    const [, signed = "", card = "", expiry, signature = ""] = found;
    const card_number = asciiIn(card);
    const raw_signature = signatureIn(signature);
    if (card_number === null || raw_signature === null) return INVALID;
    if (!(await isSignedByOne(this.keys, new TextEncoder().encode(signed), raw_signature))) return INVALID;
    return reading(card_number, Math.min(Number(expiry), LAST_SECOND), at, null);
  }
}

function phoneReading(code: PhoneCode | null, at: number): TokenReading {
  if (code === null) return INVALID;
  const expires_at = Math.min(code.made_at + TOLERANCE, code.expires_at);
  const found = reading(code.card_number, expires_at, at, code.phone);
  return isExpired(code, at) ? { ...found, ...EXPIRED } : { ...found, valid: true, expired: false, reason: null };
}

const EXPIRED = { valid: false, expired: true, reason: "expired" } as const;

function reading(card_number: string, expires_at: number, at: number, phone: number | null): TokenReading {
  const found = { valid: true, expired: false, card_number, expires_at: textOf(expires_at), reason: null, phone };
  return expires_at <= at ? { ...found, ...EXPIRED } : found;
}

/** The fixed tokens of the sandbox, `SVC1.TEST_VALID.0.0`, which are not signed. */
function testCard(card_number: string): TokenReading {
  const reason = SANDBOX_TOKENS.get(card_number);
  if (reason === undefined) return INVALID;
  return { ...INVALID, valid: reason === null, expired: reason === "expired", card_number, reason };
}

function signatureIn(text: string): Bytes | null {
  try {
    return decoded(text);
  } catch {
    return null;
  }
}

function textOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}

function secondsOf(moment: Time): number {
  const seconds = Date.parse(formatTime(moment)) / 1000;
  if (Number.isNaN(seconds)) throw new TypeError("This is not a time.");
  return seconds;
}
