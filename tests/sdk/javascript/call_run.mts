/** Calls of every resource, as `test_requests.py` lists them: what each sends is looked at on the other side. */

import { readFileSync, writeSync } from "node:fs";
import { Gatepass, GatepassError } from "../../../sdk-js/src/index.js";

interface Plan {
  base_url: string;
  api_key: string;
  calls: { resource: string; method: string; given: unknown[] }[];
}

type Method = (...given: unknown[]) => unknown;

const plan = JSON.parse(readFileSync(0, "utf8")) as Plan;
const client = new Gatepass({ api_key: plan.api_key, base_url: plan.base_url, max_retries: 0 });
const resources = client as unknown as Record<string, Record<string, Method>>;

for (const { resource, method, given } of plan.calls) {
  try {
    const result = resources[resource]?.[method]?.(...given);
    if (result instanceof Promise) await result;
    else await (result as AsyncIterable<unknown>)[Symbol.asyncIterator]().next();
  } catch (error) {
    if (!(error instanceof GatepassError)) throw error;
  }
}

/** The methods of each resource. */
const names = Object.fromEntries(
  Object.entries(resources).map(([name, resource]) => [
    name,
    Object.getOwnPropertyNames(Object.getPrototypeOf(resource)).filter((method) => method !== "constructor"),
  ]),
);
writeSync(1, JSON.stringify(names));
