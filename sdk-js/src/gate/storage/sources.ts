/**
 * Where the two places of a gate are.
 *
 * Chromium keeps all databases of a site in one LevelDB, and may lose it as a whole: there the mirror is in a storage
 * bucket, which has one of its own. Other browsers keep each database in a file of its own.
 */

import { GateError } from "../../errors.js";
import type { Source } from "./opening.js";

/** Two factories of IndexedDB, for a program that has its own. */
export interface PlaceFactories {
  main: IDBFactory;
  mirror: IDBFactory;
}

interface StorageBucket {
  indexedDB: IDBFactory;
}

interface StorageBuckets {
  open(name: string, options: { persisted: boolean; durability: string }): Promise<StorageBucket>;
}

const BUCKET = "mirror";

// A bucket that nobody holds is collected as garbage, with a database that is open in it: Chromium 156 then never
// completes a transaction of it.
const held = new Set<StorageBucket>();

export function sourcesOf(gate: string, given?: PlaceFactories): Source[] {
  const database = `gatepass gate ${gate}`;
  const mirror = `${database} mirror`;
  return [
    { name: "main", factory: async () => given?.main ?? ownFactory(), database },
    { name: "mirror", factory: async () => given?.mirror ?? (await mirrorFactory()), database: mirror },
  ];
}

async function mirrorFactory(): Promise<IDBFactory> {
  const buckets = (globalThis.navigator as { storageBuckets?: StorageBuckets } | undefined)?.storageBuckets;
  if (buckets === undefined) return ownFactory();
  const bucket = await buckets.open(BUCKET, { persisted: true, durability: "strict" });
  held.add(bucket);
  return bucket.indexedDB;
}

function ownFactory(): IDBFactory {
  if (globalThis.indexedDB === undefined) throw new GateError("A gate needs IndexedDB, which is not there.");
  return globalThis.indexedDB;
}

/** Whether the browser promises not to clear the storage when the disk is full. */
export async function isPersistent(): Promise<boolean> {
  try {
    return (await globalThis.navigator?.storage?.persisted?.()) ?? false;
  } catch {
    return false;
  }
}

/** Ask the browser for that promise. Some ask the person in turn, so nobody waits for the answer. */
export function askForPersistence(): void {
  globalThis.navigator?.storage?.persist?.().catch(() => undefined);
}
