/**
 * The clock of a gate: the machine's, corrected by what the service said about it.
 *
 * Clocks at gates are minutes wrong. The service refuses scans of the future, and a phone's code is good for 60
 * seconds. So a clock that is wrong is corrected here, and what the gate sends is the corrected time. It is corrected
 * only while no entry waits for its upload: the service corrects those by the offset that it measured with the same
 * clock.
 */

// Less is the delay of a slow answer. Milliseconds, as all that follow.
const TOLERATED = 3_000;

export class GateClock {
  readonly #system: () => number;
  correction: number;

  constructor(system: () => number = Date.now, correction = 0) {
    this.#system = system;
    this.correction = correction;
  }

  now(): number {
    return this.#system() - this.correction;
  }

  /** Take this offset, of this clock to the service's, into account. Whether that was needed. */
  corrected(offset: number): boolean {
    if (Math.abs(offset) <= TOLERATED) return false;
    this.correction += offset;
    return true;
  }
}
