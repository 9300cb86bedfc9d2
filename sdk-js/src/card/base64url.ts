/** Base64url without padding, in its canonical form only. */

import { Unreadable } from "../http/call.js";

/** Bytes that WebCrypto takes. */
export type Bytes = Uint8Array<ArrayBuffer>;

export function encoded(raw: Uint8Array): string {
  return btoa(String.fromCharCode(...raw)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** Strict: the result must encode to the same text again. */
export function decoded(text: string): Bytes {
  let raw: Bytes | undefined;
  try {
    raw = Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
  } catch {
    // It is no base64 at all.
  }
  if (raw === undefined || encoded(raw) !== text) throw new Unreadable("base64url was expected");
  return raw;
}
