/**
 * A gate in a browser, without a screen: it asks the test what to do, does it, and tells what a screen would show.
 *
 * The browser is killed at any moment. What the test has heard of was shown.
 */

import { Gate, QueueError } from "../../../../sdk-js/src/gate/index.js";

type Task =
  | { do: "pair"; code: string }
  | { do: "learn" }
  | { do: "scan"; n: number; code: string }
  | { do: "sit"; round: number; scans: number }
  | { do: "upload" }
  | { do: "rest" };

async function tell(what: string, value: unknown): Promise<Task> {
  const said = await fetch("/told", { method: "POST", body: JSON.stringify([what, value]) });
  return (await said.json()) as Task;
}

async function done(gate: Gate, task: Task): Promise<[what: string, value: unknown]> {
  switch (task.do) {
    case "pair": {
      const on_words = async (words: [string, string]): Promise<void> => void (await tell("words", words));
      const { id } = await gate.pair(task.code, { url: location.origin, name: "North 2", on_words });
      return ["paired", id];
    }
    case "learn":
      await gate.refresh();
      return ["learned", (await gate.status()).cards];
    case "scan": {
      const began = performance.now();
      const { colour, verdict, online, sequence } = await gate.scan(task.code);
      const milliseconds = performance.now() - began;
      return ["shown", { n: task.n, colour, verdict, online, sequence, milliseconds }];
    }
    case "sit":
      return ["sat", await sat(gate, task.round, task.scans)];
    case "upload": {
      const { waiting, rejected, incidents, missing } = await gate.upload();
      return ["uploaded", { waiting, rejected, incidents, missing }];
    }
    case "rest":
      await new Promise((resolve) => setTimeout(resolve, 50));
      return ["rested", null];
  }
}

/** Many scans, one after another; then what they took, and what is left of them in the memory. */
async function sat(gate: Gate, round: number, scans: number): Promise<object> {
  const times: number[] = [];
  for (let n = 0; n < scans; n++) {
    const began = performance.now();
    await gate.scan(`SVC ${1000 + round} 0000 ${String(n).padStart(4, "0")}`);
    times.push(performance.now() - began);
  }
  times.sort((one, other) => one - other);
  const { gc } = globalThis as { gc?: () => void };
  gc?.();
  const { usedJSHeapSize: heap } = (performance as unknown as { memory: { usedJSHeapSize: number } }).memory;
  const { lost, waiting } = await gate.status();
  return { p50: times[scans >> 1], p95: times[Math.floor(scans * 0.95)], longest: times.at(-1), heap, lost, waiting };
}

/** A disk that does not answer is tried again, as a person would do. */
async function opened(tries = 3): Promise<Gate> {
  try {
    return await Gate.open();
  } catch (error) {
    if (!(error instanceof QueueError) || tries === 1) throw error;
    return opened(tries - 1);
  }
}

async function live(): Promise<void> {
  const began = performance.now();
  const gate = await opened();
  const { device, lost, waiting, last_sequence } = await gate.status();
  const milliseconds = performance.now() - began;
  let task = await tell("opened", { paired: device !== null, lost, waiting, last_sequence, milliseconds });
  if (device !== null) void gate.work(new AbortController().signal);
  for (;;) task = await tell(...(await done(gate, task)));
}

live().catch((error: unknown) => tell("failed", String(error instanceof Error ? error.stack : error)));
