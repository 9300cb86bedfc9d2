/** What a gate decides without the service. */

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { readCode } from "../../src/gate/decision/code.js";
import { type Decision, decide } from "../../src/gate/decision/decision.js";
import type { Manifest } from "../../src/gate/manifest/manifest.js";
import { momentOf } from "../../src/gate/moment.js";
import { TestEvent } from "./support/event.js";

const [KNOWN, USED, STRANGER] = ["SVC 0000 0000 0001", "SVC 0000 0000 0002", "SVC 0000 0000 0009"];
const NOW = momentOf("2030-06-15T19:30:00Z");
const CARDS: Record<string, [number, number]> = { [KNOWN]: [0, 0], [USED]: [0, 1] };
const LATER = "2030-06-16T00:00:00Z";

let event: TestEvent;
before(async () => {
  event = await TestEvent.create();
});

async function decided(manifest: Manifest | null, shown: string, is_used_here = false): Promise<Decision> {
  const code = readCode(shown);
  assert.ok(code !== null, shown);
  return decide(manifest, code, { at: NOW, gate: "North", is_used_here });
}

for (const [offline, known, unknown, typed] of [
  ["manifest", "activated", "card_not_found", "card_not_found"],
  ["signature", "activated", "activated", "card_not_found"],
  ["stop", "online_only", "online_only", "online_only"],
] as const) {
  test(`an event that admits by ${offline}`, async () => {
    const manifest = await event.manifest({ event: { offline }, cards: CARDS });
    assert.equal((await decided(manifest, await event.token(KNOWN, LATER))).verdict, known);
    assert.equal((await decided(manifest, await event.token(STRANGER, LATER))).verdict, unknown);
    assert.equal((await decided(manifest, STRANGER)).verdict, typed);
    const forged = `${(await event.token(KNOWN, LATER)).slice(0, -8)}AAAAAAAA`;
    assert.equal((await decided(manifest, forged)).verdict, offline === "stop" ? "online_only" : "invalid_token");
  });
}

test("without a manifest nobody is admitted", async () => {
  assert.equal((await decided(null, KNOWN)).verdict, "no_manifest");
});

test("who was let in here is not let in again, whatever the manifest knows", async () => {
  const manifest = await event.manifest({ event: { offline: "signature" }, cards: CARDS });
  assert.equal((await decided(manifest, USED)).verdict, "already_activated");
  assert.equal((await decided(manifest, KNOWN, true)).verdict, "already_activated");
  assert.equal((await decided(manifest, await event.token(STRANGER, LATER), true)).verdict, "already_activated");
});

test("a token that has ended, and one that a phone could have made", async () => {
  const manifest = await event.manifest({ event: { codes: "phone" }, cards: CARDS });
  for (const [ends, verdict] of [
    ["19:30:00", "expired"],
    ["19:32:00", "activated"],
    ["19:32:01", "static_code_refused"],
  ]) {
    const token = await event.token(KNOWN, `2030-06-15T${ends}Z`);
    assert.equal((await decided(manifest, token)).verdict, verdict);
  }
  assert.equal((await decided(manifest, KNOWN)).verdict, "static_code_refused");
});

test("a refusal has the details of the service, and the category", async () => {
  const valid_from = "2030-06-15T20:00:00Z";
  const categories = [{ gates: ["South"] }, { valid_from, name: "Late" }];
  const manifest = await event.manifest({ categories, cards: { [KNOWN]: [0, 0], [USED]: [1, 0] } });
  const elsewhere = await decided(manifest, KNOWN);
  assert.deepEqual([elsewhere.verdict, elsewhere.details], ["wrong_gate", { gates: ["South"] }]);
  assert.deepEqual([elsewhere.category, elsewhere.tier], ["General", "vip"]);
  const early = await decided(manifest, USED);
  assert.deepEqual([early.verdict, early.category], ["outside_window", "Late"]);
  assert.deepEqual(early.details, { valid_from, valid_until: null });
  const doors_open_at = "2030-06-15T19:30:00.000001Z";
  const closed = await decided(await event.manifest({ event: { doors_open_at }, cards: CARDS }), KNOWN);
  assert.deepEqual([closed.verdict, closed.details], ["doors_closed", { doors_open_at }]);
});

test("a card whose category the header does not name has no ticket", async () => {
  const manifest = await event.manifest({ cards: { [KNOWN]: [9, 0] } });
  assert.equal((await decided(manifest, KNOWN)).verdict, "ticket_not_found");
});
