/**
 * Pairing: the code comes from the address, from the camera, from a reader, or is typed; then two words are compared.
 *
 * Opening the address alone asks for nothing: a program that looks at links would use up the code. A person presses.
 */

import { APIConnectionError, type Gate, PairingEnded, RateLimited } from "@gatepass/sdk/gate";

import { CameraView } from "../device/camera_view.js";
import { word } from "../language.js";
import { at, fill, isShown, show, tell } from "../page.js";
import { prefer } from "../preferences.js";

const CODE = /^[A-Z][0-9A-HJKMNP-TV-Z]{9}$/;

export class Pairing {
  #camera: CameraView | null = null;
  #cancelled: AbortController | null = null;

  constructor(
    private readonly gate: Gate,
    private readonly paired: () => void,
    back: () => void,
  ) {
    at("pair-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#pair();
    });
    at("pair-code").addEventListener("input", () => fill("pair-trouble", null));
    at("pair-camera").addEventListener("click", () => void this.#look());
    at("compare-cancel").addEventListener("click", () => this.#cancelled?.abort());
    at("pair-back").addEventListener("click", () => {
      this.#close();
      back();
    });
  }

  open(code: string | null, state: { isAgain: boolean; isLost: boolean }): void {
    at<HTMLInputElement>("pair-code").value = code === null ? "" : written(code);
    const name = at<HTMLInputElement>("pair-name");
    name.value ||= this.gate.device?.name ?? proposedName();
    at("pair-again").hidden = !state.isAgain;
    at("pair-lost").hidden = !state.isLost;
    at("pair-back").hidden = this.gate.device === null;
    fill("pair-trouble", null);
    show("pair");
    at(code === null ? "pair-code" : "pair-start").focus();
  }

  /** A code that the camera, a reader or the address has: a URL of the scanner, or the code alone. */
  take(text: string): void {
    if (!isShown("pair")) return;
    const code = codeIn(text);
    if (code === null) {
      fill("pair-trouble", word("pair_other"));
      return;
    }
    this.#close();
    at<HTMLInputElement>("pair-code").value = written(code);
    fill("pair-trouble", null);
    at("pair-start").focus();
  }

  async #pair(): Promise<void> {
    const code = codeIn(at<HTMLInputElement>("pair-code").value);
    const name = at<HTMLInputElement>("pair-name").value.trim() || proposedName();
    fill("pair-trouble", code === null ? word("pair_incomplete") : null);
    if (code === null || this.#cancelled !== null) return;
    this.#close();
    const button = at<HTMLButtonElement>("pair-start");
    this.#cancelled = new AbortController();
    button.disabled = true;
    button.textContent = word("asking");
    try {
      await this.gate.pair(code, {
        url: location.origin,
        name,
        allow_http: location.protocol === "http:",
        signal: this.#cancelled.signal,
        on_words: (words) => this.#compare(words),
      });
      prefer({ paired: true });
      at<HTMLInputElement>("pair-code").value = "";
      this.paired();
    } catch (fault) {
      this.#failed(fault);
    } finally {
      this.#cancelled = null;
      button.disabled = false;
      button.textContent = word("pair_start");
    }
  }

  #compare(words: readonly string[]): void {
    // With a space, for who hears them.
    at("compare-words").replaceChildren(...words.flatMap((text) => [lineOf(text), " "]));
    show("compare");
    tell(words.join(" "));
  }

  #failed(fault: unknown): void {
    show("pair");
    if (this.#cancelled?.signal.aborted) return;
    if (fault instanceof PairingEnded) fill("pair-trouble", word("pair_wrong"));
    else if (fault instanceof RateLimited) fill("pair-trouble", word("pair_busy"));
    else if (fault instanceof APIConnectionError) fill("pair-trouble", word("pair_no_network"));
    else {
      console.error(fault);
      fill("pair-trouble", word("pair_failed"));
    }
  }

  async #look(): Promise<void> {
    if (this.#camera !== null) {
      this.#close();
      return;
    }
    this.#camera = new CameraView(at<HTMLVideoElement>("pair-video"), (text) => this.take(text));
    at("pair-view").hidden = false;
    at("pair-camera").querySelector("span")!.textContent = word("pair_camera_stop");
    const trouble = await this.#camera.open("");
    if (trouble !== null && this.#camera !== null) {
      this.#close();
      fill("pair-trouble", word(trouble));
    }
  }

  #close(): void {
    this.#camera?.close();
    this.#camera = null;
    at("pair-view").hidden = true;
    at("pair-camera").querySelector("span")!.textContent = word("pair_camera");
  }
}

/** `https://…/gate#A7K29QXR3M`, or the code as it is written. */
export function codeIn(text: string): string | null {
  const bare = text.slice(text.indexOf("#") + 1).replace(/[\s-]/g, "").toUpperCase();
  // Codes have no I, L, O and U, because people mistake them.
  const code = bare.slice(0, 1) + bare.slice(1).replaceAll("O", "0").replace(/[IL]/g, "1");
  return CODE.test(code) ? code : null;
}

const written = (code: string): string => `${code.slice(0, 5)}-${code.slice(5)}`;

function lineOf(text: string): HTMLElement {
  const line = document.createElement("span");
  line.textContent = text;
  return line;
}

/** Something that a lead can tell apart from twenty others; a person may write something better. */
function proposedName(): string {
  const agent = navigator.userAgent;
  const isTablet = /iPad|Tablet/.test(agent) || (/Android/.test(agent) && !/Mobile/.test(agent));
  const kind = isTablet ? "tablet" : /Mobile|iPhone|Android/.test(agent) ? "phone" : "computer";
  return `${word(kind)} ${100 + Math.floor(Math.random() * 900)}`;
}
