/**
 * The journal of a gate: each scan is written before it is sent, and each decision before it is shown.
 *
 * So a tab that dies at any moment leaves every admission that was shown on the disk. Entries that the device decided
 * have a sequence without gaps, and are uploaded once the service can be reached.
 */

import type { Code } from "../decision/code.js";
import { formatMoment, momentOf } from "../moment.js";
import type { DeviceKey } from "../signing.js";
import type { Sealer } from "./encryption.js";
import { draftOf, type Entry, openedEntry, type ScanPlace, signed } from "./entry.js";
import type { Place } from "./place.js";
import type { Places, Write } from "./places.js";
import { isOpen, isRejected, isWaiting, type StoredScan } from "./scan.js";

/** An entry that the service did not take, and why. */
export interface Rejected {
  sequence: number;
  code: string;
  occurred_at: string;
}

/** The service's answer to one entry of an upload. */
export interface EntryResult {
  sequence?: unknown;
  outcome?: unknown;
  code?: unknown;
  incidents?: unknown;
}

// The number of an entry was used before: a place of this gate lost it with the entries after it.
const SEQUENCE_REUSED = "sequence_reused";

export class Journal {
  readonly #places: Places;
  readonly #sealer: Sealer;
  // Decided by this tab, and shown since: the next write says so.
  readonly #shown = new Map<string, StoredScan>();

  constructor(places: Places, sealer: Sealer) {
    this.#places = places;
    this.#sealer = sealer;
  }

  /** A scan that is not written yet. */
  draft(code: Code, card: string, place: ScanPlace, at: number): Promise<Entry> {
    return draftOf(code, card, place, at, this.#sealer);
  }

  /** Write a scan before it is sent. */
  async begin(code: Code, card: string, place: ScanPlace, at: number): Promise<Entry> {
    const draft = await this.draft(code, card, place, at);
    return this.#places.turn(async () => {
      const scan = { ...draft.scan, n: this.#places.state.last_n + 1, was_sent: true };
      await this.#write({ scans: [scan], last_n: scan.n });
      return { scan, code };
    });
  }

  /** The scans of this card, oldest first. */
  async of(card: string): Promise<StoredScan[]> {
    const found = await this.#places.read((place) => place.scansBy("card", IDBKeyRange.only(card)));
    return found.sort((one, other) => one.n - other.n);
  }

  entry(scan: StoredScan): Promise<Entry> {
    return openedEntry(scan, this.#sealer);
  }

  /** From now on the service may have activated the ticket, whatever becomes of the answer. */
  async sending(entry: Entry): Promise<void> {
    if (!entry.scan.was_sent) await this.#changeAll([entry], (scan) => ({ ...scan, was_sent: true }));
  }

  /** False if the tab died after it was written: nobody knows whether the screen showed it. */
  wasShown(scan: StoredScan): boolean {
    return scan.was_seen || this.#shown.has(scan.idempotency_key);
  }

  async showing(scan: StoredScan): Promise<void> {
    await this.#places.turn(async () => this.#show(await this.#now(scan)));
  }

  /** The service decided. An entry that has a sequence already is uploaded all the same: there is no gap. */
  async answered(entry: Entry, verdict: string, { let_in, at }: { let_in: boolean; at: number }): Promise<void> {
    await this.#places.turn(async () => {
      const scan = await this.#now(entry.scan);
      const ended = scan.sequence === null ? { settled_at: formatMoment(at), shown: null } : {};
      const answered: StoredScan = { ...scan, verdict, let_in, ...ended };
      await this.#write({ scans: [answered] });
      this.#show(answered);
    });
  }

  /**
   * The device decided: write it, signed, in one transaction. Returns its sequence; null if the entry was uploaded
   * meanwhile, and must not be changed any more.
   */
  async decided(
    entry: Entry,
    verdict: string,
    by: { admitted: boolean; key: DeviceKey; device_id: string },
  ): Promise<number | null> {
    return this.#places.turn(async () => {
      const isDraft = entry.scan.n === 0;
      const scan = isDraft ? { ...entry.scan, n: this.#places.state.last_n + 1 } : await this.#now(entry.scan);
      if (scan.uploaded_at !== null || scan.settled_at !== null || scan.let_in) return null;
      const sequence = scan.sequence ?? this.#places.state.last_sequence + 1;
      const signature = await signed(entry, by.key, by.device_id, sequence, by.admitted);
      const { admitted } = by;
      const decided: StoredScan = { ...scan, verdict, let_in: admitted, admitted, sequence, signature };
      const last_n = Math.max(this.#places.state.last_n, scan.n);
      const last_sequence = Math.max(this.#places.state.last_sequence, sequence);
      await this.#write({ scans: [decided], last_n, last_sequence });
      this.#show(decided);
      return sequence;
    });
  }

  /** Scans without a decision whose guest did not come back. */
  async abandoned(before: number): Promise<Entry[]> {
    const found = await this.#places.read((place) => place.scansBy("open"));
    const old = found.filter((scan) => isOpen(scan) && momentOf(scan.occurred_at) < before);
    return Promise.all(old.map((scan) => this.entry(scan)));
  }

  /** Entries to be uploaded, in the order of their sequence. */
  async waiting(limit: number, after = 0): Promise<Entry[]> {
    const range = IDBKeyRange.lowerBound(after, true);
    const found = await this.#places.read((place) => place.scansBy("waiting", range, limit));
    return Promise.all(found.filter(isWaiting).map((scan) => this.entry(scan)));
  }

  /** Before they are sent: what the service may have seen is never changed again. */
  async uploading(entries: readonly Entry[], at: number): Promise<void> {
    const uploaded_at = formatMoment(at);
    await this.#changeAll(entries, (scan) => ({ ...scan, uploaded_at: scan.uploaded_at ?? uploaded_at }));
  }

  /** Store the results, and delete the codes of what the service has taken. */
  async acknowledged(
    entries: readonly Entry[],
    results: readonly EntryResult[],
    by: { at: number; key: DeviceKey; device_id: string },
  ): Promise<void> {
    const settled_at = formatMoment(by.at);
    const found = new Map(results.map((result) => [result.sequence, result]));
    const renumbered: Entry[] = [];
    await this.#changeAll(entries, (scan) => {
      const result = found.get(scan.sequence);
      if (result === undefined || scan.settled_at !== null) return scan;
      const [outcome, code] = [String(result.outcome), typeof result.code === "string" ? result.code : null];
      if (outcome === "activated" || outcome === "recorded") {
        const incidents = Array.isArray(result.incidents) ? result.incidents.length : 0;
        return { ...scan, settled_at, outcome, code, incidents, shown: null };
      }
      if (outcome === "rejected" && code === SEQUENCE_REUSED) renumbered.push(...entries.filter(isOf(scan)));
      return outcome === "rejected" ? { ...scan, outcome, code } : scan;
    });
    for (const entry of renumbered) await this.#renumber(entry, by);
  }

  async rejected(): Promise<Rejected[]> {
    const found = await this.#places.read((place) => place.scansBy("rejected"));
    return found
      .filter(isRejected)
      .map(({ sequence, code, occurred_at }) => ({ sequence: sequence ?? 0, code: code ?? "", occurred_at }));
  }

  async tryRejectedAgain(): Promise<void> {
    await this.#places.turn(async () => {
      const found = await this.#places.read((place) => place.scansBy("rejected"));
      const scans = found.map((scan) => ({ ...scan, outcome: null, code: null }));
      if (scans.length > 0) await this.#write({ scans });
    });
  }

  /** Delete what the service has had for long. */
  async forget(before: number): Promise<void> {
    await this.#places.turn(async () => {
      const old = IDBKeyRange.upperBound(formatMoment(before), true);
      const forgotten = await this.#places.read((place: Place) => place.keysBy("settled_at", old));
      if (forgotten.length > 0 || this.#shown.size > 0) await this.#write({ forgotten });
    });
  }

  countWaiting(): number {
    return this.#places.waiting;
  }

  get last_sequence(): number {
    return this.#places.state.last_sequence;
  }

  async #changeAll(entries: readonly Entry[], change: (now: StoredScan) => StoredScan): Promise<void> {
    await this.#places.turn(async () => {
      const keys = entries.map((entry) => entry.scan.idempotency_key);
      const now = await this.#places.read((place) => place.scans(keys));
      await this.#write({ scans: now.map(change) });
    });
  }

  /** It was rejected for its number alone: it gets the next one, and is signed anew. */
  async #renumber(entry: Entry, by: { key: DeviceKey; device_id: string }): Promise<void> {
    await this.#places.turn(async () => {
      const scan = await this.#now(entry.scan);
      const sequence = this.#places.state.last_sequence + 1;
      const signature = await signed(entry, by.key, by.device_id, sequence, scan.admitted ?? false);
      const anew = { ...scan, sequence, signature, outcome: null, code: null, uploaded_at: null };
      await this.#write({ scans: [anew], last_sequence: sequence });
    });
  }

  /** As it is kept now: an upload may have changed it since it was read. */
  async #now(scan: StoredScan): Promise<StoredScan> {
    const [found] = await this.#places.read((place) => place.scans([scan.idempotency_key]));
    return found ?? scan;
  }

  /** Within a turn, so that it is remembered as it is kept. */
  #show(scan: StoredScan): void {
    this.#shown.set(scan.idempotency_key, scan);
  }

  /** Within a turn. What was shown since the last write is told with it. */
  async #write(write: Write): Promise<void> {
    const told = new Map(this.#shown);
    const scans = new Map([...told, ...(write.scans ?? []).map((scan) => [scan.idempotency_key, scan] as const)]);
    const written = [...scans].map(([key, scan]) => (told.has(key) ? { ...scan, was_seen: true } : scan));
    await this.#places.write({ ...write, scans: written });
    for (const key of told.keys()) this.#shown.delete(key);
  }
}

function isOf(scan: StoredScan): (entry: Entry) => boolean {
  return (entry) => entry.scan.idempotency_key === scan.idempotency_key;
}
