/** An event that a test makes: its manifest and its tokens, signed by a key of its own. */

import { encoded } from "../../../src/card/base64url.js";
import { joined, sha256Hex, utf8 } from "../../../src/gate/bytes.js";
import { Manifest } from "../../../src/gate/manifest/manifest.js";

const SALT = new Uint8Array(32).fill(7);
const EVENT_ID = "01a1dcb8-4b3a-708e-93f5-8fda83e65220";

export interface Fields {
  event?: object;
  categories?: object[];
  /** The category and the flags of each card. */
  cards?: Record<string, [category: number, flags: number]>;
}

export class TestEvent {
  readonly #key: CryptoKeyPair;
  readonly public_key: Uint8Array<ArrayBuffer>;

  private constructor(key: CryptoKeyPair, public_key: Uint8Array<ArrayBuffer>) {
    this.#key = key;
    this.public_key = public_key;
  }

  static async create(): Promise<TestEvent> {
    const key = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
    return new TestEvent(key, new Uint8Array(await crypto.subtle.exportKey("raw", key.publicKey)));
  }

  async manifest({ event = {}, categories = [{}], cards = {} }: Fields): Promise<Manifest> {
    const records = await recordsOf(cards);
    const digest = await sha256Hex(records);
    const header = JSON.stringify({
      v: 1,
      kind: "manifest",
      event: { ...EVENT, ...event },
      salt: encoded(SALT),
      categories: categories.map((category, index) => ({ ...CATEGORY, index, ...category })),
      card_keys: [{ kid: "1", public_key: encoded(this.public_key) }],
      kid: "1",
      issued_at: "2030-06-15T19:00:00Z",
      expires_at: "2030-06-16T03:00:00Z",
      count: records.length / 8,
      digest,
      state: digest,
      cursor: "1",
    });
    const raw = utf8(header);
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, raw.length);
    const signature = await this.#signed(joined(utf8("svc-manifest-1\0"), raw));
    return Manifest.read(joined(utf8("SVCM"), length, raw, signature, records), [this.public_key], EVENT_ID);
  }

  async token(number: string, expires_at: string): Promise<string> {
    const signed = `SVC1.${encoded(utf8(number))}.${Date.parse(expires_at) / 1000}`;
    return `${signed}.${encoded(await this.#signed(utf8(signed)))}`;
  }

  async #signed(message: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
    return new Uint8Array(await crypto.subtle.sign("Ed25519", this.#key.privateKey, message));
  }
}

const EVENT = {
  id: EVENT_ID,
  title: "Night",
  starts_at: "2030-06-15T18:00:00Z",
  ends_at: "2030-06-15T21:00:00Z",
  status: "published",
  doors_open_at: null,
  codes: "any",
  offline: "manifest",
};
const CATEGORY = { name: "General", tier: "vip", valid_from: null, valid_until: null, gates: null };

async function recordsOf(cards: Record<string, [number, number]>): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey("raw", SALT, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const records = await Promise.all(
    Object.entries(cards).map(async ([number, [category, flags]]) => {
      const hash = Buffer.from(await crypto.subtle.sign("HMAC", key, utf8(number))).subarray(0, 6);
      return Buffer.from([...hash, category, flags]);
    }),
  );
  return new Uint8Array(Buffer.concat(records.sort(Buffer.compare)));
}
