/**
 * Scanning: a code is shown, it is judged, the result fills the screen for a second.
 *
 * One code at a time. A code that comes while another is judged waits; a code that comes while a result is shown takes
 * its place at once. The camera rests while a result is shown, and looks again after it.
 */

import type { Gate } from "@gatepass/sdk/gate";

import { cardIn } from "../card_number.js";
import { signal } from "../device/sound.js";
import { at, closeDialogs, isDialogOpen } from "../page.js";
import { remember, shortened } from "./recent.js";
import { fadeLast, hideResult, notJudged, type Result, resultOf, showResult } from "./result.js";
import { noteLetters } from "./typing.js";

export type Reader = "camera" | "keyboard" | "typed";

// How long a result fills the screen, in milliseconds.
const SHOWN = 1000;
// A judgement that takes longer than this is said to be under way; most are done before.
const NOTICED = 150;
// A reader may be quicker than the network. What waits behind so many was not meant.
const MOST_WAITING = 5;

interface Eye {
  pause(): void;
  resume(): void;
}

export class Scanning {
  #waiting: { text: string; reader: Reader }[] = [];
  #isBusy = false;
  #hiding: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly gate: Gate,
    private readonly eye: Eye,
    private readonly afterwards: () => void,
  ) {}

  /** Whether a code is judged or its result is shown: nothing else may come between. */
  get isBusy(): boolean {
    return this.#isBusy || this.#hiding !== undefined;
  }

  take(text: string, reader: Reader): void {
    // The camera sees a code many times a second, and while somebody types; the others say what they mean once.
    if (reader === "camera" && (this.isBusy || isDialogOpen())) return;
    if (this.#waiting.length < MOST_WAITING) this.#waiting.push({ text, reader });
    if (!this.#isBusy) void this.#judgeAll();
  }

  /** Back to scanning, without waiting for the second to end. */
  next(): void {
    this.#hide();
    if (!this.#isBusy) this.eye.resume();
    this.afterwards();
  }

  #hide(): void {
    clearTimeout(this.#hiding);
    this.#hiding = undefined;
    hideResult();
  }

  async #judgeAll(): Promise<void> {
    this.#isBusy = true;
    this.eye.pause();
    // The last result must not be taken for that of this code.
    this.#hide();
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#show(await this.#judge(next.text, next.reader), next.text);
    }
    this.#isBusy = false;
  }

  async #judge(text: string, reader: Reader): Promise<Result> {
    const noticed = setTimeout(() => {
      at("checking").hidden = false;
      fadeLast();
    }, NOTICED);
    try {
      return resultOf(await this.gate.scan(text, { reader }));
    } catch (fault) {
      console.error(fault);
      return notJudged();
    } finally {
      clearTimeout(noticed);
      at("checking").hidden = true;
    }
  }

  #show(result: Result, text: string): void {
    const number = cardIn(text);
    closeDialogs();
    showResult(result);
    if (!result.isEcho) signal(result.colour);
    remember(result, shortened(number));
    noteLetters(number);
    clearTimeout(this.#hiding);
    this.#hiding = setTimeout(() => this.next(), SHOWN);
  }
}
