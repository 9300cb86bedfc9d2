/** The calls of a device: scans, heartbeats, uploads, manifests. */

import {
  APIConnectionError,
  APIStatusError,
  AuthenticationError,
  DeviceRevoked,
  DeviceUnknown,
  WrongCell,
} from "../errors.js";
import {
  type Answer,
  type Call,
  isObject,
  type JsonObject,
  MANIFEST_TYPE,
  NOT_MODIFIED,
  Unreadable,
} from "../http/call.js";
import { Exchange } from "../http/exchange.js";
import { DEFAULT_POLICY } from "../http/retry.js";
import type { Settings } from "../http/settings.js";
import type { Fetch } from "../http/transport.js";
import { VERSION } from "../version.js";
import type { KnownDevice } from "./device.js";
import { formatMoment, readMoment } from "./moment.js";
import { ACTIVATED } from "./decision/rules.js";
import { bodyOf, type Entry, uploadOf } from "./storage/entry.js";
import type { EntryResult } from "./storage/journal.js";

export const APP = `gatepass-sdk-js/${VERSION}`;
// Seconds. A guest at a door waits no longer; then the device decides.
export const ANSWER_SECONDS = 1.5;
// A connection that was closed while nobody used it fails once. A network that fails at once is down: the guest does
// not wait until the time is over.
const SCAN_RETRIES = 1;
// The next one comes soon, and the screen is to say that there is no network. Once it does, one try is enough.
const HEARTBEAT_RETRIES = 2;
// Two megabytes over a bad network.
const MANIFEST_SECONDS = 60;
const JSON_SECONDS = 10;
// What the service says of a scan that it has judged, and what it says with these statuses of a call that it has not.
// `idempotency_key_reused` is a verdict: the scan was uploaded before this try of it came, and used no ticket.
const VERDICT_STATUSES: ReadonlySet<number> = new Set([400, 404, 409, 410, 422]);
const NOT_JUDGED: ReadonlySet<string> = new Set(["invalid_request", "not_found"]);

/** The verdict of the service: `activated`, or the code of a refusal with its details. */
export interface ScanAnswer {
  verdict: string;
  tier: string | null;
  category: string | null;
  details: Readonly<JsonObject>;
}

/** The answer to a heartbeat. Who paired the device is left out: a gate keeps no names. */
export interface Pulse {
  now: number;
  measured_ms: number | null;
  device: KnownDevice;
  answer_within: number;
}

/** The result of each entry, and the gaps that the service sees in the sequence. */
export interface UploadAnswer {
  results: EntryResult[];
  missing: [number, number][];
}

export class GateCalls {
  readonly #exchange: Exchange;

  constructor(settings: Settings, fetch?: Fetch) {
    const policy = { deadline: JSON_SECONDS, scan_deadline: ANSWER_SECONDS, try_timeout: JSON_SECONDS };
    this.#exchange = new Exchange(settings, fetch, { ...DEFAULT_POLICY, ...policy });
  }

  /** Throws what is no verdict on the card: no answer, a key that has ended, a fault. */
  async scan(entry: Entry, within: number): Promise<ScanAnswer> {
    const policy = { scan_deadline: within, try_timeout: within, max_retries: SCAN_RETRIES };
    const exchange = this.#exchange.withPolicy(policy);
    const { idempotency_key } = entry.scan;
    try {
      return await ask(exchange, post("/scan", readTicket, bodyOf(entry), { idempotency_key, is_scan: true }));
    } catch (error) {
      if (!(error instanceof APIStatusError) || error.code === null || !isVerdict(error.status, error.code)) throw error;
      return { verdict: error.code, tier: null, category: null, details: error.details };
    }
  }

  heartbeat(at: number, queued: number, is_offline: boolean): Promise<Pulse> {
    const exchange = this.#exchange.withPolicy({ max_retries: is_offline ? 0 : HEARTBEAT_RETRIES });
    return ask(exchange, post("/devices/heartbeat", readPulse, { at: formatMoment(at), queued, app: APP }));
  }

  upload(entries: readonly Entry[]): Promise<UploadAnswer> {
    return ask(this.#exchange, post("/scans/batch", readResults, { entries: entries.map(uploadOf) }));
  }

  /** A JWK set. */
  cardKeys(): Promise<JsonObject> {
    return ask(this.#exchange, { method: "GET", path: "/card/keys", read: readKeySet });
  }

  /** The manifest, or what changed in it after this cursor; null if nothing did. */
  manifest(event_id: string, after: string | null, state: string | null): Promise<Uint8Array | null> {
    const exchange = this.#exchange.withPolicy({
      deadline: MANIFEST_SECONDS,
      try_timeout: MANIFEST_SECONDS,
      max_retries: 0,
    });
    return ask(exchange, {
      method: "GET",
      path: pathOf(event_id),
      read: readManifest,
      ...(after !== null && { query: { after } }),
      ...(state !== null && { if_none_match: `"${state}"` }),
    });
  }

  /** The stream of changes: `changes` with their body, and `whole` if the manifest must be fetched again. */
  async *changes(event_id: string, after: string, signal: AbortSignal): AsyncGenerator<[string, Uint8Array], void> {
    try {
      for await (const [name, data] of this.#exchange.following(`${pathOf(event_id)}/stream`, { after }, signal)) {
        // `whole` has none: it says that the manifest must be fetched again.
        yield [name, name === "changes" ? fromBase64(data) : new Uint8Array()];
      }
    } catch (error) {
      throw meant(error);
    }
  }
}

async function ask<T>(exchange: Exchange, call: Call<T>): Promise<T> {
  try {
    return await exchange.ask(call);
  } catch (error) {
    throw meant(error);
  }
}

/** A key that is not accepted may be the fault of the service that was asked: only one word says that it ended. */
function meant(error: unknown): unknown {
  const is_refused = error instanceof AuthenticationError || error instanceof WrongCell;
  if (!is_refused || error instanceof DeviceRevoked) return error;
  return new DeviceUnknown(`The service that answered does not know this device: ${error.message}`, { cause: error });
}

/** Whether the scan was judged. A code that this version does not know is a verdict too: it is red. */
function isVerdict(status: number, code: string): boolean {
  return VERDICT_STATUSES.has(status) && !NOT_JUDGED.has(code);
}

function post<T>(path: string, read: (answer: Answer) => T, body: object, more: Partial<Call<T>> = {}): Call<T> {
  return { method: "POST", path, read, body, ...more };
}

function pathOf(event_id: string): string {
  return `/events/${encodeURIComponent(event_id)}/manifest`;
}

function readTicket(answer: Answer): ScanAnswer {
  const ticket = answer.value["data"];
  if (!isObject(ticket) || typeof ticket["ticket_id"] !== "string") throw new Unreadable("a ticket was expected");
  return { verdict: ACTIVATED, tier: text(ticket["tier"]), category: text(ticket["category_name"]), details: {} };
}

function readPulse(answer: Answer): Pulse {
  const data = answer.value["data"];
  const device = isObject(data) ? data["device"] : null;
  const now = isObject(data) && typeof data["now"] === "string" ? readMoment(data["now"]) : null;
  if (!isObject(data) || !isObject(device) || now === null) throw new Unreadable("a heartbeat was expected");
  const within = isObject(data["settings"]) ? data["settings"]["answer_within_ms"] : null;
  const offset = device["clock_offset_ms"];
  return {
    now,
    measured_ms: typeof offset === "number" ? offset : null,
    device: {
      id: text(device["id"]),
      name: text(device["name"]),
      event_id: text(device["event_id"]),
      gate: text(device["gate"]),
      status: text(device["status"]),
    },
    answer_within: typeof within === "number" && within > 0 ? within / 1000 : ANSWER_SECONDS,
  };
}

function readResults(answer: Answer): UploadAnswer {
  const data = answer.value["data"];
  if (!isObject(data) || !Array.isArray(data["results"])) throw new Unreadable("results were expected");
  const missing = Array.isArray(data["missing"]) ? data["missing"] : [];
  return { results: data["results"].filter(isObject), missing: missing.map(([first, last]) => [first, last]) };
}

function readKeySet(answer: Answer): JsonObject {
  if (!Array.isArray(answer.value["keys"])) throw new Unreadable("a set of keys was expected");
  return answer.value;
}

function readManifest(answer: Answer): Uint8Array | null {
  if (answer.status === NOT_MODIFIED) return null;
  if (answer.headers.get("content-type")?.split(";")[0] !== MANIFEST_TYPE) {
    throw new Unreadable("a manifest was expected");
  }
  return answer.content;
}

function fromBase64(data: string): Uint8Array {
  try {
    return Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  } catch (cause) {
    throw new APIConnectionError("The stream of changes broke. It is opened again.", { cause });
  }
}

const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
