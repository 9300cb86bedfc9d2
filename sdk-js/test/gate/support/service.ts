/**
 * The other end of the wire, as small as it can be: one event, 300 cards, one device. `tests/sdk/javascript/gate` has
 * the real service; here a network must fail between any two steps, thousands of times in a second.
 */

import { verify } from "../../../src/card/ed25519.js";
import { decoded, encoded } from "../../../src/card/base64url.js";
import type { Fetch } from "../../../src/http/transport.js";
import { sha256Hex, utf8 } from "../../../src/gate/bytes.js";
import { cases } from "./cases.js";

export type Network = "up" | "down" | "loses answers";

export interface Received {
  sequence: number;
  idempotency_key: string;
  card_number: string;
  admitted: boolean;
}

interface Body {
  [name: string]: unknown;
}

interface Case {
  name: string;
  manifest: string;
  event_id: string;
}

const FILE = cases<{ public_keys: string[]; cases: Case[] }>("manifest");
const CASE = FILE.cases.find(({ name }) => name === "the first, the last and one between of many");
const URL_OF_SERVICE = "https://gatepass.example";
const DEVICE_ID = "01a1dcb8-0000-7000-8000-000000000001";

export class Service {
  network: Network = "up";
  /** What each entry of the journal said first, by its sequence. */
  readonly entries = new Map<number, Received>();
  /** The key of the scan that used each card's ticket. */
  readonly activations = new Map<string, string>();
  readonly second_admissions: string[] = [];
  status = "paired";
  requests: string[] = [];
  #public_key: Uint8Array<ArrayBuffer> = new Uint8Array();

  readonly url = URL_OF_SERVICE;
  readonly clock = (): Date => new Date(Date.parse("2030-06-15T19:00:00Z") + Math.floor(performance.now()));

  readonly fetch: Fetch = this.through(() => undefined);

  /** `step` is called before a request arrives, and before its answer does. */
  through(step: () => void): Fetch {
    return async (input, init) => {
      step();
      const path = new URL(input).pathname.replace("/api/public/v1", "");
      this.requests.push(path);
      if (this.network === "down") throw new TypeError("fetch failed");
      const body = typeof init.body === "string" ? (JSON.parse(init.body) as Body) : {};
      const answer = await this.#answer(path, body, new Headers(init.headers));
      step();
      if (this.network === "loses answers") throw new TypeError("fetch failed");
      return answer;
    };
  }

  /** The nth guest. Every third is used already. */
  static number(serial: number): string {
    return `SVC 0000 0000 ${String(serial).padStart(4, "0")}`;
  }

  async #answer(path: string, body: Body, headers: Headers): Promise<Response> {
    if (this.status === "revoked") return json({ code: "device_revoked", error: "The device was revoked." }, 401);
    if (path.startsWith("/gate/pair/")) return this.#pair(path, body);
    if (path === "/devices/heartbeat") return json({ data: this.#pulse(body) });
    if (path === "/card/keys") return json({ keys: FILE.public_keys.map(jwk) });
    if (path.endsWith("/manifest")) return this.#manifest(headers);
    if (path === "/scan") return this.#scan(body, headers.get("idempotency-key") ?? "");
    if (path === "/scans/batch") return json({ data: { results: await this.#take(body["entries"] as Body[]) } });
    return json({ code: "not_found", error: "There is no such path." }, 404);
  }

  #pair(path: string, body: Body): Response {
    const paired = { status: "paired", device: this.#device(), key: "svc_live_test" };
    if (path.endsWith("/key")) return json({ data: paired });
    this.#public_key = decoded(String(body["public_key"]));
    return json({ data: { request: "request-1" } });
  }

  #device(): Body {
    return { id: DEVICE_ID, name: "North 2", event_id: CASE?.event_id, gate: "North", status: this.status };
  }

  #pulse(body: Body): Body {
    const now = this.clock();
    const clock_offset_ms = Date.parse(String(body["at"])) - now.getTime();
    return { now: now.toISOString(), device: { ...this.#device(), clock_offset_ms }, settings: {} };
  }

  #manifest(headers: Headers): Response {
    const named = { "x-request-id": "1", "content-type": "application/vnd.gatepass.manifest" };
    if (headers.has("if-none-match")) return new Response(null, { status: 304, headers: named });
    return new Response(Buffer.from(CASE?.manifest ?? "", "base64"), { headers: named });
  }

  #scan(body: Body, key: string): Response {
    const card = String(body["card_number"]);
    const used = this.activations.get(card);
    if (used !== undefined && used !== key) {
      const details = { activated_at: this.clock().toISOString(), gate: "North", scanner_id: "North 2" };
      return json({ code: "already_activated", error: "Used.", details }, 409);
    }
    this.activations.set(card, key);
    return json({ data: { ticket_id: "1", tier: "standard", category_name: "General" } });
  }

  async #take(entries: Body[]): Promise<Body[]> {
    const results: Body[] = [];
    for (const entry of entries) results.push({ sequence: entry["sequence"], ...(await this.#takeOne(entry)) });
    return results;
  }

  async #takeOne(entry: Body): Promise<Body> {
    if (!(await this.#isSigned(entry))) return { outcome: "rejected", code: "invalid_signature" };
    const received: Received = {
      sequence: Number(entry["sequence"]),
      idempotency_key: String(entry["idempotency_key"]),
      card_number: String(entry["card_number"]),
      admitted: entry["admitted"] === true,
    };
    const known = this.entries.get(received.sequence);
    if (known !== undefined && known.idempotency_key !== received.idempotency_key) {
      return { outcome: "rejected", code: "sequence_reused" };
    }
    if (known !== undefined && known.admitted !== received.admitted) throw new Error("An entry was changed.");
    this.entries.set(received.sequence, received);
    if (!received.admitted) return { outcome: "recorded", incidents: [] };
    const used = this.activations.get(received.card_number) ?? received.idempotency_key;
    this.activations.set(received.card_number, used);
    if (used === received.idempotency_key) return { outcome: "activated", incidents: [] };
    if (known === undefined) this.second_admissions.push(received.card_number);
    return { outcome: "recorded", incidents: [{ kind: "duplicate" }] };
  }

  async #isSigned(entry: Body): Promise<boolean> {
    const digest = await sha256Hex(utf8(String(entry["card_number"])));
    const parts = ["svc-journal-1", DEVICE_ID, entry["sequence"], entry["idempotency_key"], entry["event_id"], digest];
    const signed = [...parts, entry["gate"], entry["occurred_at"], entry["admitted"]].join("\n");
    return verify(this.#public_key, utf8(signed), decoded(String(entry["signature"])));
  }
}

function jwk(key: string): Body {
  return { kty: "OKP", crv: "Ed25519", x: encoded(Uint8Array.from(Buffer.from(key, "hex"))) };
}

function json(value: Body, status = 200): Response {
  return Response.json(value, { status, headers: { "x-request-id": "1" } });
}
