/** Uploading the journal: in order, in batches, until the service has every entry. */

import { APIConnectionError, type GatepassError, RateLimited, ServerError } from "../errors.js";
import type { GateCalls } from "./calls.js";
import type { GateClock } from "./clock.js";
import type { DeviceKey } from "./signing.js";
import { type Entry, uploadOf } from "./storage/entry.js";
import type { EntryResult, Journal } from "./storage/journal.js";

// The service takes 500 entries in 512 KiB. So few that a bad network carries them before the call ends.
const MOST_ENTRIES = 200;
export const MOST_BYTES = 200 * 1024;
// A guest whose scan had no decision, and who did not come back in this time, was not let in. Milliseconds.
const ABANDONED = 10 * 60_000;
// As long as a ticket's first admission may have to be recognized here: longer than any event's manifest.
const KEEP_SETTLED = 7 * 24 * 3_600_000;
const ABANDONED_VERDICT = "abandoned";

/**
 * What one upload did. `stopped_by` is the error that ended it early; call again later. `incidents` is how many entries
 * disagree with what the service knows, `missing` the gaps that it sees in the sequence: pairs of a first and a last
 * number.
 */
export interface Uploaded {
  readonly activated: number;
  readonly recorded: number;
  readonly rejected: number;
  readonly incidents: number;
  readonly waiting: number;
  readonly missing: readonly (readonly [number, number])[];
  readonly stopped_by: GatepassError | null;
}

export const NOTHING_UPLOADED: Uploaded = {
  activated: 0,
  recorded: 0,
  rejected: 0,
  incidents: 0,
  waiting: 0,
  missing: [],
  stopped_by: null,
};

/** What an upload waits for: it is tried again later. */
export function isTemporary(error: unknown): error is GatepassError {
  return error instanceof APIConnectionError || error instanceof ServerError || error instanceof RateLimited;
}

export class Uploader {
  readonly #journal: Journal;
  readonly #calls: GateCalls;
  readonly #clock: GateClock;
  readonly #signer: { key: DeviceKey; device_id: string };

  constructor(journal: Journal, calls: GateCalls, clock: GateClock, signer: { key: DeviceKey; device_id: string }) {
    this.#journal = journal;
    this.#calls = calls;
    this.#clock = clock;
    this.#signer = signer;
  }

  /** Throws if the device was revoked, or may not upload (401, 403): the entries stay. */
  async run(): Promise<Uploaded> {
    await this.#closeAbandoned();
    const results: EntryResult[] = [];
    let missing: [number, number][] = [];
    let stopped_by: GatepassError | null = null;
    let last = 0;
    try {
      for (;;) {
        const entries = withinLimits(await this.#journal.waiting(MOST_ENTRIES, last));
        if (entries.length === 0) break;
        await this.#journal.uploading(entries, this.#clock.now());
        const answer = await this.#calls.upload(entries);
        await this.#journal.acknowledged(entries, answer.results, { at: this.#clock.now(), ...this.#signer });
        results.push(...answer.results);
        missing = answer.missing;
        last = entries.at(-1)?.scan.sequence ?? last;
      }
    } catch (error) {
      if (!isTemporary(error)) throw error;
      stopped_by = error;
    } finally {
      await this.#journal.forget(this.#clock.now() - KEEP_SETTLED);
    }
    const count = (outcome: string): number => results.filter((result) => result.outcome === outcome).length;
    return {
      activated: count("activated"),
      recorded: count("recorded"),
      rejected: count("rejected"),
      incidents: results.filter(({ incidents }) => Array.isArray(incidents) && incidents.length > 0).length,
      waiting: this.#journal.countWaiting(),
      missing,
      stopped_by,
    };
  }

  /** Nobody was let in by these scans. Once that is uploaded, their codes are deleted too. */
  async #closeAbandoned(): Promise<void> {
    for (const entry of await this.#journal.abandoned(this.#clock.now() - ABANDONED)) {
      await this.#journal.decided(entry, ABANDONED_VERDICT, { admitted: false, ...this.#signer });
    }
  }
}

/** As many of the first entries as one call may carry. */
export function withinLimits(entries: readonly Entry[]): Entry[] {
  const taken: Entry[] = [];
  let size = 0;
  for (const entry of entries) {
    size += new TextEncoder().encode(JSON.stringify(uploadOf(entry))).length + 2;
    if (taken.length > 0 && size > MOST_BYTES) break;
    taken.push(entry);
  }
  return taken;
}
