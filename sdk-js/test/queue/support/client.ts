/** A service that answers scans, and guests. */

import { AlreadyUsed } from "../../../src/errors.js";
import { asStored } from "../../../src/card/number.js";
import type { ScanResult } from "../../../src/models/scan.js";
import type { ScanQueue } from "../../../src/queue/queue.js";
import type { Verdict } from "../../../src/queue/scan.js";
import type { ScanClient } from "../../../src/queue/sender.js";

export const EVENT = "00000000-0000-0000-0000-00000000e7e7";

export interface Sent {
  event_id: string;
  card: string;
  key: string;
  occurred_at: string;
}

/** A service that activates each card once, and remembers each key. */
export class Client {
  readonly sent: Sent[] = [];
  readonly activations = new Map<string, string>();
  most_at_once = 0;
  fails: (scan: Sent) => Error | null = () => null;
  #at_once = 0;

  readonly scans = { create: (event_id: string, fields: object) => this.#scan(event_id, fields) };

  async #scan(event_id: string, fields: object): Promise<ScanResult> {
    const { card_number, token, idempotency_key, occurred_at } = fields as Record<string, string | undefined>;
    const card = asStored(card_number ?? Buffer.from(token?.split(".")[1] ?? "", "base64url").toString());
    const scan = { event_id, card, key: String(idempotency_key), occurred_at: String(occurred_at) };
    this.sent.push(scan);
    this.most_at_once = Math.max(++this.#at_once, this.most_at_once);
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.#at_once -= 1;
    const error = this.fails(scan);
    if (error !== null) throw error;
    const known = this.activations.get(card);
    if (known !== undefined && known !== scan.key) {
      const details = { activated_at: new Date().toISOString(), gate: "North", scanner_id: "s-1" };
      throw new AlreadyUsed("Used.", { status: 409, code: "already_activated", details });
    }
    this.activations.set(card, scan.key);
    const ticket = { ticket_id: `t-${this.activations.size}`, tier: "vip", category_name: "General" };
    return { ...ticket, replayed: known !== undefined, request_id: "r", idempotency_key: scan.key };
  }

  get asClient(): ScanClient {
    return this as unknown as ScanClient;
  }
}

export const number = (n: number): string => `SVC 0000 0000 ${String(n).padStart(4, "0")}`;
export function token(n: number): string {
  return `SVC1.${Buffer.from(number(n)).toString("base64url")}.1790000000.${"A".repeat(86)}`;
}

export async function verdictsOf(queue: ScanQueue): Promise<Verdict[]> {
  const found: Verdict[] = [];
  for await (const verdict of queue.verdicts()) found.push(verdict);
  return found;
}
