// The decoder, beside the page: pictures come in, texts go out. A slow frame never holds up a tap.

import type { Engine } from "./engines/engine.js";
import { qr } from "./engines/qr.js";
import { startZxing } from "./engines/zxing.js";
import type { Look, Seen, ToDecoder } from "./messages.js";

// The part of a worker's scope that is used here; TypeScript's own types of it do not go together with those of pages.
interface Scope {
  onmessage: ((message: MessageEvent<ToDecoder>) => void) | null;
  postMessage(message: Seen): void;
}

const scope = self as unknown as Scope;
let engine: Engine = qr;
let drawn: OffscreenCanvasRenderingContext2D | null = null;

scope.onmessage = ({ data }) => {
  if (data.kind === "start") void start(data.wasm);
  else void look(data);
};

async function start(wasm: string): Promise<void> {
  try {
    engine = await startZxing(wasm);
  } catch (fault) {
    console.warn("zxing does not start; codes are read by plain JavaScript.", fault);
  }
}

async function look({ picture, view }: Look): Promise<void> {
  const began = performance.now();
  const used = engine;
  let text: string | null = null;
  try {
    const { shown_width: width, shown_height: height } = view;
    const canvas = contextOf(width, height);
    canvas.drawImage(picture, view.left, view.top, view.width, view.height, 0, 0, width, height);
    picture.close();
    text = await used.read(canvas.getImageData(0, 0, width, height), view.inverted);
  } finally {
    scope.postMessage({ kind: "seen", text, milliseconds: performance.now() - began, engine: used.name });
  }
}

// One canvas for all frames: a new one for each would be memory to collect, 15 times a second.
function contextOf(width: number, height: number): OffscreenCanvasRenderingContext2D {
  drawn ??= new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  if (drawn === null) throw new Error("This browser draws nothing in a worker.");
  if (drawn.canvas.width !== width) drawn.canvas.width = width;
  if (drawn.canvas.height !== height) drawn.canvas.height = height;
  return drawn;
}
