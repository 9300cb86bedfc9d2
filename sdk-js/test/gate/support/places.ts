/** Two places that can be torn, deleted and set back, and a life that can end between any two of their steps. */

import "fake-indexeddb/auto";
import { IDBFactory as FakeFactory } from "fake-indexeddb";
import type { PlaceFactories } from "../../../src/gate/storage/sources.js";

export type Name = "main" | "mirror";
export type Kept = Record<string, [IDBValidKey, unknown][]>;

/** A tab that is killed: from then on nothing that it does reaches the disk, or anybody. */
export class Life {
  is_over = false;
  writes = 0;
  readonly ended: Promise<void>;
  #tell: () => void = () => undefined;
  #left: number;
  readonly #random: () => number;
  readonly #writing = new Set<IDBTransaction>();

  constructor(steps: number, random: () => number = () => 1) {
    this.#left = steps;
    this.#random = random;
    this.ended = new Promise((resolve) => {
      this.#tell = resolve;
    });
  }

  step(): void {
    this.#left -= 1;
    if (this.#left === 0) this.end();
    if (this.is_over) throw new Error("This tab is dead.");
  }

  /** Every write that is under way is lost, or is not. */
  end(): void {
    this.is_over = true;
    this.#tell();
    for (const transaction of this.#writing) {
      if (this.#random() < 0.5) continue;
      try {
        transaction.abort();
      } catch {
        // It is done already.
      }
    }
  }

  revive(): void {
    this.is_over = false;
  }

  through(factory: IDBFactory): IDBFactory {
    const open = (name: string, version?: number): IDBOpenDBRequest => {
      this.step();
      const request = factory.open(name, version);
      request.addEventListener("success", () => this.#watch(request.result));
      return request;
    };
    return { open, deleteDatabase: (name: string) => factory.deleteDatabase(name) } as unknown as IDBFactory;
  }

  #watch(database: IDBDatabase): void {
    const transaction = database.transaction.bind(database);
    database.transaction = (stores, mode, options) => {
      this.step();
      const started = transaction(stores, mode, options);
      if (mode !== "readwrite") return started;
      this.writes += 1;
      this.#writing.add(started);
      started.addEventListener("complete", () => {
        this.#writing.delete(started);
        try {
          this.step();
        } catch {
          // Written, and nobody heard of it.
        }
      });
      return started;
    };
  }
}

export class Places {
  readonly factories: Record<Name, IDBFactory> = { main: new FakeFactory(), mirror: new FakeFactory() };

  /** As one life sees them. */
  through(life: Life): PlaceFactories {
    return { main: life.through(this.factories.main), mirror: life.through(this.factories.mirror) };
  }

  delete(name: Name): void {
    this.factories[name] = new FakeFactory();
  }

  /** It cannot be opened any more, until it is deleted. Returns what undoes that. */
  tear(name: Name): () => void {
    const torn = this.factories[name];
    let is_torn = true;
    const broken = {
      open(database: string, version?: number): IDBOpenDBRequest {
        if (!is_torn) return torn.open(database, version);
        const request = { error: new DOMException("Internal error.", "UnknownError") } as unknown as IDBOpenDBRequest;
        queueMicrotask(() => request.onerror?.(new Event("error")));
        return request;
      },
      deleteDatabase(database: string): IDBOpenDBRequest {
        is_torn = false;
        return torn.deleteDatabase(database);
      },
    };
    this.factories[name] = broken as unknown as IDBFactory;
    return () => {
      is_torn = false;
    };
  }

  async kept(name: Name): Promise<Kept> {
    const database = await opened(this.factories[name], databaseOf(name));
    const kept: Kept = {};
    for (const store of database.objectStoreNames) {
      const transaction = database.transaction(store).objectStore(store);
      const [keys, values] = await Promise.all([result(transaction.getAllKeys()), result(transaction.getAll())]);
      kept[store] = keys.map((key, n) => [key, values[n]]);
    }
    database.close();
    return kept;
  }

  /** As it was: what was written since is lost. */
  async setBack(name: Name, kept: Kept): Promise<void> {
    const database = await opened(this.factories[name], databaseOf(name));
    for (const [store, values] of Object.entries(kept)) {
      const transaction = database.transaction(store, "readwrite");
      const into = transaction.objectStore(store);
      into.clear();
      for (const [key, value] of values) into.keyPath === null ? into.put(value, key) : into.put(value);
      await new Promise((resolve) => transaction.addEventListener("complete", resolve));
    }
    database.close();
  }
}

const databaseOf = (name: Name): string => (name === "main" ? "gatepass gate gate" : "gatepass gate gate mirror");

function opened(factory: IDBFactory, name: string): Promise<IDBDatabase> {
  return result(factory.open(name));
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
}
