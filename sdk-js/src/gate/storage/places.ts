/**
 * The two places of a gate. Every write goes to both, and is done when both have it on the disk. A place that fails is
 * left behind and the other goes on; it is made again at the next start, or as soon as that works.
 */

import { QueueError } from "../../errors.js";
import type { Bytes } from "../bytes.js";
import { Turns } from "../turns.js";
import { KEYS, MANIFEST, type Merged, merge, NO_STATE, STATE, type State } from "./merge.js";
import { type Changes, type Contents, Place, type PlaceName, type Setting } from "./place.js";
import type { StoredScan } from "./scan.js";

/** Where a place is. */
export interface Source {
  name: PlaceName;
  factory(): Promise<IDBFactory>;
  database: string;
}

/** What one write changes, in the words of the gate. */
export interface Write {
  scans?: readonly StoredScan[];
  forgotten?: readonly string[];
  settings?: Readonly<Record<string, unknown>>;
  manifest?: { from: number; parts: readonly Bytes[] };
  last_sequence?: number;
  last_n?: number;
}

// A disk that says nothing for so long is left behind; the other has answered in a hundredth of it. Milliseconds.
const PATIENCE = 4_000;

export class Places {
  /** A place that was found empty or torn, or that failed since. */
  lost: PlaceName | null = null;
  readonly #sources: readonly Source[];
  readonly #open = new Map<PlaceName, Place>();
  #settings = new Map<string, Setting>();
  #state: State = NO_STATE;
  readonly #turns = new Turns();
  #is_closed = false;

  private constructor(sources: readonly Source[]) {
    this.#sources = sources;
  }

  static async open(sources: readonly Source[]): Promise<Places> {
    const places = new Places(sources);
    await places.#reopen();
    return places;
  }

  get state(): State {
    return this.#state;
  }

  setting(name: string): unknown {
    return this.#settings.get(name)?.value ?? null;
  }

  /** One step after another: what it reads stays true until it has written. */
  turn<T>(step: () => Promise<T>): Promise<T> {
    return this.#turns.take(step);
  }

  /** Within a turn. When this returns, both places have it. Throws `QueueError` if none has. */
  async write(write: Write, options: { relaxed?: boolean } = {}): Promise<void> {
    const number = this.#state.writes + 1;
    const state: State = {
      writes: number,
      last_n: write.last_n ?? this.#state.last_n,
      last_sequence: write.last_sequence ?? this.#state.last_sequence,
    };
    const values: Record<string, unknown> = { ...write.settings, [STATE]: state };
    if (write.manifest) values[MANIFEST] = null;
    const settings = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, { value, changed: number }]),
    );
    const { scans = [], forgotten = [], manifest } = write;
    const changes: Changes = { scans: scans.map((scan) => ({ ...scan, changed: number })), forgotten, settings };
    await this.#writeAll({ ...changes, ...(manifest && { manifest }), relaxed: options.relaxed ?? false });
    this.#state = state;
    for (const [name, setting] of Object.entries(settings)) this.#settings.set(name, setting);
  }

  /** From the first place that answers. */
  async read<T>(reading: (place: Place) => Promise<T>): Promise<T> {
    for (const place of [...this.#open.values()]) {
      try {
        return await within(PATIENCE, reading(place));
      } catch (error) {
        this.#leave(place, error);
      }
    }
    throw unusable();
  }

  /** Open the places again that failed. Whether both are there now. */
  async restore(): Promise<boolean> {
    if (this.#open.size < this.#sources.length && !this.#is_closed) await this.turn(() => this.#reopen());
    return this.#open.size === this.#sources.length;
  }

  close(): void {
    this.#is_closed = true;
    for (const place of this.#open.values()) place.close();
    this.#open.clear();
  }

  async #writeAll(changes: Changes): Promise<void> {
    const places = [...this.#open.values()];
    const writes = places.map(async (place) => {
      try {
        await within(PATIENCE, place.write(changes));
      } catch (error) {
        this.#leave(place, error);
      }
    });
    await Promise.all(writes);
    if (this.#open.size === 0) throw unusable();
  }

  #leave(place: Place, _error: unknown): void {
    if (this.#open.get(place.name) !== place) return;
    this.#open.delete(place.name);
    this.lost = place.name;
    place.close();
  }

  async #reopen(): Promise<void> {
    const first = await Promise.all(this.#sources.map((source) => this.#found(source)));
    const found = await Promise.all(first.map((one, n) => this.#repaired(one, this.#sources[n]!, first[1 - n]!)));
    const [main, mirror] = found.map((one) => one.contents) as [Contents | null, Contents | null];
    const merged = merge(main, mirror);
    const lost = this.#sources.find((_, n) => first[n]?.contents === null)?.name ?? merged.lost;
    await this.#complete(merged);
    this.#settings = merged.contents.settings;
    this.#state = merged.state;
    this.lost = lost ?? this.lost;
  }

  /** A place with what is in it. A browser may need a second try to notice what is damaged. */
  async #found(source: Source): Promise<Found> {
    let problem: unknown;
    for (let tries = 0; tries < 2 && !(problem instanceof Late); tries++) {
      try {
        return { contents: await this.#contents(source) };
      } catch (error) {
        problem = error;
      }
    }
    return { contents: null, problem };
  }

  /**
   * A place that is torn is made again, empty, if the other one has the gate. Otherwise it is left as it is: what
   * cannot be read now may be the only copy.
   */
  async #repaired(found: Found, source: Source, other: Found): Promise<Found> {
    const isTorn = found.contents === null && !(found.problem instanceof Late) && !isFull(found.problem);
    if (!isTorn || !other.contents?.settings.has(KEYS)) return found;
    try {
      await within(PATIENCE, source.factory().then((factory) => Place.delete(factory, source.database)));
    } catch (problem) {
      return { contents: null, problem };
    }
    return this.#found(source);
  }

  async #contents(source: Source): Promise<Contents> {
    const opened = this.#open.get(source.name) ?? this.#opened(source);
    this.#open.delete(source.name);
    const reading = Promise.resolve(opened).then(async (place) => ({ place, contents: await place.contents() }));
    try {
      const { place, contents } = await within(PATIENCE, reading);
      this.#open.set(source.name, place);
      return contents;
    } catch (error) {
      Promise.resolve(opened).then(
        (place) => place.close(),
        () => undefined,
      );
      throw error;
    }
  }

  async #opened(source: Source): Promise<Place> {
    return Place.open(source.name, await source.factory(), source.database);
  }

  /** Give each place what only the other has. */
  async #complete(merged: Merged): Promise<void> {
    const parts = merged.manifest_of && (await this.#open.get(merged.manifest_of)?.manifest());
    for (const place of [...this.#open.values()]) {
      const lacking = merged.lacking[place.name];
      const manifest = parts && place.name !== merged.manifest_of ? { from: 0, parts } : null;
      if (lacking === null && manifest === null) continue;
      try {
        await within(PATIENCE, place.write({ ...lacking, ...(manifest && { manifest }) }));
      } catch (error) {
        this.#leave(place, error);
      }
    }
    if (this.#open.size === 0) throw unusable();
  }
}

/** `contents` is null if it could not be read; then there is the problem. */
interface Found {
  contents: Contents | null;
  problem?: unknown;
}

class Late extends Error {}

function isFull(problem: unknown): boolean {
  return problem instanceof DOMException && problem.name === "QuotaExceededError";
}

function within<T>(milliseconds: number, result: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Late("The storage does not answer.")), milliseconds);
  });
  return Promise.race([result, late]).finally(() => clearTimeout(timer));
}

function unusable(): QueueError {
  return new QueueError("The storage of this browser cannot be written. Nobody may be let in until it can.");
}
