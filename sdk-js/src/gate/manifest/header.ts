/** The header of a manifest: what it says of its event. */

import { decoded } from "../../card/base64url.js";
import { isObject, type JsonObject, Unreadable } from "../../http/call.js";
import type { Bytes } from "../bytes.js";
import { own } from "../bytes.js";
import { readMoment } from "../moment.js";

/** `offline` says whom a device without a network admits: `manifest`, `signature` or `stop`. */
export interface ManifestEvent {
  readonly id: string;
  readonly title: string;
  readonly starts_at: string;
  readonly ends_at: string;
  readonly status: string;
  readonly doors_open_at: string | null;
  readonly codes: string;
  readonly offline: string;
}

/** Records name it by `index`. Without `gates` its tickets open all of them. */
export interface ManifestCategory {
  readonly index: number;
  readonly name: string;
  readonly tier: string;
  readonly valid_from: string | null;
  readonly valid_until: string | null;
  readonly gates: readonly string[] | null;
}

/** `card_keys` verify the codes of cards. `state` is the digest of all records, `cursor` what to ask with next. */
export interface Header {
  readonly kind: string;
  readonly event: ManifestEvent;
  readonly salt: Bytes;
  readonly categories: readonly ManifestCategory[];
  readonly card_keys: readonly Bytes[];
  readonly issued_at: string;
  readonly expires_at: string;
  readonly count: number;
  readonly digest: string;
  readonly state: string;
  readonly cursor: string;
}

/** The header, or `Unreadable`. Fields that a later version adds are left out. */
export function readHeader(value: JsonObject): Header {
  text(value, "kid");
  return {
    kind: text(value, "kind"),
    event: readEvent(value["event"]),
    salt: bytesOf32(text(value, "salt")),
    categories: list(value["categories"]).map(readCategory),
    card_keys: list(value["card_keys"]).map(readKey),
    issued_at: moment(value, "issued_at"),
    expires_at: moment(value, "expires_at"),
    count: whole(value, "count"),
    digest: text(value, "digest"),
    state: text(value, "state"),
    cursor: text(value, "cursor"),
  };
}

function readEvent(value: unknown): ManifestEvent {
  const event = object(value);
  return {
    id: text(event, "id"),
    title: text(event, "title"),
    starts_at: moment(event, "starts_at"),
    ends_at: moment(event, "ends_at"),
    status: text(event, "status"),
    doors_open_at: orNull(event, "doors_open_at", moment),
    codes: text(event, "codes"),
    offline: text(event, "offline"),
  };
}

function readCategory(value: unknown, place: number): ManifestCategory {
  const category = object(value);
  if (whole(category, "index") !== place) throw new Unreadable("categories in the order of their index were expected");
  return {
    index: place,
    name: text(category, "name"),
    tier: text(category, "tier"),
    valid_from: orNull(category, "valid_from", moment),
    valid_until: orNull(category, "valid_until", moment),
    gates: orNull(category, "gates", texts),
  };
}

function readKey(value: unknown): Bytes {
  const key = object(value);
  text(key, "kid");
  return bytesOf32(text(key, "public_key"));
}

function bytesOf32(encoded: string): Bytes {
  const raw = decoded(encoded);
  if (raw.length !== 32) throw new Unreadable("32 bytes were expected");
  return own(raw);
}

function object(value: unknown): JsonObject {
  if (!isObject(value)) throw new Unreadable("an object was expected");
  return value;
}

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Unreadable("a list was expected");
  return value;
}

function text(of: JsonObject, name: string): string {
  const value = of[name];
  if (typeof value !== "string") throw new Unreadable(`${name} should be a text`);
  return value;
}

function whole(of: JsonObject, name: string): number {
  const value = of[name];
  if (!Number.isInteger(value)) throw new Unreadable(`${name} should be a number`);
  return value as number;
}

function moment(of: JsonObject, name: string): string {
  const value = text(of, name);
  if (readMoment(value) === null) throw new Unreadable(`${name} should be a time with an offset`);
  return value;
}

function texts(of: JsonObject, name: string): string[] {
  const values = list(of[name]);
  if (!values.every((value) => typeof value === "string")) throw new Unreadable(`${name} should be texts`);
  return values;
}

/** A field that may be null, but may not be missing. */
function orNull<T>(of: JsonObject, name: string, read: (of: JsonObject, name: string) => T): T | null {
  return of[name] === null ? null : read(of, name);
}
