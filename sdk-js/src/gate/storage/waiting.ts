/**
 * Which sequences wait for their upload, a byte each: counting them on the disk takes longer the more there are, and a
 * set of ten thousand numbers is a third of a gate's memory.
 */

import { isWaiting, type StoredScan } from "./scan.js";

export class Waiting {
  size = 0;
  readonly #first: number;
  #bytes = new Uint8Array(1024);

  /** `first` is the smallest sequence that is still kept. */
  private constructor(first: number) {
    this.#first = first;
  }

  static of(scans: Iterable<StoredScan>): Waiting {
    const all = [...scans].filter((scan) => scan.sequence !== null);
    const first = all.reduce((least, { sequence }) => Math.min(least, sequence ?? least), Number.MAX_SAFE_INTEGER);
    const waiting = new Waiting(all.length === 0 ? 1 : first);
    for (const scan of all) waiting.note(scan);
    return waiting;
  }

  note(scan: StoredScan): void {
    if (scan.sequence === null) return;
    const at = scan.sequence - this.#first;
    if (at < 0) return;
    if (at >= this.#bytes.length) this.#grow(at);
    const is_waiting = Number(isWaiting(scan));
    this.size += is_waiting - (this.#bytes[at] ?? 0);
    this.#bytes[at] = is_waiting;
  }

  #grow(at: number): void {
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, at + 1));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}
