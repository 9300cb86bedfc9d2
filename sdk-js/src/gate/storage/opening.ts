/** The two places as they are found: opened and read, and made again if one is torn. */

import { KEYS } from "./merge.js";
import { Late, within } from "./patience.js";
import { type Contents, Place, type PlaceName } from "./place.js";

/** Where a place is. */
export interface Source {
  name: PlaceName;
  factory(): Promise<IDBFactory>;
  database: string;
}

/** `place` and `contents` are null if it could not be read; then there is the problem. */
export interface Found {
  name: PlaceName;
  place: Place | null;
  contents: Contents | null;
  was_torn: boolean;
  problem: unknown;
}

// Seconds. Longer than a browser takes to notice that a database is damaged, and to begin it anew.
const PATIENCE = 10;

/** Those that are open already are read again. */
export async function opened(sources: readonly Source[], open: ReadonlyMap<PlaceName, Place>): Promise<Found[]> {
  const found = await Promise.all(sources.map((source) => twice(source, open.get(source.name))));
  return Promise.all(found.map((one, n) => repaired(one, sources[n]!, found[1 - n])));
}

/** A browser may need a second try to notice what is damaged. */
async function twice(source: Source, open: Place | undefined): Promise<Found> {
  const first = await once(source, open);
  return first.place !== null || first.problem instanceof Late ? first : once(source, undefined);
}

async function once(source: Source, open: Place | undefined): Promise<Found> {
  const opening = open === undefined ? placeOf(source) : Promise.resolve(open);
  const found = { name: source.name, was_torn: false, problem: null };
  try {
    const contents = await within(
      PATIENCE,
      opening.then((place) => place.contents()),
    );
    return { ...found, place: await opening, contents };
  } catch (problem) {
    // If it comes after all, nobody waits for it any more.
    opening.then(
      (place) => place.close(),
      () => undefined,
    );
    return { ...found, place: null, contents: null, was_torn: true, problem };
  }
}

async function placeOf(source: Source): Promise<Place> {
  return Place.open(source.name, await source.factory(), source.database);
}

/**
 * A place that is torn is made again, empty, if the other one has the gate. Otherwise it is left as it is: what cannot
 * be read now may be the only copy.
 */
async function repaired(found: Found, source: Source, other: Found | undefined): Promise<Found> {
  const is_torn = found.place === null && !(found.problem instanceof Late) && !isFull(found.problem);
  if (!is_torn || !other?.contents?.settings.has(KEYS)) return found;
  try {
    const factory = await source.factory();
    await within(PATIENCE, Place.delete(factory, source.database));
  } catch (problem) {
    return { ...found, problem };
  }
  return { ...(await once(source, undefined)), was_torn: true };
}

function isFull(problem: unknown): boolean {
  return problem instanceof DOMException && problem.name === "QuotaExceededError";
}
