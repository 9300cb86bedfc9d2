/** What a person has chosen on this phone. It has nothing of a guest, and of the pairing only that there was one. */

export interface Preferences {
  sound: boolean;
  vibration: boolean;
  /** Empty: as the phone. */
  language: string;
  /** The id of a camera; empty: the one at the back; "off": none. */
  camera: string;
  /** Whether this device was paired: if the pairing is gone one day, the app can say so. */
  paired: boolean;
}

const PLACE = "gatepass-scanner";
const FIRST: Preferences = { sound: true, vibration: true, language: "", camera: "", paired: false };

export const preferences: Preferences = { ...FIRST, ...read() };

export function prefer(chosen: Partial<Preferences>): void {
  Object.assign(preferences, chosen);
  try {
    localStorage.setItem(PLACE, JSON.stringify(preferences));
  } catch {
    // A browser that keeps nothing: the choice lasts until the app is closed.
  }
}

function read(): Partial<Preferences> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(PLACE) ?? "{}");
    return typeof kept === "object" && kept !== null ? kept : {};
  } catch {
    return {};
  }
}
