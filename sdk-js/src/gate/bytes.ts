/** Bytes, texts and digests. WebCrypto has them all, but for a shorter way to say it. */

import type { Bytes } from "../card/base64url.js";

export type { Bytes };

const ENCODER = new TextEncoder();

export const utf8 = (text: string): Bytes => ENCODER.encode(text) as Bytes;

/** WebCrypto takes no shared memory, and nothing here is shared. */
export const own = (bytes: Uint8Array): Bytes => bytes as Bytes;

export function joined(...parts: Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export async function sha256(bytes: Uint8Array): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", own(bytes)));
}

export async function sha256Hex(bytes: Uint8Array): Promise<string> {
  return hex(await sha256(bytes));
}

export function hex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}
