/** The records of a manifest: 8 bytes a card, sorted, searched and merged in place. */

import type { Bytes } from "../bytes.js";

export const RECORD = 8;
export const HASH = 6;
const NO_TICKET = 255;
const USED = 1;
const SUSPENDED = 2;
const REVOKED = 4;
const CANCELLED = 8;
// In changes: the card is not in the manifest any more. No card is suspended and revoked at once.
const GONE_FLAGS = USED | SUSPENDED | REVOKED | CANCELLED;

/**
 * What the manifest knows of a card. `category` is the index in the header, null without a ticket in use. `phone` is
 * the number, 0 to 15, of the phone that makes its codes, and 0 if there is none.
 */
export interface CardRecord {
  category: number | null;
  used: boolean;
  suspended: boolean;
  revoked: boolean;
  cancelled: boolean;
  phone: number;
}

/** What is known of the card with this hash; null if nothing is. */
export function findRecord(records: Uint8Array, hash: Uint8Array): CardRecord | null {
  const at = placeOf(records, hash, 0);
  if (compare(records, at, hash, 0) !== 0) return null;
  const category = records[at + HASH] ?? NO_TICKET;
  const flags = records[at + HASH + 1] ?? 0;
  return {
    category: category === NO_TICKET ? null : category,
    used: (flags & USED) !== 0,
    suspended: (flags & SUSPENDED) !== 0,
    revoked: (flags & REVOKED) !== 0,
    cancelled: (flags & CANCELLED) !== 0,
    phone: flags >> 4,
  };
}

/** Ascending hashes, none twice: otherwise a search in place would miss what is there. */
export function isInOrder(records: Uint8Array): boolean {
  for (let at = RECORD; at < records.length; at += RECORD) {
    if (compare(records, at - RECORD, records, at) >= 0) return false;
  }
  return true;
}

/** Replace the records with the same hash, add those that are new, drop those that are gone. */
export function merged(records: Uint8Array, changed: Uint8Array): Bytes {
  const result = new Uint8Array(records.length + changed.length);
  let reached = 0;
  let size = 0;
  const take = (from: Uint8Array, start: number, end: number): void => {
    result.set(from.subarray(start, end), size);
    size += end - start;
  };
  for (let start = 0; start < changed.length; start += RECORD) {
    const at = placeOf(records, changed, start);
    take(records, reached, at);
    reached = compare(records, at, changed, start) === 0 ? at + RECORD : at;
    const isGone = changed[start + HASH] === NO_TICKET && changed[start + HASH + 1] === GONE_FLAGS;
    if (!isGone) take(changed, start, start + RECORD);
  }
  take(records, reached, records.length);
  // A copy: a view would keep the memory of both.
  return result.slice(0, size);
}

/** Where the record with the hash that begins at `start` of `hash` begins, or would begin. */
function placeOf(records: Uint8Array, hash: Uint8Array, start: number): number {
  let low = 0;
  let high = records.length / RECORD;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(records, middle * RECORD, hash, start) < 0) low = middle + 1;
    else high = middle;
  }
  return low * RECORD;
}

/** The order of two hashes. Behind the last record there is none, which is after all. */
function compare(one: Uint8Array, at: number, other: Uint8Array, start: number): number {
  for (let n = 0; n < HASH; n++) {
    const difference = (one[at + n] ?? 256) - (other[start + n] ?? 256);
    if (difference !== 0) return difference;
  }
  return 0;
}
