// A code that is held before the camera is one sighting, however many frames it is in.

// A hand that shakes, or a frame that is blurred, loses a code for less than this.
const GONE_MS = 1000;

export class Sightings {
  #seen = new Map<string, number>();
  #stopped: number | null = null;

  // Whether this code is to be reported: it was not seen within the last second.
  isNew(text: string, now: number): boolean {
    for (const [key, at] of this.#seen) if (now - at > GONE_MS) this.#seen.delete(key);
    const key = identity(text);
    const isKnown = this.#seen.has(key);
    this.#seen.set(key, now);
    return !isKnown;
  }

  // While a result is shown nobody looks, so nothing is gone: the code that is still there is not a second guest.
  stop(now: number): void {
    this.#stopped ??= now;
  }

  go(now: number): void {
    if (this.#stopped === null) return;
    const passed = now - this.#stopped;
    this.#stopped = null;
    for (const [key, at] of this.#seen) this.#seen.set(key, at + passed);
  }
}

// A phone that is held still shows another code every few seconds, of the same certificate.
function identity(text: string): string {
  return text.startsWith("SVC2.") ? text.split(".", 2).join(".") : text;
}
