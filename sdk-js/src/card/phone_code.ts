/**
 * Codes that a phone makes itself: `SVC2.<certificate>.<Unix seconds>.<the phone's signature>`.
 *
 * The organization signs the certificate, which binds the phone's key to a card; the phone signs the code. A gate needs
 * the organization's public keys alone. There is one spelling of each part, as the service has it.
 */

import type { Bytes } from "./base64url.js";
import { isPublicKey, verify } from "./ed25519.js";

export const PREFIX = "SVC2.";
/** Seconds, either way. */
export const TOLERANCE = 60;
const CONTEXT = "svc2-certificate\0";
const PATTERN = /^(SVC2\.([A-Z2-7]{184,191})\.([1-9][0-9]{9}))\.([A-Z2-7]{103})$/;
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const NUMBER = /^([A-Z]{2,6})([0-9]{4})([0-9]{4})([0-9]{4})$/;

export interface PhoneCode {
  card_number: string;
  /** The number, 0 to 15, of the phone. */
  phone: number;
  /** Unix seconds, as is the next. */
  made_at: number;
  expires_at: number;
}

export function isExpired(code: PhoneCode, moment: number): boolean {
  return Math.abs(code.made_at - moment) > TOLERANCE || code.expires_at <= moment;
}

/** The code, if its phone signed it and one of these keys signed the phone's certificate. */
export async function readPhoneCode(text: string, keys: Iterable<Bytes>): Promise<PhoneCode | null> {
  const found = PATTERN.exec(text);
  if (found === null) return null;
  const [, signed = "", certificate = "", made_at, signature = ""] = found;
  const raw = decoded(certificate);
  const phone_signature = decoded(signature);
  if (raw === null || phone_signature === null) return null;
  const body = raw.subarray(0, -64);
  const number = numberOf(body);
  const [phone = 16, key] = [body.at(-33), body.subarray(-32)];
  if (number === null || phone >= 16) return null;
  if (!(await isSignedByOne(keys, joined(CONTEXT, body), raw.subarray(-64)))) return null;
  if (!isPublicKey(key) || !(await verify(key, new TextEncoder().encode(signed), phone_signature))) return null;
  const expires_at = new DataView(body.buffer, body.byteOffset + body.length - 37).getUint32(0);
  return { card_number: number, phone, made_at: Number(made_at), expires_at };
}

/** The card number in a code, by its form alone: nothing is verified. */
export function numberShown(text: string): string | null {
  const found = PATTERN.exec(text);
  const raw = found && decoded(found[2] ?? "");
  return raw && numberOf(raw.subarray(0, -64));
}

/** Whether one of these keys signed this message. */
export async function isSignedByOne(keys: Iterable<Bytes>, message: Bytes, signature: Bytes): Promise<boolean> {
  for (const key of keys) if (await verify(key, message, signature)) return true;
  return false;
}

function numberOf(body: Uint8Array): string | null {
  const found = NUMBER.exec(String.fromCharCode(...body.subarray(0, -37)));
  return found && found.slice(1).join(" ");
}

function joined(context: string, body: Uint8Array): Bytes {
  const whole = new Uint8Array(context.length + body.length);
  whole.set(new TextEncoder().encode(context));
  whole.set(body, context.length);
  return whole;
}

/** Base32 in its one spelling: no character is to spare, and the spare bits of the last one are zero. */
function decoded(text: string): Bytes | null {
  const raw = new Uint8Array((5 * text.length) >> 3);
  let [bits, count, at] = [0, 0, 0];
  for (const letter of text) {
    bits = ((bits & 0xff) << 5) | DIGITS.indexOf(letter);
    count += 5;
    if (count >= 8) {
      count -= 8;
      raw[at++] = bits >> count;
    }
  }
  return count >= 5 || bits & ((1 << count) - 1) ? null : raw;
}
