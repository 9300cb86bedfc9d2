// A page with nothing but the camera. What it tells is kept for the test to read.

import { Camera, CameraFault, type CameraOptions, type Seen } from "../../../../gatepass/gate/source/camera/index.js";
import { Decoder } from "../../../../gatepass/gate/source/camera/decoder.js";
import { greyOf } from "../../../../gatepass/gate/source/camera/grey.js";
import { Sightings } from "../../../../gatepass/gate/source/camera/sightings.js";
import { viewOf } from "../../../../gatepass/gate/source/camera/views.js";

class Bench {
  camera: Camera | null = null;
  codes: string[] = [];
  looks: Seen[] = [];
  faults: string[] = [];
  isPausedByCode = false;
  #decoder: Decoder | null = null;
  readonly Sightings = Sightings;
  readonly viewOf = viewOf;
  readonly greyOf = greyOf;

  async open(options: CameraOptions = {}): Promise<string | null> {
    try {
      this.camera = await Camera.open(this.video, (text) => this.#onCode(text), {
        ...options,
        onFault: (fault) => this.faults.push(fault.code),
        onLook: (seen) => this.looks.push(seen),
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

  // One more frame, while the camera is paused: the decoder alone, so that what it costs can be told.
  async look(empty: number): Promise<Seen | null> {
    this.#decoder ??= new Decoder("/decoder.worker.js", "/zxing/zxing_reader.wasm");
    await new Promise((resolve) => this.video.requestVideoFrameCallback(resolve));
    return this.#decoder.look(new VideoFrame(this.video), empty);
  }

  // How long frames took by each engine, in milliseconds.
  times(engine: string): number[] {
    return this.looks.filter((look) => look.engine === engine).map((look) => look.milliseconds);
  }

  #onCode(text: string): void {
    this.codes.push(text);
    if (this.isPausedByCode) this.camera?.pause();
  }
}

Object.assign(globalThis, { bench: new Bench() });
