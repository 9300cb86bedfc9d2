/** The camera in a place of the page. A phone without one, or without leave to use it, says so and goes on without. */

import { Camera, CameraFault, type CameraFaultCode, type CameraName } from "../camera/index.js";

export type Trouble = "camera_refused" | "camera_missing" | "camera_failed";

const TROUBLES: Readonly<Record<CameraFaultCode, Trouble>> = {
  denied: "camera_refused",
  none: "camera_missing",
  busy: "camera_failed",
  insecure: "camera_missing",
};

export class CameraView {
  #camera: Camera | null = null;
  // Counts what was opened and closed: an opening that a person answers late finds that it is no longer wanted.
  #turn = 0;

  constructor(
    private readonly video: HTMLVideoElement,
    private readonly onCode: (text: string) => void,
    private readonly onTrouble: (trouble: Trouble) => void = () => undefined,
  ) {}

  /** Null if it runs, or was closed meanwhile; else why it does not. `id` names one of several; without, that at the back. */
  async open(id: string): Promise<Trouble | null> {
    this.close();
    const turn = this.#turn;
    try {
      const opened = await Camera.open(this.video, this.onCode, {
        id: id === "" ? null : id,
        onFault: (fault) => this.#lost(fault),
      });
      if (turn !== this.#turn) opened.close();
      else this.#camera = opened;
      this.video.hidden = this.#camera === null;
      return null;
    } catch (fault) {
      return turn === this.#turn ? troubleOf(fault) : null;
    }
  }

  get isOpen(): boolean {
    return this.#camera !== null;
  }

  /** Android knows it only some moments after the picture has begun. */
  get hasTorch(): boolean {
    return this.#camera?.hasTorch ?? false;
  }

  get torch(): boolean {
    return this.#camera?.torch ?? false;
  }

  async setTorch(on: boolean): Promise<void> {
    await this.#camera?.setTorch(on);
  }

  async cameras(): Promise<CameraName[]> {
    return (await this.#camera?.cameras()) ?? [];
  }

  pause(): void {
    this.#camera?.pause();
  }

  resume(): void {
    this.#camera?.resume();
  }

  close(): void {
    this.#turn += 1;
    this.#camera?.close();
    this.#camera = null;
    this.video.hidden = true;
  }

  #lost(fault: CameraFault): void {
    this.close();
    this.onTrouble(troubleOf(fault));
  }
}

function troubleOf(fault: unknown): Trouble {
  return TROUBLES[CameraFault.of(fault).code];
}
