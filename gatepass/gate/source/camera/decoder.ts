// The page's side of the decoder: one picture at a time, and a new worker if one does not answer.

import type { Look, Picture, Seen, Start } from "./messages.js";

// A picture takes a hundredth of this. A worker that the phone has stopped for want of memory never answers.
const PATIENCE_MS = 5000;

export class Decoder {
  #worker: Worker;
  #waiting: ((seen: Seen | null) => void) | null = null;

  constructor(private readonly script: string, private readonly wasm: string) {
    this.#worker = this.#start();
  }

  // What is in the picture; null if the worker was lost over it. The picture is the worker's afterwards.
  async look(picture: Picture, empty: number): Promise<Seen | null> {
    const message: Look = { kind: "look", picture, empty };
    const answer = new Promise<Seen | null>((resolve) => { this.#waiting = resolve; });
    this.#worker.postMessage(message, [picture]);
    const patience = setTimeout(() => this.#restart(), PATIENCE_MS);
    try {
      return await answer;
    } finally {
      clearTimeout(patience);
    }
  }

  close(): void {
    this.#worker.terminate();
    this.#answer(null);
  }

  #start(): Worker {
    const worker = new Worker(this.script, { type: "module", name: "decoder" });
    worker.onmessage = ({ data }: MessageEvent<Seen>) => this.#answer(data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.#restart();
    };
    const start: Start = { kind: "start", wasm: this.wasm };
    worker.postMessage(start);
    return worker;
  }

  #restart(): void {
    // Without a frame that waits it would begin again and again where the script cannot be had.
    if (this.#waiting === null) return;
    this.#worker.terminate();
    this.#worker = this.#start();
    this.#answer(null);
  }

  #answer(seen: Seen | null): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.(seen);
  }
}
