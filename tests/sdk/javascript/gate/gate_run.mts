/**
 * A gate that a test works with, line by line: each line on the input is a call, each line on the output its result.
 *
 * Its two places are in the memory of this process, so that it can be closed and opened again, and lose one of them.
 */

import { createInterface } from "node:readline";
import { Places } from "../../../../sdk-js/test/gate/support/places.js";
import { APIStatusError, Gate, GatepassError, type GateStatus } from "../../../../sdk-js/src/gate/index.js";

interface Call {
  name: string;
  given: unknown[];
}

const places = new Places();
let gate: Gate | null = null;
let ahead = 0;
let working: { ending: AbortController; done: Promise<void> } | null = null;

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

function say(line: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function opened(): Gate {
  if (gate === null) throw new Error("The gate is closed.");
  return gate;
}

function shownStatus(status: GateStatus): object {
  return { ...status, device: status.device && { ...status.device } };
}

const CALLS: Record<string, (...given: never[]) => unknown> = {
  async open(): Promise<void> {
    gate = await Gate.open({ places: places.factories, clock: () => new Date(Date.now() + ahead) });
  },
  close(): void {
    opened().close();
    gate = null;
  },
  /** How many milliseconds the clock of this machine is ahead. */
  setClock(milliseconds: number): void {
    ahead = milliseconds;
  },
  lose(place: "main" | "mirror"): void {
    places.delete(place);
  },
  async pair(code: string, url: string, name: string): Promise<object> {
    const on_words = async (words: [string, string]): Promise<void> => {
      say({ words });
      // Somebody compares them, and says so by an empty line.
      await lines.next();
    };
    return { ...(await opened().pair(code, { url, name, on_words })) };
  },
  async scan(shown: string, reader: string): Promise<object> {
    const began = performance.now();
    const answer = await opened().scan(shown, { reader });
    return { ...answer, admitted: answer.admitted, seconds: (performance.now() - began) / 1000 };
  },
  refresh: () => opened().refresh(),
  heartbeat: async () => shownStatus(await opened().heartbeat()),
  status: async () => shownStatus(await opened().status()),
  async upload(again: boolean): Promise<object> {
    const uploaded = await opened().upload({ again });
    return { ...uploaded, stopped_by: uploaded.stopped_by?.name ?? null };
  },
  retire: async () => ({ ...(await opened().retire()), stopped_by: null }),
  work(): void {
    const ending = new AbortController();
    working = { ending, done: opened().work(ending.signal) };
  },
  async rest(): Promise<void> {
    working?.ending.abort();
    await working?.done;
  },
};

async function answer({ name, given }: Call): Promise<void> {
  const call = CALLS[name];
  if (call === undefined) throw new Error(`There is no call ${name}.`);
  try {
    say({ result: (await call(...(given as never[]))) ?? null });
  } catch (error) {
    if (!(error instanceof GatepassError)) throw error;
    say({ error: error.name, message: error.message, code: error instanceof APIStatusError ? error.code : null });
  }
}

for (let line = await lines.next(); !line.done; line = await lines.next()) {
  await answer(JSON.parse(line.value) as Call);
}
