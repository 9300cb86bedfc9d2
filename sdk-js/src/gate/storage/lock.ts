/** One gate, one tab: the lock of a tab that dies is released. Where there are no tabs it is one of this process. */

import { GateInUse } from "../../errors.js";

const held = new Set<string>();

/** Returns what releases it. Throws `GateInUse` if another tab has it. */
export async function lock(name: string): Promise<() => void> {
  // Not in Node before 24.
  const locks = (globalThis.navigator as Navigator | undefined)?.locks;
  const release = locks === undefined ? lockHere(name) : await lockTab(locks, name);
  if (release === null) throw new GateInUse("Another tab or window works with this gate. Close one of them.");
  return release;
}

function lockHere(name: string): (() => void) | null {
  if (held.has(name)) return null;
  held.add(name);
  return () => held.delete(name);
}

function lockTab(locks: LockManager, name: string): Promise<(() => void) | null> {
  return new Promise((resolve, reject) => {
    locks
      .request(name, { ifAvailable: true }, (lock) => {
        if (lock === null) return resolve(null);
        return new Promise<void>((release) => resolve(release));
      })
      .catch(reject);
  });
}
