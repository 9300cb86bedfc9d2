/** The scanner: it is paired, or scans, or has ended. It starts without a network. */

import { Gate, GateInUse, type GateStatus } from "@gatepass/sdk/gate";

import { CameraView, type Trouble } from "./device/camera_view.js";
import { followReader } from "./device/reader.js";
import { readySound } from "./device/sound.js";
import { followWakeLock, stayAwake } from "./device/wake_lock.js";
import { speak, word } from "./language.js";
import { at, closeDialogs, fill, followDialogs, isShown, show } from "./page.js";
import { prefer, preferences } from "./preferences.js";
import { codeIn, Pairing } from "./screens/pairing.js";
import { drawRecent, forgetRecent } from "./screens/recent.js";
import { Scanning } from "./screens/scanning.js";
import { followSettings } from "./screens/settings.js";
import { drawStatus, waitingText, waitingThen } from "./screens/status.js";
import { followTyping } from "./screens/typing.js";
import { followUpdates, Quiet } from "./updates.js";

// How often the status line is drawn anew, in milliseconds.
const STATUS_EVERY = 1000;

class Scanner {
  readonly #quiet = new Quiet();
  readonly #camera: CameraView;
  readonly #scanning: Scanning;
  readonly #pairing: Pairing;
  #work: AbortController | null = null;

  constructor(private readonly gate: Gate) {
    const see = (text: string): void => this.#scanning.take(text, "camera");
    this.#camera = new CameraView(at<HTMLVideoElement>("video"), see, (trouble) => this.#drawCamera(trouble));
    this.#scanning = new Scanning(gate, this.#camera, () => void this.#draw());
    this.#pairing = new Pairing(gate, () => this.#begin(), () => this.#back());
  }

  start(code: string | null): void {
    followReader((text) => this.#read(text));
    followTyping((number) => this.#scanning.take(number, "typed"));
    followSettings({
      camera: () => void this.#look(),
      cameras: () => this.#camera.cameras(),
      language: () => this.#speak(),
      retire: () => void this.#retire(),
      sendAgain: () => void this.gate.upload({ again: true }).finally(() => this.#draw()),
    });
    at("result-next").addEventListener("click", () => this.#scanning.next());
    at("result").addEventListener("click", () => this.#scanning.next());
    at("camera-on").addEventListener("click", () => void this.#look());
    at("torch").addEventListener("click", () => void this.#turnTorch());
    at("open-recent").addEventListener("click", () => at<HTMLDialogElement>("recent").showModal());
    at("ended-pair").addEventListener("click", () => this.#pairing.open(null, { isAgain: true, isLost: false }));
    for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, () => this.#quiet.broken());
    addEventListener("hashchange", () => this.#opened(codeInAddress()));
    setInterval(() => void this.#draw(), STATUS_EVERY);
    void followUpdates(() => this.#quiet.holds && !this.#scanning.isBusy && !isShown("compare"));

    const isLost = this.gate.device === null && preferences.paired;
    if (this.gate.device === null || code !== null) this.#pairing.open(code, { isAgain: this.gate.device !== null, isLost });
    else this.#begin();
  }

  /** The address of a pairing code was opened while the app runs. */
  #opened(code: string | null): void {
    if (code !== null && !isShown("compare")) {
      this.#rest();
      this.#pairing.open(code, { isAgain: this.gate.device !== null, isLost: false });
    }
  }

  #read(text: string): void {
    this.#quiet.broken();
    if (isShown("pair")) this.#pairing.take(text);
    else if (isShown("scan")) {
      closeDialogs();
      this.#scanning.take(text, "keyboard");
    }
  }

  /** Paired: follow, send, and scan. */
  #begin(): void {
    prefer({ paired: true });
    forgetRecent();
    this.#work?.abort();
    this.#work = new AbortController();
    this.gate.work(this.#work.signal).catch(console.error);
    show("scan");
    stayAwake(true);
    void this.#draw();
    void this.#look();
  }

  /** Somebody did not want to pair after all. */
  #back(): void {
    if (this.gate.device?.admits) this.#begin();
    else {
      show("ended");
      void this.#draw();
    }
  }

  #rest(): void {
    this.#camera.close();
    stayAwake(false);
  }

  async #draw(): Promise<void> {
    if (this.gate.device === null || document.hidden) return;
    const status = await this.gate.status().catch(console.error);
    if (!status) return;
    drawStatus(status);
    this.#drawTorch();
    const ended = status.device !== null && status.device.status !== "paired";
    if (ended && (isShown("scan") || isShown("ended")) && !this.#scanning.isBusy) this.#end(status);
  }

  #end(status: GateStatus): void {
    const how = status.device?.status === "revoked" ? "revoked" : "retired";
    fill("ended-title", word(how));
    fill("ended-note", word(`${how}_note`));
    fill("ended-waiting", how === "retired" ? waitingText(status.waiting) : waitingThen(status.waiting));
    if (isShown("ended")) return;
    this.#rest();
    forgetRecent();
    show("ended");
  }

  async #look(): Promise<void> {
    this.#camera.close();
    if (preferences.camera === "off") this.#drawCamera(null);
    else this.#drawCamera(await this.#camera.open(preferences.camera));
  }

  #drawCamera(trouble: Trouble | null): void {
    const isOpen = this.#camera.isOpen;
    at("view").dataset["camera"] = isOpen ? "on" : "off";
    fill("ready-note", word(trouble ?? (isOpen ? "ready_note" : "ready_reader")));
    at("camera-on").hidden = isOpen || trouble === "camera_missing" || preferences.camera === "off";
    this.#drawTorch();
  }

  #drawTorch(): void {
    at("torch").hidden = !this.#camera.hasTorch;
    at("torch").setAttribute("aria-pressed", String(this.#camera.torch));
  }

  async #turnTorch(): Promise<void> {
    await this.#camera.setTorch(!this.#camera.torch);
    this.#drawTorch();
  }

  #speak(): void {
    speakAsPreferred();
    drawRecent();
    void this.#draw();
  }

  async #retire(): Promise<void> {
    await this.gate.retire().catch(console.error);
    await this.#draw();
  }
}

function speakAsPreferred(): void {
  speak(preferences.language);
  for (const select of document.querySelectorAll<HTMLSelectElement>("[data-languages]")) {
    const chosen = select.id === "language" ? preferences.language : document.documentElement.lang;
    select.value = chosen;
  }
}

/** The code behind the hash, which is then taken out of the address: a screen that is photographed must not have it. */
function codeInAddress(): string | null {
  const code = codeIn(location.hash);
  if (location.hash !== "") history.replaceState(null, "", location.pathname);
  return code;
}

function block(key: string, note: string): void {
  fill("blocked-title", word(key));
  fill("blocked-note", note);
  show("blocked");
}

async function start(): Promise<void> {
  speakAsPreferred();
  followDialogs();
  readySound();
  followWakeLock();
  at("blocked-again").addEventListener("click", () => location.reload());
  const code = codeInAddress();
  if (!("locks" in navigator) || !("indexedDB" in window) || !isSecureContext) {
    block("unsupported", word("unsupported_note"));
    return;
  }
  try {
    new Scanner(await Gate.open()).start(code);
  } catch (fault) {
    if (fault instanceof GateInUse) block("in_use", word("in_use_note"));
    else {
      console.error(fault);
      block("failed", fault instanceof Error ? fault.message : "");
    }
  }
}

await start();
