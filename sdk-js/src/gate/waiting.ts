/** Waiting that ends early: when the work ends, or when there is a reason to try at once. */

/** Wait so many seconds. False if the signal ended it. */
export function wait(seconds: number, signal: AbortSignal, sooner?: Wake): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      sooner?.remove(end);
      resolve(!signal.aborted);
    };
    const timer = setTimeout(end, seconds * 1000);
    signal.addEventListener("abort", end);
    sooner?.add(end);
    if (signal.aborted) end();
  });
}

/** Wakes all who wait: the browser has a network again, the page is looked at again, or the device is paired. */
export class Wake {
  readonly #waiting = new Set<() => void>();

  add(end: () => void): void {
    this.#waiting.add(end);
  }

  remove(end: () => void): void {
    this.#waiting.delete(end);
  }

  all(): void {
    for (const end of [...this.#waiting]) end();
  }
}

/** Call this when the browser has a network again, or the page is looked at again. Returns what ends that. */
export function onReturn(call: () => void): () => void {
  const page = globalThis.document as Document | undefined;
  const shown = (): void => {
    if (page?.visibilityState === "visible") call();
  };
  globalThis.addEventListener?.("online", call);
  page?.addEventListener("visibilitychange", shown);
  return () => {
    globalThis.removeEventListener?.("online", call);
    page?.removeEventListener("visibilitychange", shown);
  };
}
