/** The small parts of a gate: echoes, its clock, its connection, its turns. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { APITimeoutError } from "../../src/errors.js";
import { GateClock } from "../../src/gate/clock.js";
import { Connection } from "../../src/gate/connection.js";
import { Device } from "../../src/gate/device.js";
import { Echoes } from "../../src/gate/echo.js";
import { readMoment } from "../../src/gate/moment.js";
import { canonicalCode, rootOf } from "../../src/gate/pairing/pairing.js";
import { firstOf, Shown } from "../../src/gate/shown.js";
import { TurnsByName } from "../../src/gate/turns.js";

test("the same code at the same reader is an echo for 3 s, from the last reading on", () => {
  let now = 0;
  const echoes = new Echoes(() => now);
  echoes.remember("a", "code", Shown.of("activated"));
  now = 3_000;
  assert.equal(echoes.answer("a", "code")?.echo, true);
  now = 6_000;
  assert.equal(echoes.answer("a", "code")?.colour, "green");
  assert.equal(echoes.answer("b", "code"), null);
  assert.equal(echoes.answer("a", "another"), null);
  now = 9_001;
  assert.equal(echoes.answer("a", "code"), null);
  echoes.remember("a", "code", Shown.of("no_manifest"));
  assert.equal(echoes.answer("a", "code"), null);
});

test("a clock is corrected by more than 3 s", () => {
  const clock = new GateClock(() => 100_000);
  assert.equal(clock.corrected(3_000), false);
  assert.equal(clock.corrected(-10_000), true);
  assert.equal(clock.now(), 110_000);
});

test("after a call without an answer the next one waits 5 s, and none waits where heartbeats watch", async () => {
  let now = 0;
  const connection = new Connection(() => now);
  assert.equal(connection.is_worth_a_try, true);
  connection.failed(1);
  connection.failed(2);
  assert.deepEqual([connection.offline_since, connection.is_worth_a_try], [1, false]);
  now = 5_000;
  assert.equal(connection.is_worth_a_try, true);
  connection.is_watched = true;
  assert.equal(connection.is_worth_a_try, false);
  connection.works();
  assert.equal(connection.is_worth_a_try, true);
  await assert.rejects(() => connection.within(0.01, () => new Promise(() => undefined)), APITimeoutError);
  assert.equal(await connection.within(1, async () => 7), 7);
});

test("two who want the same take turns, others do not wait", async () => {
  const turns = new TurnsByName();
  const order: string[] = [];
  let end: () => void = () => undefined;
  const first = turns.take("card", async () => {
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    order.push("first");
  });
  const second = turns.take("card", async () => void order.push("second"));
  await turns.take("another", async () => void order.push("another"));
  end();
  await Promise.all([first, second]);
  assert.deepEqual(order, ["another", "first", "second"]);
  await assert.rejects(() => turns.take("card", () => Promise.reject(new Error("no"))), /no/);
  assert.equal(await turns.take("card", async () => 1), 1);
});

test("what the screen shows", () => {
  assert.deepEqual([Shown.of("activated").word, Shown.of("activated").admitted], ["ENTER", true]);
  assert.deepEqual([Shown.of("was_admitted").colour, Shown.of("wrong_gate").colour], ["amber", "red"]);
  assert.equal(Shown.of("a later code").word, "STOP");
  assert.equal(Shown.of("constructor").colour, "red");
  assert.equal(firstOf({}), null);
  const first = firstOf({ activated_at: "2030-06-15T19:00:00Z", gate: "North" });
  assert.deepEqual(first, { at: "2030-06-15T19:00:00Z", gate: "North", scanner_id: null });
});

test("a device is moved by what the service says, and does not show its key", () => {
  const known = { id: "1", name: "🎪".repeat(70), event_id: "e", gate: "North" };
  const device = Device.of(known, { url: "https://gatepass.example", api_key: "svc_live_secret" });
  assert.equal([...device.scanner_id].length, 64);
  const moved = device.moved({ gate: "South", name: null });
  assert.deepEqual([moved.gate, moved.name, moved.api_key], ["South", device.name, "svc_live_secret"]);
  assert.equal(device.equals(moved), false);
  assert.ok(!JSON.stringify(device).includes("svc_live_secret"));
});

test("moments have microseconds, and an offset", () => {
  const [one, other] = [readMoment("2030-06-15T20:00:00.000001Z"), readMoment("2030-06-15T22:00:00+02:00")];
  assert.ok(one !== null && other !== null && one > other);
  const texts = ["2030-06-15T20:00:00", "2030-06-15", "", "2030-13-15T20:00:00Z"];
  for (const text of texts) assert.equal(readMoment(text), null);
});

test("a code and an address as somebody types them", () => {
  assert.equal(canonicalCode("a7k-39 qxm2p "), "A7K39QXM2P");
  assert.equal(rootOf("https://gatepass.example/api/public/v1/"), "https://gatepass.example");
  assert.equal(rootOf("http://127.0.0.1:8000"), "http://127.0.0.1:8000");
  assert.throws(() => rootOf("http://gatepass.example"), /plain text/);
});
