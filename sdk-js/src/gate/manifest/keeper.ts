/**
 * The manifest on the device: fetched, followed by stream, kept sealed, and deleted when it has expired.
 *
 * The whole one is kept as it came, and each change behind it, so that a change costs a few bytes on the disk. After
 * many the changes since the whole one are fetched at once, and replace them.
 */

import { decoded, encoded } from "../../card/base64url.js";
import { APIConnectionError, APIStatusError } from "../../errors.js";
import { CardKeys } from "../../tokens.js";
import type { GateCalls } from "../calls.js";
import type { GateClock } from "../clock.js";
import { Turns } from "../turns.js";
import { wait } from "../waiting.js";
import type { KeptManifest } from "./kept.js";
import { InvalidManifest, Manifest } from "./manifest.js";

// Each costs a few milliseconds when the gate starts.
export const MOST_CHANGES = 100;
// Where there is no stream, a gate is this far behind.
const POLL_SECONDS = 2;
const BUSY: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

export class ManifestKeeper {
  readonly #kept: KeptManifest;
  readonly #calls: GateCalls;
  readonly #clock: GateClock;
  readonly #turns = new Turns();
  // The whole manifest as it came, what it has become, and how many changes lie between.
  #whole: Manifest | null = null;
  #current: Manifest | null = null;
  #changes = 0;
  #trusted: { now: Uint8Array[]; ever: Uint8Array[] } = { now: [], ever: [] };

  private constructor(kept: KeptManifest, calls: GateCalls, clock: GateClock) {
    this.#kept = kept;
    this.#calls = calls;
    this.#clock = clock;
  }

  static async open(kept: KeptManifest, calls: GateCalls, clock: GateClock): Promise<ManifestKeeper> {
    const keeper = new ManifestKeeper(kept, calls, clock);
    await keeper.#load();
    return keeper;
  }

  /** The manifest; null if there is none, or it has expired, and then it is deleted. */
  get current(): Manifest | null {
    if (this.#current?.isExpired(this.#clock.now())) {
      // Deleted soon: whoever asks must not wait for it.
      this.forget().catch(() => undefined);
      return null;
    }
    return this.#current;
  }

  /** Fetch what changed, or the whole manifest. Whether anything did. */
  refresh(event_id: string): Promise<boolean> {
    return this.#turns.take(() => this.#refresh(event_id));
  }

  /** Follow the stream until it ends, or poll if the service has no room for one more stream. */
  async follow(event_id: string, signal: AbortSignal, is_current: (event_id: string) => boolean): Promise<void> {
    await this.refresh(event_id);
    try {
      await this.#stream(event_id, signal, is_current);
    } catch (error) {
      if (!(error instanceof APIStatusError) || !BUSY.has(error.status)) throw error;
      while ((await wait(POLL_SECONDS, signal)) && is_current(event_id)) await this.refresh(event_id);
    }
  }

  forget(): Promise<void> {
    this.#current = null;
    return this.#turns.take(() => this.#forget());
  }

  async #forget(): Promise<void> {
    this.#whole = this.#current = null;
    this.#changes = 0;
    await this.#kept.forget();
  }

  async #refresh(event_id: string): Promise<boolean> {
    if (this.#trusted.now.length === 0) await this.#fetchKeys();
    let known = this.current;
    if (known !== null && known.header.event.id !== event_id) {
      await this.#forget();
      known = null;
    }
    if (known !== null && this.#changes >= MOST_CHANGES && this.#whole !== null) {
      return this.#compact(event_id, this.#whole);
    }
    const body = await this.#calls.manifest(event_id, known?.header.cursor ?? null, known?.header.state ?? null);
    return body !== null && (await this.#take(body, event_id));
  }

  async #stream(event_id: string, signal: AbortSignal, is_current: (event_id: string) => boolean): Promise<void> {
    const current = this.current;
    if (current === null) return;
    for await (const [name, body] of this.#calls.changes(event_id, current.header.cursor, signal)) {
      if (signal.aborted || !is_current(event_id)) return;
      await this.#turns.take(async () => {
        const isTaken = name === "changes" && (await this.#take(body, event_id));
        if (!isTaken || this.#changes >= MOST_CHANGES) await this.#refresh(event_id);
      });
    }
  }

  /** Take a whole manifest or changes, verified. What does not fit is replaced by a whole manifest. */
  async #take(body: Uint8Array, event_id: string): Promise<boolean> {
    try {
      await this.#use(body, event_id);
      return true;
    } catch (error) {
      if (!(error instanceof InvalidManifest)) throw error;
      // The organization's key may have been rotated since.
      if (error.reason === "bad_signature") await this.#fetchKeys();
    }
    const whole = await this.#calls.manifest(event_id, null, null);
    if (whole === null) return false;
    try {
      await this.#use(whole, event_id);
    } catch (error) {
      if (!(error instanceof InvalidManifest)) throw error;
      throw new APIConnectionError(error.message, { cause: error });
    }
    return true;
  }

  async #use(body: Uint8Array, event_id: string): Promise<void> {
    const known = this.#current;
    if (known !== null && known.header.event.id === event_id) {
      try {
        this.#current = await known.apply(body, this.#trusted.now);
        this.#changes += 1;
        await this.#kept.keep(this.#changes, body);
        return;
      } catch (error) {
        if (!(error instanceof InvalidManifest) || error.reason !== "wrong_kind") throw error;
      }
    }
    this.#whole = this.#current = await Manifest.read(body, this.#trusted.now, event_id);
    this.#changes = 0;
    await this.#kept.keep(0, body);
    await this.#trust(this.#trusted.now, this.#trusted.now);
  }

  /** Everything since the whole manifest as one change, in place of many. */
  async #compact(event_id: string, whole: Manifest): Promise<boolean> {
    const body = await this.#calls.manifest(event_id, whole.header.cursor, null);
    if (body === null) return false;
    try {
      this.#current = await whole.apply(body, this.#trusted.now);
    } catch (error) {
      if (!(error instanceof InvalidManifest)) throw error;
      return this.#take(body, event_id);
    }
    await this.#kept.keep(1, body);
    this.#changes = 1;
    return true;
  }

  /** What is kept was verified before it was sealed. A part that does not fit leaves what came before it. */
  async #load(): Promise<void> {
    const { now, ever } = await this.#kept.trusted();
    this.#trusted = { now: now.map(decoded), ever: ever.map(decoded) };
    try {
      for (const [part, body] of (await this.#kept.parts()).entries()) {
        if (this.#current === null) this.#whole = this.#current = await Manifest.read(body, this.#trusted.ever);
        else this.#current = await this.#current.apply(body, this.#trusted.ever);
        this.#changes = part;
      }
    } catch (error) {
      if (!(error instanceof InvalidManifest)) throw error;
    }
  }

  /** Parts that are kept may be signed by a key that has been retired since: it is kept with them. */
  async #fetchKeys(): Promise<void> {
    const fetched = [...CardKeys.of(await this.#calls.cardKeys()).keys];
    await this.#trust(fetched, [...this.#trusted.ever, ...fetched]);
  }

  async #trust(now: Uint8Array[], ever: Uint8Array[]): Promise<void> {
    const texts = { now: now.map(encoded), ever: [...new Set(ever.map(encoded))] };
    await this.#kept.trust(texts);
    this.#trusted = { now, ever: texts.ever.map(decoded) };
  }
}
