/** The camera in a place of the page. A phone without one, or without leave to use it, says so and goes on without. */

import { Camera } from "../camera/camera.js";

export type Trouble = "camera_refused" | "camera_missing" | "camera_failed";

export class CameraView {
  #camera: Camera | null = null;
  #isClosed = false;

  constructor(
    private readonly video: HTMLVideoElement,
    private readonly onCode: (text: string) => void,
  ) {}

  /** Null if it runs; else why it does not. `id` names one of several; an empty one is that at the back. */
  async open(id: string): Promise<Trouble | null> {
    if (navigator.mediaDevices === undefined) return "camera_missing";
    this.#isClosed = false;
    try {
      const opened = await Camera.open(this.video, this.onCode, id === "" ? {} : { id });
      // It was closed while the person was asked.
      if (this.#isClosed) opened.close();
      else this.#camera = opened;
      this.video.hidden = this.#isClosed;
      return null;
    } catch (fault) {
      return troubleOf(fault);
    }
  }

  get isOpen(): boolean {
    return this.#camera !== null;
  }

  get hasTorch(): boolean {
    return this.#camera?.hasTorch ?? false;
  }

  get torch(): boolean {
    return this.#camera?.torch ?? false;
  }

  async setTorch(on: boolean): Promise<void> {
    await this.#camera?.setTorch(on);
  }

  async cameras(): Promise<{ id: string; label: string }[]> {
    return (await this.#camera?.cameras()) ?? [];
  }

  pause(): void {
    this.#camera?.pause();
  }

  resume(): void {
    this.#camera?.resume();
  }

  close(): void {
    this.#isClosed = true;
    this.#camera?.close();
    this.#camera = null;
    this.video.hidden = true;
  }
}

function troubleOf(fault: unknown): Trouble {
  const name = fault instanceof DOMException ? fault.name : "";
  if (name === "NotAllowedError" || name === "SecurityError") return "camera_refused";
  if (name === "NotFoundError" || name === "OverconstrainedError") return "camera_missing";
  console.error(fault);
  return "camera_failed";
}
