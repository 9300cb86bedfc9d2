/**
 * Scans through a bad network. It reads a plan from its input, and prints how each scan ended, as JSON.
 *
 * With a mutant it is a client that lies, to show that the test would catch one.
 */

import { readFileSync, writeSync } from "node:fs";
import { APIStatusError, GatepassError, type ScanResult } from "../../../sdk-js/src/index.js";
import { Answer } from "../../../sdk-js/src/http/call.js";
import { Exchange } from "../../../sdk-js/src/http/exchange.js";
import { Tries } from "../../../sdk-js/src/http/retry.js";
import { Settings } from "../../../sdk-js/src/http/settings.js";
import type { Fetch } from "../../../sdk-js/src/http/transport.js";
import { Scans, scanBody } from "../../../sdk-js/src/resources/scans.js";

interface Plan {
  base_url: string;
  api_key: string;
  event_id: string;
  scan_deadline: number;
  try_timeout: number;
  gates: number;
  mutant: "new keys" | "asks again about 409" | "any 200 is a yes" | null;
  scans: { card_number: string; gate: string; idempotency_key: string | null }[];
}

interface Ended {
  result: ScanResult | null;
  error: { name: string; message: string; status: number | null; code: string | null } | null;
  idempotency_key: string | null;
  outcome_unknown: boolean;
  seconds: number;
}

const plan = JSON.parse(readFileSync(0, "utf8")) as Plan;

/** Until when the try that got a complete 409 had time, by its key; and the keys that were asked about again. */
const refused = new Map<string, number>();
const again: string[] = [];

const watched: Fetch = async (input, init) => {
  const headers = init.headers as Headers;
  const key = headers.get("idempotency-key") ?? "";
  if (performance.now() < (refused.get(key) ?? 0)) again.push(key);
  const began = performance.now();
  const response = await fetch(input, init);
  if (response.status === 409 && response.headers.has("x-fault")) refused.set(key, began + plan.try_timeout * 1000);
  return response;
};

const forgetful: Fetch = (input, init) => {
  const headers = new Headers(init.headers);
  headers.set("idempotency-key", crypto.randomUUID());
  return watched(input, { ...init, headers });
};

if (plan.mutant === "asks again about 409") {
  const afterRefusal = Tries.prototype.afterRefusal;
  const stubborn = new WeakSet<Tries>();
  Tries.prototype.afterRefusal = function (answer) {
    if (answer.status !== 409 || stubborn.has(this)) return afterRefusal.call(this, answer);
    stubborn.add(this);
    return 0.01;
  };
}
if (plan.mutant === "any 200 is a yes") Object.defineProperty(Answer.prototype, "is_from_service", { get: () => true });

const exchange = new Exchange(
  Settings.of({ api_key: plan.api_key, base_url: plan.base_url }),
  plan.mutant === "new keys" ? forgetful : watched,
).withPolicy({ scan_deadline: plan.scan_deadline, try_timeout: plan.try_timeout });
const scans = new Scans(exchange);

async function scan({ card_number, gate, idempotency_key }: Plan["scans"][number]): Promise<ScanResult> {
  const fields = { card_number, gate, scanner_id: "async" };
  if (plan.mutant !== "any 200 is a yes") return scans.create(plan.event_id, { ...fields, idempotency_key });
  const key = crypto.randomUUID();
  const nobody = {
    ticket_id: "",
    tier: "",
    category_name: "",
    replayed: false,
    request_id: null,
    idempotency_key: key,
  };
  const body = scanBody(plan.event_id, fields);
  return exchange.ask({ method: "POST", path: "/scan", read: () => nobody, body, idempotency_key: key, is_scan: true });
}

async function ended(one: Plan["scans"][number]): Promise<Ended> {
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  try {
    const result = await scan(one);
    return { result, error: null, idempotency_key: result.idempotency_key, outcome_unknown: false, seconds: seconds() };
  } catch (error) {
    if (!(error instanceof GatepassError)) throw error;
    const { status, code } = error instanceof APIStatusError ? error : { status: null, code: null };
    const { name, message, idempotency_key, outcome_unknown } = error;
    return {
      result: null,
      error: { name, message, status, code },
      idempotency_key,
      outcome_unknown,
      seconds: seconds(),
    };
  }
}

/** How late the machine wakes somebody who only sleeps, in seconds: the most in the time of one scan. */
let stall = 0;
const TICK = 10;
// A call sleeps and wakes several times, so that it may be late more than once.
const COUNTED = 20;
let woken = performance.now();
let lateness: { at: number; late: number }[] = [];
const meter = setInterval(() => {
  const at = performance.now();
  const late = at - woken - TICK;
  woken = at;
  if (late < COUNTED) return;
  lateness = [...lateness.filter((one) => one.at > at - plan.scan_deadline * 1000 - late), { at, late }];
  stall = Math.max(stall, lateness.reduce((sum, one) => sum + one.late, 0) / 1000);
}, TICK);

const all: Ended[] = [];
const waiting = plan.scans.entries();

async function gate(): Promise<void> {
  for (const [n, one] of waiting) all[n] = await ended(one);
}

await Promise.all(Array.from({ length: plan.gates }, gate));
clearInterval(meter);
writeSync(1, JSON.stringify({ scans: all, again, stall }));
