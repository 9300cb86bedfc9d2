/** Manifests answer every case of sdk/cases/manifest.json as it is written. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidManifest, isWhole, Manifest } from "../../src/gate/manifest/manifest.js";
import { type CardRecord, findRecord, merged } from "../../src/gate/manifest/records.js";
import { momentOf } from "../../src/gate/moment.js";
import { cases } from "./cases.js";

interface Case {
  name: string;
  manifest: string;
  changes: string[];
  event_id: string;
  at: string;
  reason: string | null;
  found: Record<string, CardRecord | null>;
}

const FILE = cases<{ public_keys: string[]; cases: Case[] }>("manifest");
const KEYS = FILE.public_keys.map((key) => Uint8Array.from(Buffer.from(key, "hex")));

/** At an odd place in a larger buffer, as a part of an answer may be. */
function bytes(text: string): Uint8Array {
  const raw = Buffer.from(text, "base64");
  const larger = new Uint8Array(raw.length + 3);
  larger.set(raw, 3);
  return larger.subarray(3);
}

async function read(one: Case): Promise<{ reason: string | null; manifest: Manifest | null }> {
  try {
    let manifest = await Manifest.read(bytes(one.manifest), KEYS, one.event_id);
    for (const changes of one.changes) manifest = await manifest.apply(bytes(changes), KEYS);
    return manifest.isExpired(momentOf(one.at)) ? { reason: "expired", manifest: null } : { reason: null, manifest };
  } catch (error) {
    if (!(error instanceof InvalidManifest)) throw error;
    return { reason: error.reason, manifest: null };
  }
}

test("there are cases of every kind", () => {
  assert.ok(FILE.cases.length >= 102);
  assert.equal(new Set(FILE.cases.map(({ reason }) => reason)).size, 11);
});

for (const one of FILE.cases) {
  test(one.name, async () => {
    const { reason, manifest } = await read(one);
    assert.equal(reason, one.reason);
    if (manifest === null) return;
    for (const [number, record] of Object.entries(one.found)) {
      assert.deepEqual(await manifest.find(number), record, number);
    }
  });
}

test("a whole manifest is told from changes without verifying it", () => {
  const [first, ...rest] = FILE.cases.filter(({ reason, changes }) => reason === null && changes.length > 0);
  assert.ok(first !== undefined && rest.length > 0);
  assert.equal(isWhole(bytes(first.manifest)), true);
  assert.equal(isWhole(bytes(first.changes[0] ?? "")), false);
  assert.equal(isWhole(new Uint8Array()), true);
});

test("60,000 records are searched in place, and merged as a sorted list is", () => {
  const random = seeded(7);
  const all = new Map<string, number[]>();
  for (let n = 0; n < 60_000; n++) {
    const hash = Array.from({ length: 6 }, () => Math.floor(random() * 256));
    all.set(Buffer.from(hash).toString("hex"), [...hash, n % 255, n % 2]);
  }
  const flat = (from: Map<string, number[]>): Uint8Array =>
    Uint8Array.from([...from].sort(([one], [other]) => (one < other ? -1 : 1)).flatMap(([, record]) => record));
  const records = flat(all);
  for (const record of [...all.values()].slice(0, 500)) {
    assert.equal(findRecord(records, Uint8Array.from(record))?.category, record[6]);
  }
  const changed = new Map<string, number[]>();
  for (const [key, record] of [...all].slice(100, 400)) {
    const isGone = random() < 0.3;
    changed.set(key, [...record.slice(0, 6), isGone ? 255 : 9, isGone ? 15 : 1]);
    if (isGone) all.delete(key);
    else all.set(key, [...record.slice(0, 6), 9, 1]);
  }
  for (const first of [0, 255]) {
    const key = Buffer.from([first, 0, 0, 0, 0, first]).toString("hex");
    const record = [first, 0, 0, 0, 0, first, 1, 0];
    changed.set(key, record);
    all.set(key, record);
  }
  assert.deepEqual(Buffer.from(merged(records, flat(changed))), Buffer.from(flat(all)));
});

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
