/**
 * One of the two places of a gate: an IndexedDB database.
 *
 * A write is on the disk when it is done: its transaction has strict durability. A browser that is killed while it
 * writes may lose the whole database nevertheless, which is why there are two.
 */

import type { Bytes } from "../bytes.js";
import { indexed, type StoredScan } from "./scan.js";

export type PlaceName = "main" | "mirror";

/** A value, and the write that changed it last. */
export interface Setting {
  value: unknown;
  changed: number;
}

/** What one transaction does. The manifest is cleared first, wholly or from a part on, and a part is put. */
export interface Changes {
  scans?: readonly StoredScan[];
  forgotten?: readonly string[];
  settings?: Readonly<Record<string, Setting>>;
  manifest?: { from: number; parts: readonly Bytes[] };
  /** Empty the place before. */
  anew?: boolean;
  /** What can be fetched again need not wait for the disk. */
  relaxed?: boolean;
  /** The place has lost something: write so much that the browser finds out why. */
  padded?: boolean;
}

export interface Contents {
  settings: Map<string, Setting>;
  scans: Map<string, StoredScan>;
}

/** The order in an index, and what is found by it. */
export type Index = "card" | "open" | "waiting" | "rejected" | "settled_at";

const VERSION = 1;
const SCAN = "scan";
const SETTING = "setting";
const MANIFEST = "manifest";
const STORES = [SCAN, SETTING, MANIFEST];
// Chromium reads a log up to a record that is torn, and writes on behind it. All of that is lost again at the next
// start, until the block with the torn record is full: then it finds the place damaged, and begins it anew.
const PADDING = "padding";
const BLOCK_BYTES = 32 * 1024;
const INDEXES: readonly Index[] = ["card", "open", "waiting", "rejected", "settled_at"];

export class Place {
  readonly name: PlaceName;
  /** Held as long as the database is: see `sources.ts`. */
  readonly factory: IDBFactory;
  readonly #database: IDBDatabase;

  private constructor(name: PlaceName, factory: IDBFactory, database: IDBDatabase) {
    this.name = name;
    this.factory = factory;
    this.#database = database;
    // Another version of this page may want to change or delete it.
    database.onversionchange = () => database.close();
  }

  /** Open the database, or create it. Throws what the browser says. */
  static async open(name: PlaceName, factory: IDBFactory, database: string): Promise<Place> {
    const opened = await opening(factory, database);
    if (STORES.every((store) => opened.objectStoreNames.contains(store))) return new Place(name, factory, opened);
    opened.close();
    throw new DOMException(`${database} lacks a store.`, "DataError");
  }

  static async delete(factory: IDBFactory, database: string): Promise<void> {
    await result(factory.deleteDatabase(database));
  }

  /** Everything but the manifest. */
  async contents(): Promise<Contents> {
    const transaction = this.#database.transaction([SETTING, SCAN], "readonly");
    const settings = transaction.objectStore(SETTING);
    const [names, values, scans] = await Promise.all([
      result(settings.getAllKeys()),
      result<Setting[]>(settings.getAll()),
      result<StoredScan[]>(transaction.objectStore(SCAN).getAll()),
    ]);
    const named = values.map((value, n): [string, Setting] => [String(names[n]), value]);
    return {
      settings: new Map(named.filter(([name]) => name !== PADDING)),
      scans: new Map(scans.map((scan) => [scan.idempotency_key, withoutIndex(scan)])),
    };
  }

  /** Those of these keys that are there. */
  async scans(keys: readonly string[]): Promise<StoredScan[]> {
    const store = this.#store(SCAN);
    const found = await Promise.all(keys.map((key) => result<StoredScan | undefined>(store.get(key))));
    return found.filter((scan) => scan !== undefined).map(withoutIndex);
  }

  /** Scans in the order of this index. */
  async scansBy(index: Index, range: IDBKeyRange | null = null, limit?: number): Promise<StoredScan[]> {
    const found = await result<StoredScan[]>(this.#store(SCAN).index(index).getAll(range, limit));
    return found.map(withoutIndex);
  }

  async keysBy(index: Index, range: IDBKeyRange): Promise<string[]> {
    return (await result(this.#store(SCAN).index(index).getAllKeys(range))).map(String);
  }

  async manifest(): Promise<Bytes[]> {
    return result<Bytes[]>(this.#store(MANIFEST).getAll());
  }

  /** All of it or nothing. */
  async write(changes: Changes): Promise<void> {
    const stores = changes.anew || changes.manifest ? STORES : [SCAN, SETTING];
    const durability = changes.relaxed ? "relaxed" : "strict";
    const transaction = this.#database.transaction(stores, "readwrite", { durability });
    const finished = completed(transaction);
    if (changes.anew) for (const store of stores) transaction.objectStore(store).clear();
    const scans = transaction.objectStore(SCAN);
    for (const scan of changes.scans ?? []) scans.put(indexed(scan));
    for (const key of changes.forgotten ?? []) scans.delete(key);
    const settings = transaction.objectStore(SETTING);
    for (const [name, setting] of Object.entries(changes.settings ?? {})) settings.put(setting, name);
    if (changes.padded) settings.put(new Uint8Array(BLOCK_BYTES), PADDING);
    if (changes.manifest) {
      const { from, parts } = changes.manifest;
      const manifest = transaction.objectStore(MANIFEST);
      manifest.delete(IDBKeyRange.lowerBound(from));
      parts.forEach((part, n) => manifest.put(part, from + n));
    }
    transaction.commit();
    await finished;
    if (changes.padded) await this.#forgetPadding();
  }

  close(): void {
    this.#database.close();
  }

  async #forgetPadding(): Promise<void> {
    const settings = this.#database.transaction(SETTING, "readwrite").objectStore(SETTING);
    await result(settings.delete(PADDING));
  }

  #store(name: string): IDBObjectStore {
    return this.#database.transaction(name, "readonly").objectStore(name);
  }
}

function opening(factory: IDBFactory, name: string): Promise<IDBDatabase> {
  const request = factory.open(name, VERSION);
  request.onupgradeneeded = () => {
    const scans = request.result.createObjectStore(SCAN, { keyPath: "idempotency_key" });
    for (const index of INDEXES) scans.createIndex(index, index);
    request.result.createObjectStore(SETTING);
    request.result.createObjectStore(MANIFEST);
  };
  return result(request);
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function completed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new DOMException("The write was aborted.", "AbortError"));
  });
}

function withoutIndex(kept: StoredScan & { open?: number; waiting?: number; rejected?: number }): StoredScan {
  const { open: _open, waiting: _waiting, rejected: _rejected, ...scan } = kept;
  return scan;
}
