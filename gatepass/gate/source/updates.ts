/** New versions of the app. One is fetched as soon as it is served, and used when nobody is scanning: never in between. */

// A phone that stays open for days asks too.
const ASK_EVERY = 15 * 60_000;
// Nobody has shown a code for so long.
const QUIET = 20_000;

export async function followUpdates(isQuiet: () => boolean): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const registration = await navigator.serviceWorker.register("/gate/sw.js", { scope: "/gate", updateViaCache: "none" });
  const isFirst = navigator.serviceWorker.controller === null;
  let reloads = !isFirst;
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    // The first worker takes the page as it is.
    if (reloads) location.reload();
    reloads = true;
  });
  const offer = (): void => {
    if (registration.waiting !== null && isQuiet()) registration.waiting.postMessage("take over");
  };
  const ask = (): void => void registration.update().catch(() => undefined);
  offer();
  setInterval(ask, ASK_EVERY);
  setInterval(offer, QUIET / 4);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) ask();
    else offer();
  });
}

export class Quiet {
  #last = -QUIET;

  /** Somebody has shown a code, or pressed something. */
  broken(): void {
    this.#last = performance.now();
  }

  get holds(): boolean {
    return document.hidden || performance.now() - this.#last >= QUIET;
  }
}
