/** A gate's state, as its screen shows it. */

import type { Device } from "./device.js";
import { formatMoment } from "./moment.js";
import type { Session } from "./session.js";
import type { Rejected } from "./storage/journal.js";
import type { PlaceName } from "./storage/place.js";
import { isPersistent } from "./storage/sources.js";
import type { GateStore } from "./storage/store.js";

/** Times are RFC 3339. */
export interface GateStatus {
  /** null before it is paired. */
  readonly device: Device | null;
  readonly offline_since: string | null;
  /** The service that answered last does not know this device: people have to mend that. The gate asks again. */
  readonly device_unknown: boolean;
  /** Entries of the journal that the service does not have yet. */
  readonly waiting: number;
  readonly last_sequence: number;
  readonly rejected: readonly Rejected[];
  /** How many seconds the machine's clock is ahead: the gate corrects it. */
  readonly clock_offset: number;
  readonly manifest_issued_at: string | null;
  readonly manifest_expires_at: string | null;
  /** How many the manifest knows. */
  readonly cards: number | null;
  /** The place that was found empty or torn at the start, or has failed since. It was made again from the other. */
  readonly lost: PlaceName | null;
  /** Whether the browser promises not to clear the storage when the disk is full. */
  readonly persistent: boolean;
}

export async function statusOf(store: GateStore, session: Session | null): Promise<GateStatus> {
  const { journal, clock, places } = store;
  const [rejected, persistent] = await Promise.all([journal.rejected(), isPersistent()]);
  const manifest = session?.manifests.current ?? null;
  const offline_since = session?.connection.offline_since ?? null;
  return {
    device: session?.device ?? null,
    offline_since: offline_since === null ? null : formatMoment(offline_since),
    device_unknown: session?.connection.unknown ?? false,
    waiting: journal.countWaiting(),
    last_sequence: journal.last_sequence,
    rejected,
    clock_offset: clock.correction / 1000,
    manifest_issued_at: manifest?.header.issued_at ?? null,
    manifest_expires_at: manifest?.header.expires_at ?? null,
    cards: manifest?.size ?? null,
    lost: places.lost,
    persistent,
  };
}
