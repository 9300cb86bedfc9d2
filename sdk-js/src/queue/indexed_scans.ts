/** The scans of a queue in IndexedDB. Codes and numbers are sealed; what stands in the open are times, ids, answers. */

import type { Bytes } from "../card/base64url.js";
import { QueueError, QueueInUse } from "../errors.js";
import { createSealingKeys, Sealer, type SealingKeys } from "../gate/storage/encryption.js";
import { lock } from "../gate/storage/lock.js";
import type { NewQueuedScan, QueuedScan } from "./scan.js";
import type { Counts, ScanStore } from "./store.js";

/** `sealed` has the card, and what was shown until it is answered. `mark` names card and event. */
interface Kept extends Omit<QueuedScan, "card" | "card_number" | "token" | "id"> {
  id?: number;
  sealed: Bytes;
  mark: string;
}

type Indexed = Kept & { waiting?: 1; settled?: 1; unreported?: 1; activated?: string };
type Secret = Pick<QueuedScan, "card" | "card_number" | "token">;
type Index = "waiting" | "settled" | "unreported" | "activated" | "reported_at";

const SCAN = "scan";
const KEYS = "keys";
const INDEXES: Readonly<Record<Index, string | string[]>> = {
  waiting: ["waiting", "id"],
  settled: "settled",
  unreported: "unreported",
  activated: "activated",
  reported_at: "reported_at",
};

export class IndexedScans implements ScanStore {
  readonly name: string;
  readonly #database: IDBDatabase;
  readonly #sealer: Sealer;

  private constructor(name: string, database: IDBDatabase, keys: SealingKeys) {
    this.name = name;
    this.#database = database;
    this.#sealer = new Sealer(keys);
    database.onversionchange = () => database.close();
  }

  static open(name: string, factory: IDBFactory = globalThis.indexedDB): Promise<IndexedScans> {
    return usable(name, async () => {
      const database = await result(opening(factory, name));
      return new IndexedScans(name, database, await keysIn(database));
    });
  }

  add(scan: NewQueuedScan): Promise<number> {
    return usable(this.name, async () => {
      const added = { ...scan, id: 0, sent_at: null, answered_at: null, answer: null, reported_at: null };
      const { id: _none, ...kept } = await this.#kept(added);
      const transaction = this.#writing();
      const id = result(transaction.objectStore(SCAN).add(indexed(kept)));
      await completed(transaction);
      return Number(await id);
    });
  }

  waiting(after: number, limit: number): Promise<QueuedScan[]> {
    return this.#find("waiting", IDBKeyRange.lowerBound([1, after], true), limit);
  }

  put(scans: readonly QueuedScan[]): Promise<void> {
    return usable(this.name, async () => {
      if (scans.length === 0) return;
      const kept = await Promise.all(scans.map((scan) => this.#kept(scan)));
      const transaction = this.#writing();
      for (const scan of kept) transaction.objectStore(SCAN).put(indexed(scan));
      await completed(transaction);
    });
  }

  unreported(limit: number): Promise<QueuedScan[]> {
    return this.#find("unreported", null, limit);
  }

  all(): Promise<QueuedScan[]> {
    return usable(this.name, async () => this.#opened(await result<Kept[]>(this.#reading().getAll())));
  }

  isActivatedByAnother(scan: QueuedScan): Promise<boolean> {
    return usable(this.name, async () => {
      const mark = await this.#sealer.mark(scan.event_id, scan.card);
      const found = await result(this.#reading().index("activated").getAllKeys(mark));
      return found.some((id) => id !== scan.id);
    });
  }

  forget(reported_before: string): Promise<void> {
    return usable(this.name, async () => {
      const old = IDBKeyRange.upperBound(reported_before, true);
      const ids = await result(this.#reading().index("reported_at").getAllKeys(old));
      if (ids.length === 0) return;
      const transaction = this.#writing();
      for (const id of ids) transaction.objectStore(SCAN).delete(id);
      await completed(transaction);
    });
  }

  counts(): Promise<Counts> {
    return usable(this.name, async () => {
      const store = this.#reading();
      const count = (index: Index): Promise<number> => result(store.index(index).count());
      const [waiting, settled, unreported] = await Promise.all([
        count("waiting"),
        count("settled"),
        count("unreported"),
      ]);
      return { waiting, settled, unreported };
    });
  }

  async exclusive(): Promise<() => void> {
    const release = await lock(`gatepass queue ${this.name}`);
    if (release === null) throw new QueueInUse(`${this.name}: somebody else is draining or reading this queue.`);
    return release;
  }

  async close(): Promise<void> {
    this.#database.close();
  }

  #find(index: Index, range: IDBKeyRange | null, limit: number): Promise<QueuedScan[]> {
    return usable(this.name, async () => {
      if (limit <= 0) return [];
      return this.#opened(await result<Kept[]>(this.#reading().index(index).getAll(range, limit)));
    });
  }

  async #kept({ card, card_number, token, ...open }: QueuedScan): Promise<Kept> {
    const secret: Secret = { card, card_number, token };
    const sealed = await this.#sealer.sealJson(secret, `scan ${open.idempotency_key}`);
    return { ...open, sealed, mark: await this.#sealer.mark(open.event_id, card) };
  }

  #opened(kept: readonly Indexed[]): Promise<QueuedScan[]> {
    return Promise.all(
      kept.map(async ({ sealed, id = 0, ...kept }) => {
        const { mark: _m, waiting: _w, settled: _s, unreported: _u, activated: _a, ...open } = kept;
        const secret = await this.#sealer.openedJson(sealed, `scan ${open.idempotency_key}`);
        return { ...open, id, ...(secret as Secret) };
      }),
    );
  }

  #reading(): IDBObjectStore {
    return this.#database.transaction(SCAN, "readonly").objectStore(SCAN);
  }

  #writing(): IDBTransaction {
    return this.#database.transaction(SCAN, "readwrite", { durability: "strict" });
  }
}

/** The fields by which scans are found. A field that is missing keeps a scan out of that index. */
function indexed(kept: Kept): Indexed {
  if (kept.answer === null) return { ...kept, waiting: 1 };
  return {
    ...kept,
    settled: 1,
    ...(kept.reported_at === null && { unreported: 1 as const }),
    ...(kept.answer.ticket !== null && { activated: kept.mark }),
  };
}

async function keysIn(database: IDBDatabase): Promise<SealingKeys> {
  const made = await createSealingKeys();
  const transaction = database.transaction(KEYS, "readwrite", { durability: "strict" });
  const store = transaction.objectStore(KEYS);
  // Two tabs may open it at once: the first one's keys stay.
  const kept = result<SealingKeys | undefined>(store.get(KEYS)).then((found) => {
    if (found === undefined) store.put(made, KEYS);
    return found ?? made;
  });
  await completed(transaction);
  return kept;
}

function opening(factory: IDBFactory, name: string): IDBOpenDBRequest {
  const request = factory.open(`gatepass queue ${name}`, 1);
  request.onupgradeneeded = () => {
    const scans = request.result.createObjectStore(SCAN, { keyPath: "id", autoIncrement: true });
    for (const [index, path] of Object.entries(INDEXES)) scans.createIndex(index, path);
    request.result.createObjectStore(KEYS);
  };
  return request;
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

/** The browser's errors as `QueueError`, with a sentence. */
async function usable<T>(name: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (cause) {
    if (!(cause instanceof DOMException)) throw cause;
    const is_full = cause.name === "QuotaExceededError";
    const why = is_full ? "the disk is full; nothing more can be kept until there is room" : cause.message;
    throw new QueueError(`${name}: ${why}`, { cause });
  }
}
