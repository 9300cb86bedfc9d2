/** A gate with a queue in a file: it adds scans, drains them, and tells each step. It is killed at any moment. */

import { readFileSync, writeSync } from "node:fs";
import { Gatepass } from "../../../../sdk-js/src/index.js";
import { ScanQueue, type Verdict } from "../../../../sdk-js/src/queue/node.js";

interface Plan {
  path: string;
  api_key: string;
  base_url: string;
  event_id: string;
  /** The number and the token of each guest. */
  guests: [n: number, token: string][];
}

// At once, so that what was said is not lost with the process.
const say = (what: string, value: unknown): void => void writeSync(1, `${JSON.stringify([what, value])}\n`);

const { path, api_key, base_url, event_id, guests } = JSON.parse(readFileSync(0, "utf8")) as Plan;
const client = new Gatepass({ api_key, base_url });
const queue = await ScanQueue.open(path);
say("opened", await queue.waiting());
const on_verdict = ({ id, card, status }: Verdict): void => say("verdict", { id, card, status });
for (const [n, token] of guests) {
  const id = await queue.add(event_id, { token, scanner_id: "s-1", gate: "North" });
  say("added", { n, id });
  if (n % 4 === 3) await queue.drain(client, { on_verdict });
}
const { waiting } = await queue.drain(client, { on_verdict });
say("ended", waiting);
await queue.close();
