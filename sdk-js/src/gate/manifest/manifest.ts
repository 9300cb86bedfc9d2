/**
 * The manifest of an event: every card that has a ticket, 8 bytes each, searched in place. No network is needed.
 *
 * `SVCM`, the length of the header (4 bytes, big-endian), the header (JSON), the organization's signature (64 bytes),
 * then the records, sorted: 6 bytes of HMAC-SHA-256(salt, card number), 1 byte with the category, 1 with the flags. A
 * manifest names nobody, but a card number can be tried out against it: keep it encrypted, and delete it when it has
 * expired.
 */

import { verify } from "../../card/ed25519.js";
import { isObject, Unreadable } from "../../http/call.js";
import { type Bytes, joined, own, sha256Hex, utf8 } from "../bytes.js";
import { momentOf } from "../moment.js";
import { type Header, readHeader } from "./header.js";
import { type CardRecord, findRecord, HASH, isInOrder, merged, RECORD } from "./records.js";

const MAGIC = "SVCM";
const START = MAGIC.length + 4;
const CONTEXT = "svc-manifest-1\0";
const SIGNATURE = 64;
// A header has 50 categories of 50 gates at most. More is no header of ours.
const LONGEST_HEADER = 1_000_000;

/** Bytes that must not be used. `reason` says why, in one word. */
export class InvalidManifest extends Error {
  override name = "InvalidManifest";
  readonly reason: string;

  constructor(reason: string) {
    super(`The manifest cannot be used: ${reason}.`);
    this.reason = reason;
  }
}

/** A manifest that was verified. It is not changed: `apply` makes another one. */
export class Manifest {
  readonly header: Header;
  readonly records: Bytes;
  #salt: Promise<CryptoKey> | undefined;

  private constructor(header: Header, records: Bytes) {
    this.header = header;
    this.records = records;
  }

  /** Verify a whole manifest by the organization's public keys, as `GET /card/keys` has them. */
  static async read(body: Uint8Array, keys: Iterable<Uint8Array>, event_id: string | null = null): Promise<Manifest> {
    const { header, records } = await verified(body, keys, "manifest");
    if (event_id !== null && header.event.id !== event_id) throw new InvalidManifest("wrong_event");
    // The digest that was just compared is of the same records.
    if (header.digest !== header.state) throw new InvalidManifest("wrong_state");
    return new Manifest(header, records);
  }

  /** What is known of this card; null if the event does not know it. */
  async find(card_number: string): Promise<CardRecord | null> {
    return findRecord(this.records, await this.hash(card_number));
  }

  async hash(card_number: string): Promise<Bytes> {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    this.#salt ??= crypto.subtle.importKey("raw", this.header.salt, algorithm, false, ["sign"]);
    const mac = await crypto.subtle.sign("HMAC", await this.#salt, utf8(card_number));
    return new Uint8Array(mac, 0, HASH);
  }

  isExpired(at: number): boolean {
    return at >= momentOf(this.header.expires_at);
  }

  /** The manifest after these changes, verified. If it throws InvalidManifest, fetch the whole manifest. */
  async apply(body: Uint8Array, keys: Iterable<Uint8Array>): Promise<Manifest> {
    const { header, records: changed } = await verified(body, keys, "changes");
    if (header.event.id !== this.header.event.id) throw new InvalidManifest("wrong_event");
    if (header.salt.some((byte, n) => byte !== this.header.salt[n])) throw new InvalidManifest("wrong_salt");
    const records = merged(this.records, changed);
    if ((await sha256Hex(records)) !== header.state) throw new InvalidManifest("wrong_state");
    return new Manifest(header, records);
  }

  /** How many cards it knows. */
  get size(): number {
    return this.records.length / RECORD;
  }
}

/** Whether this says that it is a whole manifest, and not changes. It is not verified. */
export function isWhole(body: Uint8Array): boolean {
  try {
    const header: unknown = parsed(body.subarray(START, START + Math.min(headerLength(body), LONGEST_HEADER)));
    return !isObject(header) || header["kind"] !== "changes";
  } catch {
    return true;
  }
}

/** The header and the records, if one of these keys signed them. */
async function verified(
  body: Uint8Array,
  keys: Iterable<Uint8Array>,
  kind: string,
): Promise<{ header: Header; records: Bytes }> {
  const length = body.length < START || !isMagic(body) ? Number.POSITIVE_INFINITY : headerLength(body);
  const end = START + length;
  if (length > LONGEST_HEADER || body.length < end + SIGNATURE || (body.length - end - SIGNATURE) % RECORD !== 0) {
    throw new InvalidManifest("malformed");
  }
  const raw = body.subarray(START, end);
  if (!(await isSigned(raw, body.subarray(end, end + SIGNATURE), keys))) throw new InvalidManifest("bad_signature");
  const header = headerOf(raw);
  if (header.kind !== kind) throw new InvalidManifest("wrong_kind");
  const records = own(body.subarray(end + SIGNATURE));
  if (header.count * RECORD !== records.length || (await sha256Hex(records)) !== header.digest) {
    throw new InvalidManifest("wrong_digest");
  }
  if (!isInOrder(records)) throw new InvalidManifest("wrong_order");
  return { header, records };
}

function isMagic(body: Uint8Array): boolean {
  return String.fromCharCode(...body.subarray(0, MAGIC.length)) === MAGIC;
}

function headerLength(body: Uint8Array): number {
  return new DataView(body.buffer, body.byteOffset).getUint32(MAGIC.length);
}

async function isSigned(raw: Uint8Array, signature: Uint8Array, keys: Iterable<Uint8Array>): Promise<boolean> {
  const signed = joined(utf8(CONTEXT), raw);
  for (const key of keys) if (await verify(own(key), signed, own(signature))) return true;
  return false;
}

function headerOf(raw: Uint8Array): Header {
  let value: unknown;
  try {
    value = parsed(raw);
  } catch {
    throw new InvalidManifest("malformed");
  }
  if (!isObject(value)) throw new InvalidManifest("malformed");
  if (value["v"] !== 1) throw new InvalidManifest("wrong_version");
  try {
    return readHeader(value);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw new InvalidManifest("malformed");
  }
}

function parsed(raw: Uint8Array): unknown {
  return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw));
}
