/** Where the scans of a queue are: a database of the browser, or a file. A write is on the disk when it is done. */

import type { NewQueuedScan, QueuedScan } from "./scan.js";

export interface Counts {
  waiting: number;
  settled: number;
  unreported: number;
}

export interface ScanStore {
  /** What messages call it. */
  readonly name: string;
  /** Returns its id; ids grow. */
  add(scan: NewQueuedScan): Promise<number>;
  /** Scans without an answer, in the order in which they were added. */
  waiting(after: number, limit: number): Promise<QueuedScan[]>;
  /** Store these scans as they are now, in one write. */
  put(scans: readonly QueuedScan[]): Promise<void>;
  /** Scans with an answer that was not reported, oldest first. */
  unreported(limit: number): Promise<QueuedScan[]>;
  /** Every scan, with an answer or without. */
  all(): Promise<QueuedScan[]>;
  /** Whether another scan of this queue activated the same ticket. */
  isActivatedByAnother(scan: QueuedScan): Promise<boolean>;
  /** Delete scans that were reported before this time, and leave no removed token behind. */
  forget(reported_before: string): Promise<void>;
  counts(): Promise<Counts>;
  /** One at a time may send or report. Returns what ends it. Throws `QueueInUse`. */
  exclusive(): Promise<() => void>;
  close(): Promise<void>;
}
