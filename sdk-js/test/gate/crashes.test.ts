/**
 * A tab that is killed between any two steps of its storage and its network, with one of its two places torn, deleted
 * or set back in between: each admission that was shown is uploaded once.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Gate } from "../../src/gate/index.js";
import { Life, type Kept, type Name, Places } from "./support/places.js";
import { Service } from "./support/service.js";

const SEEDS = Number(process.env["GATEPASS_SEEDS"] ?? 12);
const LIVES = 40;
// More than a life has steps, now and then.
const LONGEST_LIFE = 90;
const SCANS_OF_A_LIFE = 4;

class Door {
  readonly service = new Service();
  readonly places = new Places();
  readonly green: number[] = [];
  readonly amber: number[] = [];
  readonly red: number[] = [];
  /** What a place had at the start of the last life; null if that life did not begin. */
  before: Record<Name, Kept> | null = null;
  torn: Name | null = null;
  losses = 0;
  #next = 1;

  constructor(readonly random: () => number) {}

  async pair(): Promise<void> {
    const gate = await this.open(new Life(Number.POSITIVE_INFINITY));
    await gate.pair("A7K3-9QXM-2P", { url: this.service.url, name: "North 2" });
    await gate.refresh();
    gate.close();
  }

  open(life: Life): Promise<Gate> {
    const fetch = this.service.through(() => life.step());
    return Gate.open({ places: this.places.through(life), fetch, clock: this.service.clock });
  }

  /** One tab, until it is killed or has scanned enough. The guest who stood there when it died is shown again. */
  async live(life: Life): Promise<void> {
    let gate: Gate | undefined;
    this.before = null;
    try {
      gate = await this.open(life);
      await Promise.race([this.work(gate, life), life.ended]);
    } catch (error) {
      if (!life.is_over) throw error;
    } finally {
      // A life that ended as it opened may have made the place again.
      this.torn = null;
      gate?.close();
    }
  }

  async work(gate: Gate, life: Life): Promise<void> {
    const { lost } = await gate.status();
    if (this.torn !== null) {
      assert.equal(lost, this.torn);
      this.losses += 1;
    }
    this.before = { main: await this.places.kept("main"), mirror: await this.places.kept("mirror") };
    for (let n = 0; n < SCANS_OF_A_LIFE; n++) {
      await this.show(gate, life);
      // Where there is no network an upload only waits for it.
      if (this.service.network === "up" && this.random() < 0.5) await gate.upload();
    }
  }

  async show(gate: Gate, life: Life): Promise<void> {
    // Every third card is used already.
    if (this.#next % 3 === 0) this.#next += 1;
    const guest = this.#next;
    const shown = await gate.scan(Service.number(guest));
    life.step();
    if (shown.colour === "green") this.green.push(guest);
    else if (shown.colour === "amber") this.amber.push(guest);
    else this.red.push(guest);
    assert.ok(shown.admitted || ["was_admitted", "already_activated"].includes(shown.verdict), shown.verdict);
    this.#next += 1;
    life.step();
  }

  /** What a killed browser may do to one of its places: never to both. */
  async harm(): Promise<void> {
    const chance = this.random();
    if (this.before === null || chance > 0.5) return;
    const name = this.random() < 0.5 ? "main" : "mirror";
    if (chance < 0.2) {
      this.places.delete(name);
      this.torn = name;
    } else if (chance < 0.35) {
      this.places.tear(name);
      this.torn = name;
    } else await this.places.setBack(name, this.before[name]);
    this.before = null;
  }

  check(last_sequence: number): void {
    assert.equal(new Set(this.green).size, this.green.length, "nobody was let in twice");
    const seen = new Set([...this.green, ...this.amber]);
    for (const guest of this.red) assert.ok(seen.has(guest), `${guest} was refused and is known`);
    for (const guest of this.green) assert.ok(this.service.activations.has(Service.number(guest)), `${guest} is lost`);
    assert.deepEqual(this.service.second_admissions, []);
    const entries = [...this.service.entries.values()].sort((one, other) => one.sequence - other.sequence);
    assert.deepEqual(
      entries.map(({ sequence }) => sequence),
      Array.from({ length: last_sequence }, (_, n) => n + 1),
    );
    const keys = entries.map(({ idempotency_key }) => idempotency_key);
    assert.equal(new Set(keys).size, keys.length, "no entry was uploaded under two numbers");
    const admitted = entries.filter((entry) => entry.admitted).map(({ card_number }) => card_number);
    assert.equal(new Set(admitted).size, admitted.length, "no admission was uploaded twice");
  }
}

function seeded(seed: number): () => number {
  let state = (seed * 2_654_435_761) % 4_294_967_296;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

for (let seed = 1; seed <= SEEDS; seed++) {
  test(`seed ${seed}`, { timeout: 120_000 }, async () => {
    const random = seeded(seed);
    const door = new Door(random);
    await door.pair();
    for (let n = 0; n < LIVES; n++) {
      door.service.network = random() < 0.3 ? "up" : random() < 0.7 ? "down" : "loses answers";
      await door.live(new Life(1 + Math.floor(random() * LONGEST_LIFE), random));
      await door.harm();
    }
    door.service.network = "up";
    const gate = await door.open(new Life(Number.POSITIVE_INFINITY));
    while ((await gate.upload()).waiting > 0);
    const status = await gate.status();
    gate.close();
    assert.deepEqual(status.rejected, []);
    assert.ok(door.green.length > 10);
    door.check(status.last_sequence);
  });
}
