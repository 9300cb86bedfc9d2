/** The work of a gate in the background: it follows the manifest, sends heartbeats, and uploads the journal. */

import { GatepassError } from "../errors.js";
import { REVOKED } from "./device.js";
import type { Session } from "./session.js";
import type { GateStore } from "./storage/store.js";
import { onReturn, wait, Wake } from "./waiting.js";

// Seconds. How often a gate says that it lives, and looks whether something waits to be uploaded.
const HEARTBEAT_SECONDS = 15;
const UPLOAD_SECONDS = 2;
// Before a stream that broke is opened again.
const FOLLOW_AGAIN_SECONDS = 1;

export class Work {
  readonly #store: GateStore;
  readonly #session: () => Session | null;
  readonly #wake = new Wake();
  #heartbeat_at = 0;
  #is_over = false;

  constructor(store: GateStore, session: () => Session | null) {
    this.#store = store;
    this.#session = session;
  }

  /** Until the signal ends it. What the service refuses is seen in the status, and at the next scan. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = onReturn(() => this.tryNow());
    try {
      await Promise.all([this.#keepFollowing(signal), this.#keepUploading(signal)]);
    } finally {
      stop();
      const session = this.#session();
      if (session !== null) session.connection.is_watched = false;
    }
  }

  /** The gate is closed. */
  end(): void {
    this.#is_over = true;
    this.#wake.all();
  }

  /** There may be a network again, or another device: nobody waits, and a stream that may be dead is opened again. */
  tryNow(): void {
    this.#heartbeat_at = 0;
    this.#wake.all();
  }

  async #keepFollowing(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#is_over) {
      const session = this.#session();
      if (session?.device.admits) await this.#untilWoken(signal, (ends) => quietly(() => session.follow(ends)));
      const is_offline = session !== null && session.connection.offline_since !== null;
      await wait(is_offline ? spread(session.connection.pause) : FOLLOW_AGAIN_SECONDS, signal, this.#wake);
    }
  }

  async #untilWoken(signal: AbortSignal, step: (ends: AbortSignal) => Promise<void>): Promise<void> {
    const ends = new AbortController();
    const end = (): void => ends.abort();
    signal.addEventListener("abort", end);
    this.#wake.add(end);
    try {
      await step(ends.signal);
    } finally {
      signal.removeEventListener("abort", end);
      this.#wake.remove(end);
    }
  }

  async #keepUploading(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#is_over) {
      const session = this.#session();
      // Nothing more is sent with a key that was revoked.
      if (session !== null && session.device.status !== REVOKED) await quietly(() => this.#upload(session));
      await wait(UPLOAD_SECONDS, signal, this.#wake);
    }
  }

  async #upload(session: Session): Promise<void> {
    const { connection } = session;
    connection.is_watched = true;
    if (performance.now() >= this.#heartbeat_at) {
      await this.#store.places.restore();
      try {
        await session.heartbeat();
      } finally {
        const seconds = connection.offline_since === null ? HEARTBEAT_SECONDS : spread(connection.pause);
        this.#heartbeat_at = performance.now() + seconds * 1000;
      }
    } else if (connection.offline_since !== null) {
      this.#heartbeat_at = Math.min(this.#heartbeat_at, performance.now() + connection.pause * 1000);
    }
    // Where there is no network an upload only waits for it.
    if (connection.offline_since === null && this.#store.journal.countWaiting() > 0) await session.upload();
  }
}

/** A thousand phones that lost the service together do not all come back at once. */
const spread = (seconds: number): number => seconds * (0.8 + 0.4 * Math.random());

async function quietly(step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    // What nobody expected must not end the work of the night: it is tried again, as what was expected is.
    if (!(error instanceof GatepassError)) console.error(error);
  }
}
