/** The screen stays on while the scanner is shown, where the browser lets it. */

let held: WakeLockSentinel | null = null;
let isWanted = false;

export function stayAwake(wanted: boolean): void {
  isWanted = wanted;
  if (wanted) void hold();
  else void held?.release();
}

/** A page that was hidden has lost it. */
export function followWakeLock(): void {
  document.addEventListener("visibilitychange", () => {
    if (isWanted) void hold();
  });
}

async function hold(): Promise<void> {
  if (document.hidden || !("wakeLock" in navigator) || (held !== null && !held.released)) return;
  try {
    held = await navigator.wakeLock.request("screen");
  } catch {
    // The battery is low, or the browser does not allow it: the screen goes dark as always.
  }
}
