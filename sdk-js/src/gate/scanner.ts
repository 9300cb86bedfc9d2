/**
 * One code at the gate: the service is asked first; without an answer the device decides, writes, and shows.
 *
 * Asked and not answered, a scan may have activated its ticket. So it is one scan, with one key, until its outcome is
 * known: a guest who is shown again repeats it, and the upload sends it once more.
 */

import { APIConnectionError, BadRequest, Conflict, RateLimited, ServerError } from "../errors.js";
import { ANSWER_SECONDS, type GateCalls, type ScanAnswer } from "./calls.js";
import type { GateClock } from "./clock.js";
import type { Code } from "./decision/code.js";
import type { Connection } from "./connection.js";
import { decide } from "./decision/decision.js";
import type { Device } from "./device.js";
import type { ManifestKeeper } from "./manifest/keeper.js";
import { momentOf } from "./moment.js";
import { ACTIVATED } from "./decision/rules.js";
import { type First, firstOf, isWarning, Shown } from "./shown.js";
import type { DeviceKey } from "./signing.js";
import type { Entry } from "./storage/entry.js";
import type { Journal } from "./storage/journal.js";
import { isUnsettled, type StoredScan } from "./storage/scan.js";
import { TurnsByName } from "./turns.js";

// Later than an admission was settled, by so much, a manifest knows it: a person may have undone it since.
const MANIFEST_KNOWS = 60_000;

/** What a scanner works with. */
export interface ScannerParts {
  key: DeviceKey;
  journal: Journal;
  calls: Pick<GateCalls, "scan">;
  connection: Connection;
  manifests: Pick<ManifestKeeper, "current">;
  clock: GateClock;
}

interface ShownCode {
  code: Code;
  card: string;
  device: Device;
  at: number;
}

export class Scanner {
  /** Seconds. */
  answer_within = ANSWER_SECONDS;
  readonly #parts: ScannerParts;
  readonly #one_at_a_time = new TurnsByName();

  constructor(parts: ScannerParts) {
    this.#parts = parts;
  }

  /** Throws `DeviceRevoked` or `PermissionDenied` if the device may no longer scan. */
  scan(code: Code, card: string, device: Device): Promise<Shown> {
    return this.#one_at_a_time.take(card, () => this.#scan(code, card, device));
  }

  async #scan(code: Code, card: string, device: Device): Promise<Shown> {
    const { journal, connection } = this.#parts;
    let scans = await journal.of(card);
    const admission = scans.filter((scan) => scan.let_in).at(-1) ?? null;
    if (admission !== null && !journal.wasShown(admission)) {
      await journal.showing(admission);
      return Shown.of("was_admitted", { first: firstIn(admission), sequence: admission.sequence });
    }
    const known = admission !== null && this.#stands(admission) ? admission : null;
    // The service does not know of it yet: it would let a second guest in.
    const may_ask = known === null || known.settled_at !== null;
    if (may_ask && connection.is_worth_a_try) {
      const shown = await this.#ask(code, card, device, scans.at(-1) ?? null);
      if (shown !== null) return shown;
      scans = await journal.of(card);
    }
    return this.#decide(code, card, device, scans.at(-1) ?? null, known);
  }

  #stands(admission: StoredScan): boolean {
    const manifest = this.#parts.manifests.current;
    if (admission.settled_at === null || manifest === null) return true;
    return momentOf(manifest.header.issued_at) < momentOf(admission.settled_at) + MANIFEST_KNOWS;
  }

  /** The verdict of the service, or null if it does not answer in time. */
  async #ask(code: Code, card: string, device: Device, last: StoredScan | null): Promise<Shown | null> {
    const { journal, clock } = this.#parts;
    if (last !== null && isUnsettled(last)) {
      const earlier = await journal.entry(last);
      await journal.sending(earlier);
      const shown = await this.#answer(earlier);
      if (shown === null || shown.admitted) return shown;
    }
    // A refusal of the earlier try says nothing about now: the doors may have opened since.
    return this.#answer(await journal.begin(code, card, placeOf(device), clock.now()));
  }

  async #answer(entry: Entry): Promise<Shown | null> {
    const { journal, calls, connection, clock } = this.#parts;
    let answer: ScanAnswer;
    try {
      answer = await connection.within(this.answer_within, () => calls.scan(entry, this.answer_within));
    } catch (error) {
      if (error instanceof APIConnectionError || error instanceof ServerError) {
        connection.failed(clock.now(), error);
        return null;
      }
      // The service is there, and has not judged this scan.
      if (error instanceof RateLimited || error instanceof BadRequest || error instanceof Conflict) return null;
      throw error;
    }
    connection.works();
    await journal.answered(entry, answer.verdict, { let_in: answer.verdict === ACTIVATED, at: clock.now() });
    const { verdict, category, tier, details } = answer;
    return Shown.of(verdict, { category, tier, details, first: firstOf(details), online: true });
  }

  async #decide(
    code: Code,
    card: string,
    device: Device,
    last: StoredScan | null,
    known: StoredScan | null,
  ): Promise<Shown> {
    const at = this.#parts.clock.now();
    const showing = { at, gate: device.gate, is_used_here: known !== null };
    const { verdict, category, tier, details } = await decide(this.#parts.manifests.current, code, showing);
    if (isWarning(verdict)) return Shown.of(verdict);
    const sequence = await this.#write({ code, card, device, at }, last, verdict);
    return Shown.of(verdict, { category, tier, details, first: known && firstIn(known), sequence });
  }

  /** One transaction, if there is no earlier try of this scan. Returns the sequence of the entry. */
  async #write(shown: ShownCode, last: StoredScan | null, verdict: string): Promise<number | null> {
    const { journal, key } = this.#parts;
    const { code, card, device, at } = shown;
    const admitted = verdict === ACTIVATED;
    const earlier = last !== null && isUnsettled(last) ? last : null;
    let entry: Entry;
    if (earlier === null || (earlier.uploaded_at !== null && earlier.admitted !== admitted)) {
      entry = await journal.draft(code, card, placeOf(device), at);
    } else {
      if (earlier.uploaded_at !== null) return earlier.sequence;
      entry = await journal.entry(earlier);
    }
    const sequence = await journal.decided(entry, verdict, { admitted, key, device_id: device.id });
    if (sequence !== null) return sequence;
    // It was uploaded at this moment.
    return this.#write(shown, (await journal.of(card)).at(-1) ?? null, verdict);
  }
}

function placeOf(device: Device): { event_id: string; gate: string; scanner_id: string } {
  return { event_id: device.event_id, gate: device.gate, scanner_id: device.scanner_id };
}

function firstIn(scan: StoredScan): First {
  return { at: scan.occurred_at, gate: scan.gate, scanner_id: scan.scanner_id };
}
