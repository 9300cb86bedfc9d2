/**
 * Scans on bad networks: stored in the browser first, sent when there is a network, answered once.
 *
 *     const queue = await ScanQueue.open("scans");
 *     await queue.add(event_id, { token, scanner_id: "scanner-7", gate: "North 2" });   // needs no network
 *     await queue.drain(client);                                                        // whenever there may be one
 *     for await (const { card, code } of queue.verdicts()) show(card, code ?? "activated");
 *
 * When `add` returns, the scan is on the disk. It is sent with the key and the time that it got in `add`, as often as
 * needed, so it activates a ticket once however many answers are lost. For a door that must decide without a network
 * there is `@gatepass/sdk/gate`.
 */

import { IndexedScans } from "./indexed_scans.js";
import { type QueueOptions, ScanQueue as Queue } from "./queue.js";

export type { Resent } from "./resend.js";
export type { Outcome, Verdict } from "./scan.js";
export type { Drained, OnVerdict, ScanClient } from "./sender.js";
export type { DrainOptions, QueueOptions, ResendOptions } from "./queue.js";

/**
 * Scans in a database of the browser, for one organization, live or sandbox. Any tab may `add`; one at a time drains.
 *
 * Tokens and card numbers are encrypted under a key that the browser does not give away.
 */
export class ScanQueue extends Queue {
  /** Open the database of this name, or create it. Throws `QueueError` if it cannot be used. */
  static async open(
    name = "scans",
    options: QueueOptions & { factory?: IDBFactory | undefined } = {},
  ): Promise<ScanQueue> {
    return new ScanQueue(await IndexedScans.open(name, options.factory), options);
  }
}
