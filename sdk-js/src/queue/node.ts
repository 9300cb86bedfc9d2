/**
 * Scans on bad networks: stored in a file first, sent when there is a network, answered once.
 *
 *     const queue = await ScanQueue.open("scans.jsonl");
 *     await queue.add(event_id, { token, scanner_id: "scanner-7", gate: "North 2" });   // needs no network
 *     await queue.drain(client);                                                        // whenever there may be one
 *     for await (const { card, code } of queue.verdicts()) console.log(card, code ?? "activated");
 *
 * When `add` returns, the scan is on the disk: it survives `kill -9` and, if the disk does not lie, a power cut. It is
 * sent with the key and the time that it got in `add`, as often as needed, so it activates a ticket once however many
 * answers are lost.
 *
 * If the service was restored from a backup, `resendScans` sends the activations again that it has lost, from the files
 * of all gates.
 */

import { FileScans } from "./file/scans.js";
import { type QueueOptions, type ResendOptions, ScanQueue as Queue } from "./queue.js";
import { type Resent, resend } from "./resend.js";
import type { ScanClient } from "./sender.js";

export type { Resent } from "./resend.js";
export type { Outcome, Verdict } from "./scan.js";
export type { Drained, OnVerdict, ScanClient } from "./sender.js";
export type { DrainOptions, QueueOptions, ResendOptions } from "./queue.js";

/**
 * Scans in one file on a local disk, for one organization, live or sandbox. One process at a time works with it; the
 * lock of a process that dies is released.
 *
 * Card tokens are secrets: a copy of one is enough to enter. Only its owner can read the file (mode 0600).
 */
export class ScanQueue extends Queue {
  /** Open the file, or create it. Throws `QueueInUse` if another process has it, `QueueError` if it cannot be used. */
  static async open(path: string, options: QueueOptions = {}): Promise<ScanQueue> {
    return new ScanQueue(await FileScans.open(path), options);
  }
}

/**
 * Send again what a restored service has lost: every activation that it acknowledged after `since`.
 *
 * `since` is the time to which the service was restored. Give the files of all gates' queues at once, and call this
 * before any gate scans or drains again: then each ticket has the same winner as before. Activations that were not lost
 * are found by their keys and stay as they are, so an earlier `since` does no harm, and a call that was stopped or
 * killed may be repeated.
 *
 * Scans go by card number, key, gate, scanner and `occurred_at`, oldest first; up to `workers` cards in parallel. The
 * service accepts them for 72 hours. Refusals and waiting scans are not sent; drain the queues afterwards.
 *
 * A key that is not accepted (401, 403) throws. If the service does not answer, `stopped_by` of the result has the
 * error: call again later.
 */
export async function resendScans(
  paths: readonly string[],
  client: ScanClient,
  options: ResendOptions,
): Promise<Resent> {
  const stores: FileScans[] = [];
  try {
    for (const path of paths) stores.push(await FileScans.open(path, { may_create: false }));
    return await resend(stores, client, options);
  } finally {
    for (const store of stores) await store.close();
  }
}
