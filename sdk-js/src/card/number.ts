/** The card of a scan, read without a network: a card number and a token of it are the same card. */

import { decoded } from "./base64url.js";
import { numberShown, PREFIX } from "./phone_code.js";

// The service accepts any case, spaces and dashes in a typed number, and the digits and letters of other keyboards.
const TYPED = /^([A-Z]{2,6})([0-9]{4})([0-9]{4})([0-9]{4})$/;
const SEPARATORS = /[ \t\u00a0\u00ad\u1680\u2000-\u2015\u202f\u205f\u2060\u2212\u3000\ufe58\ufe63\ufeff\uff0d-]/g;
const WIDE = /[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]/g;
export const SANDBOX_TOKEN = /^SVC1\.([A-Z_]{1,32})\.0\.0$/;
const PRINTABLE_ASCII = /^[\x20-\x7e]+$/;
export const UNREADABLE = "unreadable token";

/** The number of the card. The token is not verified here; the service does that. */
export function cardShown(card_number: string | null, token: string | null): string {
  return token !== null ? numberIn(token) : asStored(card_number ?? "");
}

/** `svc-1234-5678-9012` is the card `SVC 1234 5678 9012`. Any other text stays as it is. */
export function asStored(typed: string): string {
  const bare = typed.trim().replace(SEPARATORS, "").replace(WIDE, plain);
  // Upper case of other letters can be ASCII: ſ is S.
  const found = PRINTABLE_ASCII.test(bare) ? TYPED.exec(bare.toUpperCase()) : null;
  return found === null ? typed : found.slice(1).join(" ");
}

function plain(wide: string): string {
  const code = wide.charCodeAt(0);
  return String.fromCharCode(code >= 0xff00 ? code - 0xfee0 : 0x30 + (code & 0x0f));
}

/** The card number in the second part of a token or a phone's code. */
export function numberIn(token: string): string {
  if (token.startsWith(PREFIX)) return numberShown(token) ?? UNREADABLE;
  const sandbox = SANDBOX_TOKEN.exec(token);
  if (sandbox?.[1] !== undefined) return sandbox[1];
  const number = asciiIn(token.split(".")[1] ?? "");
  return number !== null && PRINTABLE_ASCII.test(number) ? asStored(number) : UNREADABLE;
}

/** The ASCII text in this base64url; null if it is none. */
export function asciiIn(text: string): string | null {
  try {
    const raw = decoded(text);
    return raw.every((byte) => byte < 0x80) ? String.fromCharCode(...raw) : null;
  } catch {
    return null;
  }
}
