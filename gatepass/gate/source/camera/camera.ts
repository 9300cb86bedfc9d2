// The camera of a phone, as a reader of codes: shows its picture in a video element, and reports each code once.
//
// It works only while somebody looks: not while a result is shown (`pause`), nor while the page is hidden. After half a
// minute of that it lets go of the camera itself, which costs battery and shows a light. Going on, it takes it again.

import { Decoder } from "./decoder.js";
import { CameraFault } from "./fault.js";
import { Frames } from "./frames.js";
import type { Picture, Seen } from "./messages.js";
import { Sightings } from "./sightings.js";
import { type CameraName, cameras, closeStream, hasTorch, light, openStream, trackOf } from "./stream.js";

export interface CameraOptions {
  // One of those that `cameras()` tells; without it, the one that looks away from the person.
  readonly id?: string | null;
  // Where the worker's script and zxing's WebAssembly are; beside this script, unless told.
  readonly worker?: string | URL;
  readonly wasm?: string | URL;
  // The camera was there and is gone: unplugged, forbidden, or taken by another app. `resume()` tries again.
  readonly onFault?: (fault: CameraFault) => void;
  // Every frame that was looked at, for measuring.
  readonly onLook?: (seen: Seen) => void;
  // Seconds of pause after which the camera is let go.
  readonly rest?: number;
}

// Every second frame of thirty a second: a code is read a thirtieth of a second later, for half of the work.
const EVERY_MS = 45;
const REST_S = 30;
// A camera that sends no picture for so long is opened again. Phones come back from a call with a black one.
const SILENT_MS = 5000;

export class Camera {
  readonly #frames: Frames;
  readonly #decoder: Decoder;
  readonly #sightings = new Sightings();
  readonly #onVisibility = () => this.#update();
  #stream: MediaStream | null = null;
  #opening: Promise<void> | null = null;
  #wanted: string | null;
  #isPaused = false;
  #isClosed = false;
  #isLooking = false;
  #isLit = false;
  #rest: ReturnType<typeof setTimeout> | undefined;
  #alarm: ReturnType<typeof setTimeout> | undefined;
  #lookedAt = -Infinity;
  // Frames since a code was last found: they choose the view.
  #empty = 0;

  // Raises `CameraFault` if there is no picture to be had.
  static async open(
    video: HTMLVideoElement,
    onCode: (text: string) => void,
    options: CameraOptions = {},
  ): Promise<Camera> {
    const camera = new Camera(video, onCode, options);
    try {
      await camera.#open();
    } catch (fault) {
      camera.close();
      throw CameraFault.of(fault);
    }
    document.addEventListener("visibilitychange", camera.#onVisibility);
    camera.#update();
    return camera;
  }

  private constructor(
    private readonly video: HTMLVideoElement,
    private readonly onCode: (text: string) => void,
    private readonly options: CameraOptions,
  ) {
    const worker = new URL(options.worker ?? new URL("decoder.worker.js", import.meta.url), location.href);
    this.#decoder = new Decoder(worker.href, new URL(options.wasm ?? "zxing/zxing_reader.wasm", worker).href);
    this.#frames = new Frames(video, () => this.#onFrame());
    this.#wanted = options.id ?? null;
  }

  // While a result is shown. What is before the camera when it resumes, and was before, is not reported again.
  pause(): void {
    this.#isPaused = true;
    this.#update();
  }

  resume(): void {
    this.#isPaused = false;
    this.#update();
  }

  close(): void {
    this.#isClosed = true;
    document.removeEventListener("visibilitychange", this.#onVisibility);
    this.#update();
    this.#release();
    this.#decoder.close();
  }

  get isWatching(): boolean {
    return !this.#isPaused && !this.#isClosed && !document.hidden;
  }

  // The id of the camera whose picture is shown.
  get id(): string | null {
    return this.#track?.getSettings().deviceId ?? null;
  }

  async cameras(): Promise<CameraName[]> {
    return cameras();
  }

  async choose(id: string): Promise<void> {
    this.#wanted = id;
    this.#release();
    await this.#open();
    this.#update();
  }

  // Whether the torch is on; `hasTorch`, whether there is one. Android tells that some moments after the picture has begun.
  get torch(): boolean {
    return this.#isLit;
  }

  get hasTorch(): boolean {
    return this.#track !== null && hasTorch(this.#track);
  }

  async setTorch(on: boolean): Promise<void> {
    if (this.#track === null) return;
    await light(this.#track, on);
    this.#isLit = on;
  }

  get #track(): MediaStreamTrack | null {
    return this.#stream === null ? null : trackOf(this.#stream);
  }

  #update(): void {
    clearTimeout(this.#rest);
    clearTimeout(this.#alarm);
    if (this.isWatching) {
      this.#sightings.go(performance.now());
      void this.#watch();
    } else {
      this.#frames.stop();
      this.#sightings.stop(performance.now());
      if (!this.#isClosed) this.#rest = setTimeout(() => this.#release(), (this.options.rest ?? REST_S) * 1000);
    }
  }

  async #watch(): Promise<void> {
    try {
      await this.#open();
    } catch (fault) {
      this.options.onFault?.(CameraFault.of(fault));
      return;
    }
    if (!this.isWatching) return;
    this.#frames.start();
    this.#expectFrame();
  }

  // One opening at a time: two would fight for the device.
  #open(): Promise<void> {
    this.#opening ??= this.#opened().finally(() => { this.#opening = null; });
    return this.#opening;
  }

  async #opened(): Promise<void> {
    if (this.#track?.readyState !== "live") {
      this.#release();
      await this.#attach(await openStream(this.#wanted));
    }
    // A phone may pause a video behind the page's back. A camera without a picture never plays: nobody waits for that.
    if (this.video.paused && this.#stream !== null) void this.video.play().catch(() => undefined);
  }

  async #attach(stream: MediaStream): Promise<void> {
    if (this.#isClosed) {
      closeStream(stream);
      return;
    }
    this.#stream = stream;
    const track = trackOf(stream);
    // It is told of ends that others cause, not of our own.
    track.addEventListener("ended", () => { if (this.#stream === stream) this.#update(); });
    Object.assign(this.video, { muted: true, playsInline: true, srcObject: stream });
    if (this.#isLit) await light(track, true).catch(() => { this.#isLit = false; });
  }

  #release(): void {
    this.#frames.stop();
    if (this.#stream === null) return;
    closeStream(this.#stream);
    this.#stream = null;
    this.video.srcObject = null;
  }

  #expectFrame(): void {
    clearTimeout(this.#alarm);
    this.#alarm = setTimeout(() => {
      this.#release();
      this.#update();
    }, SILENT_MS);
  }

  #onFrame(): void {
    this.#expectFrame();
    const now = performance.now();
    if (this.#isLooking || now - this.#lookedAt < EVERY_MS) return;
    this.#lookedAt = now;
    void this.#look();
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    try {
      const seen = await this.#decoder.look(await pictureOf(this.video), this.#empty);
      if (seen !== null) this.#take(seen);
    } catch {
      // Between two cameras a video has no picture, which is told by an error.
    } finally {
      this.#isLooking = false;
    }
  }

  #take(seen: Seen): void {
    // The result of a frame from before a pause comes too late.
    if (!this.isWatching) return;
    this.#empty = seen.text === null ? this.#empty + 1 : 0;
    this.options.onLook?.(seen);
    if (seen.text !== null && this.#sightings.isNew(seen.text, performance.now())) this.onCode(seen.text);
  }
}

// A frame as the camera made it costs the page nothing. Browsers without such frames draw it.
async function pictureOf(video: HTMLVideoElement): Promise<Picture> {
  return "VideoFrame" in globalThis ? new VideoFrame(video) : createImageBitmap(video);
}
