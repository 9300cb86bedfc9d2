/** Devices at the gates. */

import { integer, maybe, moment, type OneOf, shape, text } from "../decode.js";

/** A phone or a reader at a gate. */
export interface Device {
  id: string;
  name: string;
  event_id: string;
  gate: string;
  status: OneOf<"paired" | "retired" | "revoked">;
  paired_at: string;
  paired_by: string;
  last_seen_at: string | null;
  /** The scans that waited on it at its last heartbeat. */
  queued: number | null;
  /** By how much its clock was ahead of the service's. */
  clock_offset_ms: number | null;
  app: string | null;
}

export const device = shape<Device>({
  id: text,
  name: text,
  event_id: text,
  gate: text,
  status: text,
  paired_at: moment,
  paired_by: text,
  last_seen_at: maybe(moment),
  queued: maybe(integer),
  clock_offset_ms: maybe(integer),
  app: maybe(text),
});

/** The times of a device's event. Without `doors_open_at` the doors are open. */
export interface DeviceEvent {
  ends_at: string;
  doors_open_at: string | null;
}

/** How a device decides. */
export interface DeviceSettings {
  /** Whom it admits without a network. */
  offline: OneOf<"manifest" | "signature" | "stop">;
  answer_within_ms: number;
}

/** The answer to a heartbeat: the service's time, and what the device works for. */
export interface Heartbeat {
  now: string;
  device: Device;
  event: DeviceEvent | null;
  settings: DeviceSettings;
}

export const heartbeat = shape<Heartbeat>({
  now: moment,
  device,
  event: maybe(shape<DeviceEvent>({ ends_at: moment, doors_open_at: maybe(moment) })),
  settings: shape<DeviceSettings>({ offline: text, answer_within_ms: integer }),
});
