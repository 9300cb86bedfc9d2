/** The file of a queue: torn, damaged, locked, and written by a process that is killed. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { QueueError, QueueInUse } from "../../src/errors.js";
import { resendScans, ScanQueue } from "../../src/queue/node.js";
import { Client, EVENT, number, token, verdictsOf } from "./support/client.js";

const PATH = process.env["QUEUE_TO_FILL"];
const KILLS = 10;

/** The process that is killed: it adds without end, and says the id of each scan that is on the disk. */
if (PATH !== undefined) {
  const queue = await ScanQueue.open(PATH);
  for (;;) {
    const ids = await Promise.all([1, 2, 3].map((n) => queue.add(EVENT, { card_number: number(n) })));
    for (const id of ids) process.stdout.write(`${id}\n`);
  }
}

const folder = mkdtempSync(join(tmpdir(), "queue-"));
after(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.jsonl`);

test("what was added is there after a kill, and the lock of the dead process is released", async () => {
  const path = newPath();
  let added = 0;
  for (let kills = 0; kills < KILLS; kills++) {
    const child = spawn(process.execPath, [process.argv[1] ?? ""], {
      env: { ...process.env, QUEUE_TO_FILL: path },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const enough = added + 1 + ((kills * 7) % 30);
    for await (const line of createInterface({ input: child.stdout })) {
      added = Math.max(added, Number(line));
      if (added >= enough && !child.killed) {
        if (kills === 0) await assert.rejects(() => ScanQueue.open(path), QueueInUse);
        child.kill("SIGKILL");
      }
    }
    const queue = await ScanQueue.open(path);
    assert.ok((await queue.waiting()) >= added);
    await queue.close();
  }
  const queue = await ScanQueue.open(path);
  const waiting = await queue.waiting();
  const next = await queue.add(EVENT, { card_number: number(1) });
  assert.equal(next, waiting + 1, "no id is missing");
  await queue.close();
});

test("a torn last line is dropped, and a damaged one is not", async () => {
  const path = newPath();
  let queue = await ScanQueue.open(path);
  for (let n = 1; n <= 3; n++) await queue.add(EVENT, { card_number: number(n) });
  await queue.close();
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const whole = readFileSync(path);
  const start = whole.lastIndexOf("\n", whole.length - 2) + 1;
  for (const size of [start + 1, whole.length - 1]) {
    truncateSync(path, size);
    queue = await ScanQueue.open(path);
    assert.equal(await queue.waiting(), 2);
    assert.equal(await queue.add(EVENT, { card_number: number(9) }), 3);
    await queue.close();
    writeFileSync(path, whole);
  }
  appendFileSync(path, '{"id": 4, "ev');
  queue = await ScanQueue.open(path);
  assert.equal(await queue.waiting(), 3);
  await queue.close();
  writeFileSync(path, whole.subarray(0, start - 5));
  appendFileSync(path, `\n${whole.subarray(start)}`);
  await assert.rejects(() => ScanQueue.open(path), /line 3 is damaged/);
  writeFileSync(path, "name,address\n");
  await assert.rejects(() => ScanQueue.open(path), /another program/);
  await assert.rejects(() => ScanQueue.open(join(folder, "none", "x")), QueueError);
});

test("an answered token is gone from the file, and ids go on", async () => {
  const [path, client] = [newPath(), new Client()];
  const queue = await ScanQueue.open(path, { keep_reported: 0 });
  await queue.add(EVENT, { token: token(1) });
  assert.ok(readFileSync(path, "utf8").includes(token(1)));
  await queue.drain(client.asClient);
  assert.ok(!readFileSync(path, "utf8").includes(token(1)));
  assert.ok(readFileSync(path, "utf8").includes(number(1)));
  await verdictsOf(queue);
  await new Promise((resolve) => setTimeout(resolve, 5));
  await queue.drain(client.asClient);
  assert.ok(!readFileSync(path, "utf8").includes(number(1)));
  await queue.close();
  const again = await ScanQueue.open(path);
  assert.equal(await again.add(EVENT, { card_number: number(2) }), 2);
  await again.close();
});

test("one process works with a file", async () => {
  const path = newPath();
  const queue = await ScanQueue.open(path);
  await assert.rejects(() => ScanQueue.open(path), QueueInUse);
  await queue.close();
  await (await ScanQueue.open(path)).close();
  const resending = resendScans([join(folder, "none.jsonl")], new Client().asClient, { since: new Date() });
  await assert.rejects(() => resending, /no such file/);
});
