/** Arguments of a call, in the form that a request needs. */

import type { JsonObject } from "./http/call.js";

/** A time with its zone: a `Date`, or a text such as `2026-05-01T18:00:00Z`. */
export type Time = Date | string;

/** Any text as one segment of a path. */
export function segment(value: string): string {
  // A URL has no segment that is empty, and drops these two.
  if (typeof value !== "string" || ["", ".", ".."].includes(value)) throw new TypeError("This is not an id.");
  return encodeURIComponent(value);
}

export function path(...parts: [root: string, ...ids: string[]]): string {
  const [root, ...ids] = parts;
  return [root, ...ids.map(segment)].join("/");
}

/** The fields that have a value, times as JSON has them. */
export function withoutNone(fields: object): JsonObject {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [name, plain(name, value)]),
  );
}

/** The fields that are to be changed: null clears one, and one that is left out stays as it is. */
export function changes(fields: object): JsonObject {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, plain(name, value)]),
  );
}

/** The parts of a query that have a value. */
export function query(fields: object): Record<string, string> {
  return Object.fromEntries(Object.entries(withoutNone(fields)).map(([name, value]) => [name, String(value)]));
}

/** The idempotency key of a call: made once, and sent with every try. */
export function newKey(given: string | null | undefined): string {
  return given || uuid();
}

/** The time in RFC 3339. A time without a zone is an error, because a gate's local time is ambiguous. */
export function formatTime(moment: Time): string {
  if (moment instanceof Date) return moment.toISOString();
  if (!/(Z|[+-]\d\d:\d\d)$/i.test(moment)) throw new TypeError("Give the time with its zone, such as new Date().");
  return moment;
}

// The fields of requests that are times.
const TIMES = /^(at|since|until|updated_after|valid_(from|until)|.+_at)$/;

function plain(name: string, value: unknown): unknown {
  return TIMES.test(name) && value !== null ? formatTime(value as Time) : value;
}

/** A random UUID. `crypto.randomUUID` is missing where a page has no TLS. */
function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
