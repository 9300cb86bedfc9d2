/** Whether the service can be reached, and calls that end in time whatever the network does. */

import { APITimeoutError, DeviceUnknown, ServerError } from "../errors.js";

// After a scan without an answer, those of the next seconds do not wait for the network: one of them tries it again.
export const OFFLINE_SECONDS = 5;
// A service that does not know this device is asked less and less often: people have to mend it.
const UNKNOWN_SECONDS = 60;
// Calls that wait for a dead network. More would only wait with them.
const MOST_CALLS = 4;

/** What the last calls said about the network. */
export class Connection {
  /** Since when no call was answered. */
  offline_since: number | null = null;
  /** Whether the last answer came from a service that does not know this device. */
  unknown = false;
  /** Seconds, before the service is asked again. */
  pause = OFFLINE_SECONDS;
  /** Whether heartbeats find out that the network is back: then no guest waits for that. */
  is_watched = false;
  readonly #clock: () => number;
  #answers = false;
  #try_again_at = 0;
  #calls = 0;

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  get is_worth_a_try(): boolean {
    if (this.offline_since === null) return true;
    // A service that answers heartbeats with a fault may still judge scans.
    return (!this.is_watched || this.#answers) && this.#clock() >= this.#try_again_at;
  }

  works(): void {
    this.offline_since = null;
    this.unknown = false;
    this.pause = OFFLINE_SECONDS;
  }

  failed(at: number, error?: unknown): void {
    this.offline_since ??= at;
    this.unknown = error instanceof DeviceUnknown;
    this.#answers = error instanceof ServerError;
    this.pause = this.unknown ? Math.min(this.pause * 2, UNKNOWN_SECONDS) : OFFLINE_SECONDS;
    this.#try_again_at = this.#clock() + this.pause * 1000;
  }

  /** The result of this call, or `APITimeoutError` after so many seconds. */
  async within<T>(seconds: number, call: () => Promise<T>): Promise<T> {
    if (this.#calls >= MOST_CALLS) {
      throw new APITimeoutError("Gatepass cannot be reached: earlier scans still wait for it.");
    }
    this.#calls += 1;
    const started = call().finally(() => {
      this.#calls -= 1;
    });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new APITimeoutError("No answer came back in time.")), seconds * 1000);
    });
    return Promise.race([started, late]).finally(() => clearTimeout(timer));
  }
}
