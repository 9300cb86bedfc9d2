/**
 * Two places become one: at the start both are read, and each gets what only the other has.
 *
 * A kill between two writes leaves one place a write ahead; that is no loss. A place that is empty beside one with a
 * gate in it, or two writes behind, has lost something.
 */

import type { GateKeys } from "./encryption.js";
import type { Changes, Contents, PlaceName, Setting } from "./place.js";
import type { StoredScan } from "./scan.js";

export const STATE = "state";
export const KEYS = "keys";
export const DEVICE = "device";
export const MANIFEST = "manifest";

/** How far the gate has come. `writes` counts the transactions, the same in both places. */
export interface State {
  writes: number;
  last_n: number;
  last_sequence: number;
}

export const NO_STATE: State = { writes: 0, last_n: 0, last_sequence: 0 };

export interface Merged {
  contents: Contents;
  state: State;
  /** What each place lacks. */
  lacking: Record<PlaceName, Changes | null>;
  lost: PlaceName | null;
  /** From which place the manifest is to be copied to the other, if they differ. */
  manifest_of: PlaceName | null;
}

/** `null` for a place that could not be read: it is not written either. */
export function merge(main: Contents | null, mirror: Contents | null): Merged {
  if (main === null || mirror === null) return alone(main, mirror);
  const foreign = foreignPlace(main, mirror);
  const kept = { main: foreign === "main" ? NOTHING : main, mirror: foreign === "mirror" ? NOTHING : mirror };
  const contents = {
    settings: further(kept.main.settings, kept.mirror.settings),
    scans: further(kept.main.scans, kept.mirror.scans),
  };
  const state = stateOf(contents, stateIn(kept.main), stateIn(kept.mirror));
  const lacks = (of: PlaceName): Changes | null => lacking(contents, kept[of], of === foreign);
  return {
    contents,
    state,
    lacking: { main: lacks("main"), mirror: lacks("mirror") },
    lost: foreign ?? behind(kept.main, kept.mirror),
    manifest_of: furtherManifest(kept.main, kept.mirror),
  };
}

const NOTHING: Contents = { settings: new Map(), scans: new Map() };

function alone(main: Contents | null, mirror: Contents | null): Merged {
  const contents = main ?? mirror ?? NOTHING;
  return {
    contents,
    state: stateOf(contents, stateIn(contents)),
    lacking: { main: null, mirror: null },
    lost: null,
    manifest_of: null,
  };
}

/**
 * Two places with different keys are of two gates: one was begun anew while the other could not be read. The one that
 * is paired goes on, and of two the one that was paired again.
 */
function foreignPlace(main: Contents, mirror: Contents): PlaceName | null {
  const [ours, theirs] = [keysOf(main), keysOf(mirror)];
  if (ours === null || theirs === null || ours.id === theirs.id) return null;
  const [is_paired, is_other_paired] = [main.settings.has(DEVICE), mirror.settings.has(DEVICE)];
  if (is_paired !== is_other_paired) return is_paired ? "mirror" : "main";
  return ours.made_at >= theirs.made_at ? "mirror" : "main";
}

function keysOf(contents: Contents): Pick<GateKeys, "id" | "made_at"> | null {
  return (contents.settings.get(KEYS)?.value as GateKeys | undefined) ?? null;
}

function stateIn(contents: Contents): State {
  return (contents.settings.get(STATE)?.value as State | undefined) ?? NO_STATE;
}

/** Never less than what a scan says: the state and the scans may come from different places. */
function stateOf(contents: Contents, ...states: State[]): State {
  const scans = [...contents.scans.values()];
  const largest = (name: keyof State, of: (scan: StoredScan) => number): number =>
    [...states.map((state) => state[name]), ...scans.map(of)].reduce((one, other) => Math.max(one, other), 0);
  return {
    writes: largest("writes", (scan) => scan.changed),
    last_n: largest("last_n", (scan) => scan.n),
    last_sequence: largest("last_sequence", (scan) => scan.sequence ?? 0),
  };
}

function further<T extends { changed: number }>(one: Map<string, T>, other: Map<string, T>): Map<string, T> {
  const all = new Map(one);
  for (const [key, value] of other) {
    const known = all.get(key);
    if (known === undefined || value.changed > known.changed) all.set(key, value);
  }
  return all;
}

function lacking(all: Contents, of: Contents, anew: boolean): Changes | null {
  const has = (scan: StoredScan): boolean => of.scans.get(scan.idempotency_key)?.changed === scan.changed;
  const scans = [...all.scans.values()].filter((scan) => !has(scan));
  const settings: Record<string, Setting> = {};
  for (const [name, setting] of all.settings) {
    if (of.settings.get(name)?.changed !== setting.changed) settings[name] = setting;
  }
  if (scans.length === 0 && Object.keys(settings).length === 0 && !anew) return null;
  return { scans, settings, anew };
}

function behind(main: Contents, mirror: Contents): PlaceName | null {
  const [ours, theirs] = [stateIn(main).writes, stateIn(mirror).writes];
  if (hasLost(main, mirror) || ours + 1 < theirs) return "main";
  return hasLost(mirror, main) || theirs + 1 < ours ? "mirror" : null;
}

function hasLost(one: Contents, other: Contents): boolean {
  return !one.settings.has(KEYS) && (other.settings.has(DEVICE) || other.scans.size > 0);
}

function furtherManifest(main: Contents, mirror: Contents): PlaceName | null {
  const [ours, theirs] = [main, mirror].map((place) => place.settings.get(MANIFEST)?.changed ?? 0) as [number, number];
  if (ours === theirs) return null;
  return ours > theirs ? "main" : "mirror";
}
