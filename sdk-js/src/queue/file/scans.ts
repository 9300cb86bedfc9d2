/** The scans of a queue in a file: in memory, and each change a line of JSON in the file. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { QueueError, QueueInUse } from "../../errors.js";
import { isObject } from "../../http/call.js";
import type { NewQueuedScan, QueuedScan } from "../scan.js";
import type { Counts, ScanStore } from "../store.js";
import { lockFile } from "./lock.js";
import { AppendLog } from "./log.js";

// The first line. Another program's file is not taken for a queue, and a newer queue's is not written.
const FORMAT = "gatepass scan queue";
const VERSION = 1;
const HEADER = JSON.stringify({ format: FORMAT, version: VERSION });

export class FileScans implements ScanStore {
  readonly name: string;
  readonly #log: AppendLog;
  readonly #unlock: () => void;
  readonly #scans = new Map<number, QueuedScan>();
  #last_id = 0;
  #is_busy = false;
  // Whether the file still has tokens, or whole scans, that are not in memory any more.
  #has_leftovers = false;

  private constructor(log: AppendLog, unlock: () => void) {
    this.name = log.path;
    this.#log = log;
    this.#unlock = unlock;
  }

  static async open(path: string, options: { may_create?: boolean } = {}): Promise<FileScans> {
    const file = resolve(path);
    if (options.may_create === false && !existsSync(file)) throw new QueueError(`${file}: there is no such file.`);
    return usable(file, async () => {
      const unlock = await lockFile(file);
      if (unlock === null) throw new QueueInUse(`${file}: another process works with this queue.`);
      try {
        return await FileScans.#opened(file, unlock);
      } catch (error) {
        unlock();
        throw error;
      }
    });
  }

  static async #opened(file: string, unlock: () => void): Promise<FileScans> {
    const { log, lines } = await AppendLog.open(file);
    try {
      const scans = new FileScans(log, unlock);
      await scans.#load(lines);
      return scans;
    } catch (error) {
      await log.close();
      throw error;
    }
  }

  async add(scan: NewQueuedScan): Promise<number> {
    const id = ++this.#last_id;
    await this.put([{ ...scan, id, sent_at: null, answered_at: null, answer: null, reported_at: null }]);
    return id;
  }

  async waiting(after: number, limit: number): Promise<QueuedScan[]> {
    return this.#some(limit, (scan) => scan.answer === null && scan.id > after);
  }

  /** In memory when it is on the disk. */
  async put(scans: readonly QueuedScan[]): Promise<void> {
    if (scans.length === 0) return;
    await usable(this.name, () => this.#log.append(scans.map((scan) => JSON.stringify(scan))));
    for (const scan of scans) {
      if (scan.token === null && this.#scans.get(scan.id)?.token) this.#has_leftovers = true;
      this.#scans.set(scan.id, { ...scan });
    }
  }

  async unreported(limit: number): Promise<QueuedScan[]> {
    return this.#some(limit, (scan) => scan.answer !== null && scan.reported_at === null);
  }

  async all(): Promise<QueuedScan[]> {
    return this.#some(Number.POSITIVE_INFINITY, () => true);
  }

  async isActivatedByAnother(scan: QueuedScan): Promise<boolean> {
    const is_same = (other: QueuedScan): boolean => other.card === scan.card && other.event_id === scan.event_id;
    return [...this.#scans.values()].some((other) => other.answer?.ticket && is_same(other) && other.id !== scan.id);
  }

  async forget(reported_before: string): Promise<void> {
    for (const [id, { reported_at }] of this.#scans) {
      if (reported_at === null || reported_at >= reported_before) continue;
      this.#scans.delete(id);
      this.#has_leftovers = true;
    }
    if (this.#has_leftovers) await this.#rewrite();
  }

  async counts(): Promise<Counts> {
    const counts = { waiting: 0, settled: 0, unreported: 0 };
    for (const { answer, reported_at } of this.#scans.values()) {
      if (answer === null) counts.waiting += 1;
      else counts.settled += 1;
      if (answer !== null && reported_at === null) counts.unreported += 1;
    }
    return counts;
  }

  async exclusive(): Promise<() => void> {
    if (this.#is_busy) throw new QueueInUse(`${this.name}: somebody else is draining or reading this queue.`);
    this.#is_busy = true;
    return () => {
      this.#is_busy = false;
    };
  }

  async close(): Promise<void> {
    await this.#log.close();
    this.#unlock();
  }

  #some(limit: number, is_wanted: (scan: QueuedScan) => boolean): QueuedScan[] {
    const found: QueuedScan[] = [];
    for (const scan of this.#scans.values()) {
      if (found.length >= limit) break;
      if (is_wanted(scan)) found.push({ ...scan });
    }
    return found;
  }

  async #load(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return this.#log.append([HEADER]);
    this.#requireHeader(lines[0] ?? "");
    for (const [n, line] of lines.slice(1).entries()) {
      const scan = parsed(line);
      if (!isObject(scan) || typeof scan["id"] !== "number") {
        const advice = "put the file aside, it may be possible to recover it";
        throw new QueueError(`${this.name}: line ${n + 2} is damaged; ${advice}.`);
      }
      if (scan["event_id"] !== undefined) this.#scans.set(scan["id"], scan as unknown as QueuedScan);
      this.#last_id = Math.max(this.#last_id, scan["id"]);
    }
    if (lines.length > 2 * this.#scans.size + 2) await this.#rewrite();
  }

  #requireHeader(line: string): void {
    const header = parsed(line);
    if (!isObject(header) || header["format"] !== FORMAT) {
      throw new QueueError(`${this.name}: this file is another program's. Give this one a file of its own.`);
    }
    if (Number(header["version"]) > VERSION) {
      throw new QueueError(`${this.name}: a newer @gatepass/sdk made this file. Update this one.`);
    }
  }

  /** Only what is in memory. The last id is told too: it may be of a scan that is gone. */
  async #rewrite(): Promise<void> {
    const lines = [HEADER, JSON.stringify({ id: this.#last_id })];
    for (const scan of this.#scans.values()) lines.push(JSON.stringify(scan));
    await usable(this.name, () => this.#log.rewrite(lines));
    this.#has_leftovers = false;
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

const SENTENCES: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full; nothing more can be kept until there is room",
  ENOENT: "the file cannot be opened; does its folder exist?",
  EROFS: "the file may not be written",
  EACCES: "the file may not be written",
  EIO: "the disk does not answer as it should",
};

/** The system's errors as `QueueError`, with a sentence. */
async function usable<T>(path: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (cause instanceof QueueError || code === undefined) throw cause;
    throw new QueueError(`${path}: ${SENTENCES[code] ?? `the file cannot be used (${code})`}.`, { cause });
  }
}
