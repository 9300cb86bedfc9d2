/** What a gate keeps in its two places, and what it does when one of them fails. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { inspect } from "node:util";
import { Gate, GateInUse, QueueError } from "../../src/gate/index.js";
import { Life, type Name, Places } from "./support/places.js";
import { Service } from "./support/service.js";

const NAMES: Name[] = ["main", "mirror"];

let service: Service;
let places: Places;
let opened: Gate[];

beforeEach(() => {
  [service, places, opened] = [new Service(), new Places(), []];
});
afterEach(() => {
  for (const gate of opened) gate.close();
});

async function open(through = places.factories): Promise<Gate> {
  const gate = await Gate.open({ places: through, fetch: service.fetch, clock: service.clock });
  opened.push(gate);
  return gate;
}

async function paired(): Promise<Gate> {
  const gate = await open();
  await gate.pair("A7K3-9QXM-2P", { url: service.url, name: "North 2" });
  await gate.refresh();
  service.network = "down";
  return gate;
}

/** Nobody else can write to this place until it is let go. */
async function held(name: Name): Promise<() => void> {
  const [{ name: database } = { name: "" }] = await places.factories[name].databases();
  const request = places.factories[name].open(database ?? "");
  await new Promise((resolve) => request.addEventListener("success", resolve));
  const store = request.result.transaction("scan", "readwrite").objectStore("scan");
  let is_held = true;
  const hold = (): void => {
    if (is_held) store.get("nothing").addEventListener("success", hold);
  };
  hold();
  return () => {
    is_held = false;
    request.result.close();
  };
}

const guest = Service.number;

test("an admission is shown when both places have it", async () => {
  const gate = await paired();
  assert.equal((await gate.scan(guest(1))).colour, "green");
  const let_go = await held("mirror");
  let is_shown = false;
  const scan = gate.scan(guest(2)).then((shown) => {
    is_shown = true;
    return shown;
  });
  try {
    while ((await places.kept("main"))["scan"]?.length !== 2) assert.equal(is_shown, false);
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(is_shown, false, "the mirror does not have it yet");
  } finally {
    let_go();
  }
  assert.equal((await scan).colour, "green");
  assert.equal((await places.kept("mirror"))["scan"]?.length, 2);
});

test("a signing key that the browser refuses costs nothing, until it refuses five", async (context) => {
  const right = crypto.subtle.generateKey.bind(crypto.subtle);
  let refusals = 4;
  context.mock.method(crypto.subtle, "generateKey", (...asks: Parameters<typeof right>) => {
    const is_refused = asks[0] === "Ed25519" && !asks[1] && refusals-- > 0;
    return is_refused ? Promise.reject(new DOMException("", "OperationError")) : right(...asks);
  });
  const gate = await paired();
  assert.equal((await gate.scan(guest(1))).colour, "green");
  places.delete("main");
  places.delete("mirror");
  gate.close();
  refusals = 5;
  await assert.rejects(open(), /too old for a gate/);
});

test("an offline decision is one transaction in each place", async () => {
  (await paired()).close();
  const life = new Life(Number.POSITIVE_INFINITY);
  const gate = await open(places.through(life));
  // The first one tries the network, and is written before it does.
  await gate.scan(guest(1));
  const before = life.writes;
  assert.equal((await gate.scan(guest(2))).sequence, 2);
  assert.equal(life.writes - before, 2);
});

for (const name of NAMES) {
  test(`without ${name} the gate goes on, and makes it again`, async () => {
    const gate = await paired();
    assert.equal((await gate.scan(guest(1))).colour, "green");
    gate.close();
    places.delete(name);
    const again = await open();
    const status = await again.status();
    assert.deepEqual([status.lost, status.waiting, status.cards], [name, 1, 300]);
    assert.equal((await again.scan(guest(1))).verdict, "was_admitted");
    assert.equal((await again.scan(guest(2))).sequence, 2);
    again.close();
    assert.deepEqual(await places.kept("main"), await places.kept("mirror"));
    const third = await open();
    assert.equal((await third.status()).lost, null);
  });

  test(`a gate whose ${name} fails while it works goes on with the other`, async () => {
    (await paired()).close();
    const life = new Life(Number.POSITIVE_INFINITY);
    const gate = await open({ ...places.factories, [name]: life.through(places.factories[name]) });
    life.end();
    assert.equal((await gate.scan(guest(1))).colour, "green");
    assert.equal((await gate.status()).lost, name);
    assert.equal((await gate.scan(guest(1), { reader: "b" })).verdict, "already_activated");
    gate.close();
    assert.equal((await places.kept(name))["scan"]?.length, 0);
    const again = await open();
    const { lost, waiting } = await again.status();
    assert.deepEqual([lost, waiting], [name, 2]);
    assert.equal((await places.kept(name))["scan"]?.length, 2);
  });
}

test("a place that failed is made again while the gate works", async () => {
  (await paired()).close();
  const life = new Life(Number.POSITIVE_INFINITY);
  const gate = await open({ ...places.factories, mirror: life.through(places.factories.mirror) });
  life.end();
  await gate.scan(guest(1));
  life.revive();
  service.network = "up";
  const ending = new AbortController();
  const working = gate.work(ending.signal);
  while ((await gate.status()).waiting > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  ending.abort();
  await working;
  gate.close();
  assert.deepEqual(await places.kept("main"), await places.kept("mirror"));
});

test("a place that does not answer is left behind", async () => {
  const gate = await paired();
  await gate.scan(guest(1));
  const let_go = await held("mirror");
  try {
    assert.equal((await gate.scan(guest(2))).colour, "green");
    assert.equal((await gate.status()).lost, "mirror");
  } finally {
    let_go();
  }
});

test("without both nobody is let in, until one can be written again", async () => {
  (await paired()).close();
  const life = new Life(Number.POSITIVE_INFINITY);
  const gate = await open(places.through(life));
  assert.equal((await gate.scan(guest(1))).sequence, 1);
  life.end();
  await assert.rejects(() => gate.scan(guest(2)), QueueError);
  await assert.rejects(() => gate.scan(guest(2)), QueueError);
  life.revive();
  assert.equal((await gate.scan(guest(2))).sequence, 2);
  assert.equal((await gate.scan(guest(1), { reader: "b" })).verdict, "already_activated");
  assert.equal((await gate.status()).waiting, 3);
});

test("a gate that is closed works no more", async () => {
  const gate = await paired();
  const working = gate.work(new AbortController().signal);
  gate.close();
  await working;
});

test("without both the device is not paired any more", async () => {
  (await paired()).close();
  for (const name of NAMES) places.delete(name);
  const gate = await open();
  const { device, lost } = await gate.status();
  assert.deepEqual([device, lost], [null, null]);
  await assert.rejects(() => gate.scan(guest(1)), /not paired/);
});

test("what cannot be read is not deleted while it may be the only copy", async () => {
  const gate = await paired();
  await gate.scan(guest(1));
  gate.close();
  places.delete("main");
  const untear = places.tear("mirror");
  const unpaired = await open();
  assert.equal(unpaired.device, null);
  unpaired.close();
  untear();
  const again = await open();
  assert.equal(again.device?.status, "paired");
  assert.equal((await again.status()).waiting, 1);
});

test("one tab works with a gate", async () => {
  await paired();
  await assert.rejects(() => open(), GateInUse);
});

test("nothing that names a guest can be read, and codes are gone when they are acknowledged", async () => {
  const gate = await paired();
  await gate.scan(guest(1));
  await gate.scan(guest(2));
  const secrets = [guest(1), guest(1).replaceAll(" ", ""), "svc_live_test", "Summer Opening"];
  const everything = async (): Promise<string> => {
    const kept = await Promise.all(NAMES.map((name) => places.kept(name)));
    return inspect(kept, { depth: null, maxArrayLength: null, maxStringLength: null });
  };
  const [before] = await Promise.all([everything()]);
  for (const secret of secrets) {
    assert.ok(!before.includes(secret), secret);
    assert.ok(!before.includes(Buffer.from(secret).toString("base64url")), secret);
    assert.ok(!before.includes([...Buffer.from(secret)].join(", ")), secret);
  }
  assert.ok(!/extractable: true/.test(before));
  assert.equal(sealed(before), 4, "two codes in two places");
  service.network = "up";
  assert.equal((await gate.upload()).activated, 2);
  assert.equal(sealed(await everything()), 0);
});

const sealed = (kept: string): number => [...kept.matchAll(/shown: Uint8Array/g)].length;

test("a number that was used before is given up for another", async () => {
  const gate = await paired();
  await gate.scan(guest(1));
  service.network = "up";
  service.entries.set(1, { sequence: 1, idempotency_key: "another", card_number: guest(9), admitted: true });
  const { activated, rejected, waiting } = await gate.upload();
  assert.deepEqual([activated, rejected, waiting], [1, 1, 0]);
  assert.equal(service.entries.get(2)?.card_number, guest(1));
  assert.deepEqual((await gate.status()).rejected, []);
});
