/** A queue in the browser's database and one in a file: the same scans, the same verdicts. */

import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { inspect } from "node:util";
import { IDBFactory as FakeFactory } from "fake-indexeddb";
import { APIConnectionError, AuthenticationError, QueueInUse, ServerError } from "../../src/errors.js";
import { ScanQueue as BrowserQueue } from "../../src/queue/index.js";
import { ScanQueue as FileQueue } from "../../src/queue/node.js";
import type { ScanQueue } from "../../src/queue/queue.js";
import type { Verdict } from "../../src/queue/scan.js";
import { Client, EVENT, number, token, verdictsOf } from "./support/client.js";

const folder = mkdtempSync(join(tmpdir(), "queue-"));
after(() => rmSync(folder, { recursive: true }));

let files = 0;
const newPath = (): string => join(folder, `${++files}.jsonl`);

/** Each opens the same queue again and again. */
const KINDS: Record<string, () => () => Promise<ScanQueue>> = {
  "in the browser": () => {
    const factory = new FakeFactory();
    return () => BrowserQueue.open("scans", { factory });
  },
  "in a file": () => {
    const path = newPath();
    return () => FileQueue.open(path);
  },
};

for (const [kind, made] of Object.entries(KINDS)) {
  describe(kind, () => {
    test("scans are answered later, once, and in order for each card", async () => {
      const [open, client] = [made(), new Client()];
      const queue = await open();
      const then = "2026-05-01T18:00:00.250000+02:00";
      const first = await queue.add(EVENT, { token: token(1), scanner_id: "s-1", gate: "North", occurred_at: then });
      const second = await queue.add(EVENT, { card_number: "svc-0000-0000-0001" });
      for (let n = 2; n < 30; n++) await queue.add(EVENT, { card_number: number(n) });
      assert.ok(second > first);
      assert.equal(await queue.waiting(), 30);
      const drained = await queue.drain(client.asClient, { workers: 4 });
      assert.deepEqual(drained, { settled: 30, waiting: 0, stopped_by: null });
      assert.ok(client.most_at_once > 1 && client.most_at_once <= 4);
      assert.equal(client.sent[0]?.occurred_at, then);
      assert.equal(await queue.unreported(), 30);
      const [one, other, ...rest] = await verdictsOf(queue);
      assert.equal(one?.ticket?.category_name, "General");
      assert.deepEqual([one?.id, one?.card, one?.occurred_at], [first, number(1), then]);
      assert.deepEqual([other?.code, other?.probably_ours, other?.card], ["already_activated", false, number(1)]);
      assert.equal(rest.length, 28);
      assert.deepEqual([await queue.settled(), await queue.unreported()], [30, 0]);
      await queue.close();
    });

    test("without a network scans stay, and a lost answer is asked for again", async () => {
      const [open, client] = [made(), new Client()];
      let queue = await open();
      await queue.add(EVENT, { token: token(1) });
      const lost = Object.assign(new APIConnectionError("Lost."), { outcome_unknown: true });
      client.fails = (scan) => {
        client.activations.set(scan.card, scan.key);
        return lost;
      };
      assert.equal((await queue.drain(client.asClient)).settled, 0);
      client.fails = () => new APIConnectionError("Down.");
      const { stopped_by, waiting } = await queue.drain(client.asClient);
      assert.deepEqual([stopped_by?.message, waiting], ["Down.", 1]);
      await queue.close();
      queue = await open();
      client.fails = () => null;
      await queue.drain(client.asClient);
      const [verdict] = await verdictsOf(queue);
      assert.equal(verdict?.replayed, true);
      assert.equal(new Set(client.sent.map(({ key }) => key)).size, 1);
      await queue.close();
    });

    test("a key that is not accepted is no verdict, and one bad scan does not stop the others", async () => {
      const [open, client] = [made(), new Client()];
      const queue = await open();
      for (let n = 1; n <= 20; n++) await queue.add(EVENT, { card_number: number(n) });
      await queue.add(EVENT, { card_number: number(1) });
      client.fails = () => new AuthenticationError("No.", { status: 401, code: "invalid_api_key" });
      await assert.rejects(() => queue.drain(client.asClient), AuthenticationError);
      assert.equal(await queue.waiting(), 21);
      client.fails = ({ card }) => (card === number(1) ? new ServerError("Oh.", { status: 500, code: "x" }) : null);
      const { settled, waiting, stopped_by } = await queue.drain(client.asClient);
      assert.deepEqual([settled, waiting, stopped_by], [19, 2, null]);
      client.fails = () => null;
      assert.equal((await queue.drain(client.asClient)).settled, 2);
      await queue.close();
    });

    test("a verdict is reported until the loop has gone on", async () => {
      const [open, client] = [made(), new Client()];
      const queue = await open();
      for (let n = 1; n <= 3; n++) await queue.add(EVENT, { card_number: number(n) });
      await queue.drain(client.asClient);
      for await (const verdict of queue.verdicts()) if (verdict.card === number(2)) break;
      assert.deepEqual((await verdictsOf(queue)).map(({ card }) => card), [number(2), number(3)]);
      await queue.add(EVENT, { card_number: number(4) });
      await queue.add(EVENT, { card_number: number(5) });
      const seen: string[] = [];
      const on_verdict = ({ card }: Verdict): void => {
        if (card === number(5) && !seen.includes("failed")) {
          seen.push("failed");
          throw new Error("The printer has no paper.");
        }
        seen.push(card);
      };
      await assert.rejects(() => queue.drain(client.asClient, { on_verdict }), /no paper/);
      await queue.drain(client.asClient, { on_verdict });
      assert.deepEqual(seen, [number(4), "failed", number(5)]);
      await queue.close();
    });

    test("one at a time drains, and what is old is forgotten", async () => {
      const [open, client] = [made(), new Client()];
      const queue = await open();
      await queue.add(EVENT, { card_number: number(1) });
      const draining = queue.drain(client.asClient);
      await assert.rejects(() => queue.drain(client.asClient), QueueInUse);
      await draining;
      await verdictsOf(queue);
      assert.equal(await queue.settled(), 1);
      await assert.rejects(() => queue.add(EVENT, {} as never), TypeError);
      await assert.rejects(() => queue.add(EVENT, { card_number: number(1), occurred_at: "2026-05-01" }), TypeError);
      await queue.close();
    });

    test("an activation that a restored service lost is sent again", async () => {
      const [open, client] = [made(), new Client()];
      const queue = await open();
      const since = new Date(Date.now() - 1000);
      for (let n = 1; n <= 5; n++) await queue.add(EVENT, { token: token(n), scanner_id: "s-1", gate: "North" });
      await queue.drain(client.asClient);
      client.activations.delete(number(2));
      client.activations.set(number(3), "another");
      const resent = await queue.resend(client.asClient, { since });
      assert.deepEqual([resent.restored, resent.present, resent.is_complete], [1, 3, false]);
      assert.deepEqual(resent.conflicts.map(({ card }) => card), [number(3)]);
      await queue.close();
    });
  });
}

test("a browser's queue keeps codes and numbers sealed", async () => {
  const [factory, client] = [new FakeFactory(), new Client()];
  const queue = await BrowserQueue.open("scans", { factory });
  await queue.add(EVENT, { token: token(1) });
  await queue.add(EVENT, { card_number: number(2) });
  await queue.drain(client.asClient);
  await queue.add(EVENT, { token: token(3) });
  const database: IDBDatabase = await new Promise((resolve) => {
    const request = factory.open("gatepass queue scans");
    request.addEventListener("success", () => resolve(request.result));
  });
  const kept: unknown[] = [];
  for (const store of database.objectStoreNames) {
    const request = database.transaction(store).objectStore(store).getAll();
    await new Promise((resolve) => request.addEventListener("success", resolve));
    kept.push(request.result);
  }
  database.close();
  const text = inspect(kept, { depth: null, maxArrayLength: null });
  for (const secret of [number(1), number(2), number(3), token(3)]) assert.ok(!text.includes(secret), secret);
  assert.ok(text.includes("extractable: false") && !text.includes("extractable: true"));
  await queue.close();
});
