/**
 * A file to which lines are appended. A line is on the disk when `append` returns; lines that come while others are
 * written go together. A process that dies while it writes leaves a torn last line, which is dropped: nobody was told
 * that it is there.
 */

import { type FileHandle, open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { QueueError } from "../../errors.js";

// Only its owner can read it, because it holds tokens.
const PRIVATE = 0o600;
const LINE_END = 0x0a;

interface Pending {
  text: string;
  done: () => void;
  failed: (error: unknown) => void;
}

export class AppendLog {
  readonly path: string;
  #file: FileHandle;
  #size: number;
  #pending: Pending[] = [];
  #writing: Promise<void> | null = null;
  #broken: unknown = null;

  private constructor(path: string, file: FileHandle, size: number) {
    this.path = path;
    this.#file = file;
    this.#size = size;
  }

  /** The log, and its lines. */
  static async open(path: string): Promise<{ log: AppendLog; lines: string[] }> {
    const file = await open(path, "a+", PRIVATE);
    try {
      await file.chmod(PRIVATE);
      const content = await file.readFile();
      const end = content.lastIndexOf(LINE_END) + 1;
      if (end < content.length) await file.truncate(end);
      const lines = content.subarray(0, end).toString("utf8").split("\n").slice(0, -1);
      if (content.length === 0) await syncFolder(path);
      return { log: new AppendLog(path, file, end), lines };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  append(lines: readonly string[]): Promise<void> {
    return new Promise((done, failed) => {
      this.#pending.push({ text: lines.map((line) => `${line}\n`).join(""), done, failed });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Replace all lines: what was in the file before is gone from it, or all is as it was. */
  async rewrite(lines: readonly string[]): Promise<void> {
    await this.#writing;
    const beside = `${this.path}-new`;
    const file = await open(beside, "w", PRIVATE);
    try {
      const text = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      await file.writeFile(text);
      await file.sync();
      await rename(beside, this.path);
      await syncFolder(this.path);
    } finally {
      await file.close();
    }
    const before = this.#file;
    this.#file = await open(this.path, "a+", PRIVATE);
    this.#size = (await this.#file.stat()).size;
    this.#broken = null;
    await before.close();
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#file.close();
  }

  async #writeAll(): Promise<void> {
    while (this.#pending.length > 0) {
      const now = this.#pending.splice(0);
      try {
        await this.#write(now.map(({ text }) => text).join(""));
        for (const { done } of now) done();
      } catch (error) {
        for (const { failed } of now) failed(error);
      }
    }
    this.#writing = null;
  }

  async #write(text: string): Promise<void> {
    const cause = this.#broken;
    if (cause !== null) throw new QueueError(`${this.path}: the file cannot be written.`, { cause });
    const bytes = Buffer.from(text);
    try {
      await this.#file.appendFile(bytes);
      await this.#file.datasync();
      this.#size += bytes.length;
    } catch (error) {
      // Half a line must not stand before the next one.
      await this.#file.truncate(this.#size).catch((failure: unknown) => {
        this.#broken = failure;
      });
      throw error;
    }
  }
}

async function syncFolder(path: string): Promise<void> {
  // Windows cannot open a folder, and needs none of this.
  if (process.platform === "win32") return;
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
