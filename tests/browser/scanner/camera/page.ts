// A page with nothing but the camera. What it tells is kept for the test to read.

import { Camera, CameraFault, type CameraOptions, type Seen, type View } from "../../../../gatepass/gate/source/camera/index.js";
import { Sightings } from "../../../../gatepass/gate/source/camera/sightings.js";
import { viewOf } from "../../../../gatepass/gate/source/camera/views.js";

interface Looked extends Seen {
  readonly pixels: number;
}

class Bench {
  camera: Camera | null = null;
  codes: string[] = [];
  looks: Looked[] = [];
  faults: string[] = [];
  isPausedByCode = false;
  readonly Sightings = Sightings;
  readonly viewOf = viewOf;

  async open(options: CameraOptions = {}): Promise<string | null> {
    try {
      this.camera = await Camera.open(this.video, (text) => this.#onCode(text), {
        ...options,
        onFault: (fault) => this.faults.push(fault.code),
        onLook: (seen, view) => this.#onLook(seen, view),
      });
      return null;
    } catch (fault) {
      if (fault instanceof CameraFault) return fault.code;
      throw fault;
    }
  }

  get video(): HTMLVideoElement {
    return document.querySelector("video") as HTMLVideoElement;
  }

  get track(): MediaStreamTrack | null {
    return (this.video.srcObject as MediaStream | null)?.getVideoTracks()[0] ?? null;
  }

  // How long frames took by each engine, in milliseconds.
  times(engine: string): number[] {
    return this.looks.filter((look) => look.engine === engine).map((look) => look.milliseconds);
  }

  #onCode(text: string): void {
    this.codes.push(text);
    if (this.isPausedByCode) this.camera?.pause();
  }

  #onLook(seen: Seen, view: View): void {
    this.looks.push({ ...seen, pixels: view.shown_width * view.shown_height });
  }
}

Object.assign(globalThis, { bench: new Bench() });
