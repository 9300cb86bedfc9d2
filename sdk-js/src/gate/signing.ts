/** The Ed25519 key of a device: it signs the fetching of the API key, and each entry of the journal. */

import { encoded } from "../card/base64url.js";
import { type Bytes, joined, sha256, utf8 } from "./bytes.js";
import { formatMoment } from "./moment.js";
import { WORDS } from "./pairing/words.js";

export class DeviceKey {
  readonly public_key: Bytes;
  readonly #key: CryptoKey;

  constructor(keys: { sign: CryptoKey; public_key: Bytes }) {
    this.#key = keys.sign;
    this.public_key = keys.public_key;
  }

  async signature(...parts: string[]): Promise<string> {
    const signed = await crypto.subtle.sign("Ed25519", this.#key, utf8(parts.join("\n")));
    return encoded(new Uint8Array(signed));
  }

  signFetch(request: string, at: number): Promise<string> {
    return this.signature("svc-pair-1", request, formatMoment(at));
  }
}

/** What both screens show. The device computes them itself: an answer that somebody changed shows others. */
export async function twoWords(code: string, public_key: Bytes, request: string): Promise<[string, string]> {
  const zero = new Uint8Array(1);
  const parts = [utf8("svc-words-1"), zero, utf8(code), zero, public_key, zero, utf8(request)];
  const [first = 0, second = 0] = await sha256(joined(...parts));
  return [WORDS[first] ?? "", WORDS[second] ?? ""];
}
