/** A scan with its code, as it is sent and signed. */

import { Code } from "../decision/code.js";
import { formatMoment } from "../moment.js";
import type { DeviceKey } from "../signing.js";
import type { Sealer } from "./encryption.js";
import type { StoredScan } from "./scan.js";

/** `code` is null when the service has the scan. */
export interface Entry {
  readonly scan: StoredScan;
  readonly code: Code | null;
}

/** Where and by whom a code was scanned. */
export interface ScanPlace {
  event_id: string;
  gate: string;
  scanner_id: string;
}

export async function draftOf(
  code: Code,
  card: string,
  place: ScanPlace,
  at: number,
  sealer: Sealer,
): Promise<Entry> {
  const idempotency_key = crypto.randomUUID();
  const scan: StoredScan = {
    idempotency_key,
    n: 0,
    changed: 0,
    card,
    event_id: place.event_id,
    gate: place.gate,
    scanner_id: place.scanner_id,
    occurred_at: formatMoment(at),
    shown: await sealer.sealJson(code.sent, `scan ${idempotency_key}`),
    was_sent: false,
    verdict: null,
    let_in: false,
    was_seen: false,
    sequence: null,
    admitted: null,
    signature: null,
    uploaded_at: null,
    settled_at: null,
    outcome: null,
    code: null,
    incidents: 0,
  };
  return { scan, code };
}

export async function openedEntry(scan: StoredScan, sealer: Sealer): Promise<Entry> {
  if (scan.shown === null) return { scan, code: null };
  return { scan, code: Code.from(await sealer.openedJson(scan.shown, `scan ${scan.idempotency_key}`)) };
}

/** The scan as every try and the upload send it. */
export function bodyOf({ scan, code }: Entry): Record<string, unknown> {
  if (code === null) throw new Error("The code of a settled scan is gone.");
  const { event_id, gate, scanner_id, occurred_at } = scan;
  return { event_id, gate, scanner_id, ...code.sent, occurred_at };
}

/** As `POST /scans/batch` takes it. */
export function uploadOf(entry: Entry): Record<string, unknown> {
  const { sequence, idempotency_key, admitted, signature } = entry.scan;
  return { sequence, idempotency_key, ...bodyOf(entry), admitted, signature };
}

export async function signed(
  { scan, code }: Entry,
  key: DeviceKey,
  device_id: string,
  sequence: number,
  admitted: boolean,
): Promise<string> {
  if (code === null) throw new Error("The code of a settled scan is gone.");
  const { idempotency_key, event_id, gate, occurred_at } = scan;
  const parts = [idempotency_key, event_id, await code.digest(), gate, occurred_at, String(admitted)];
  return key.signature("svc-journal-1", device_id, String(sequence), ...parts);
}
