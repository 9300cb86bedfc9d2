/** A reader reads a code as long as it lies before it: the same code at the same reader is one guest, not many. */

import type { Shown } from "./shown.js";

// From the last reading to the next: a code that is held still is one scan however long that takes.
const MILLISECONDS = 3_000;

interface Last {
  code: string;
  at: number;
  shown: Shown;
}

export class Echoes {
  readonly #clock: () => number;
  readonly #last = new Map<string, Last>();

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** What was shown for this code a moment ago. */
  answer(reader: string, code: string): Shown | null {
    const last = this.#last.get(reader);
    if (last === undefined || last.code !== code || this.#clock() - last.at > MILLISECONDS) return null;
    last.at = this.#clock();
    return last.shown.again();
  }

  /** Amber is not remembered: whoever shows the code again asks to try again. */
  remember(reader: string, code: string, shown: Shown): void {
    if (shown.colour === "amber") this.#last.delete(reader);
    else this.#last.set(reader, { code, at: this.#clock(), shown });
  }
}
