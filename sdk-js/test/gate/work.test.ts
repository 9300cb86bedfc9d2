/** What a gate does in the background, and what must not end it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { GateCalls } from "../../src/gate/calls.js";
import { Gate } from "../../src/gate/index.js";
import { Settings } from "../../src/http/settings.js";
import { Places } from "./support/places.js";
import { Service } from "./support/service.js";

test("what nobody expected ends no work", async (t) => {
  const said = t.mock.method(console, "error", () => undefined);
  const [service, places] = [new Service(), new Places()];
  let faults = 0;
  const clock = (): Date => {
    if (faults-- > 0) throw new RangeError("once");
    return service.clock();
  };
  const gate = await Gate.open({ places: places.factories, fetch: service.fetch, clock });
  await gate.pair("A7K3-9QXM-2P", { url: service.url, name: "North 2" });
  await gate.refresh();
  service.network = "down";
  await gate.scan(Service.number(1));
  service.network = "up";
  faults = 1;
  const ending = new AbortController();
  const working = gate.work(ending.signal);
  while ((await gate.status()).waiting > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  ending.abort();
  await working;
  gate.close();
  assert.equal(said.mock.callCount(), 1);
});

test("the word that the manifest must be fetched again has no body", async () => {
  const stream = "event: whole\ndata: {}\n\nevent: changes\ndata: AQID\n\n";
  const fetch = async (): Promise<Response> =>
    new Response(stream, { status: 200, headers: { "Content-Type": "text/event-stream" } });
  const calls = new GateCalls(Settings.of({ api_key: "svc_live_a", base_url: "https://gatepass.example" }), fetch);
  const told: [string, number[]][] = [];
  for await (const [name, body] of calls.changes("event", "cursor", new AbortController().signal)) {
    told.push([name, [...body]]);
  }
  assert.deepEqual(told, [
    ["whole", []],
    ["changes", [1, 2, 3]],
  ]);
});
