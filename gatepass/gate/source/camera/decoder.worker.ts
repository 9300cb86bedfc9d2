// The decoder, beside the page: pictures come in, texts go out. A slow frame never holds up a tap.

import type { Engine } from "./engines/engine.js";
import { qr } from "./engines/qr.js";
import { startZxing } from "./engines/zxing.js";
import { greyOf } from "./grey.js";
import type { Look, Seen, ToDecoder } from "./messages.js";
import type { View } from "./views.js";

// The part of a worker's scope that is used here; TypeScript's own types of it do not go together with those of pages.
interface Scope {
  onmessage: ((message: MessageEvent<ToDecoder>) => void) | null;
  postMessage(message: Seen): void;
}

const scope = self as unknown as Scope;
let engine: Engine = qr;

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

async function look({ picture, empty }: Look): Promise<void> {
  const began = performance.now();
  const used = engine;
  let text: string | null = null;
  let view: View | null = null;
  try {
    const grey = await greyOf(picture, empty).finally(() => picture.close());
    view = grey.view;
    text = await used.read(grey.pixels, view.isInverted);
  } finally {
    scope.postMessage({ kind: "seen", text, view, milliseconds: performance.now() - began, engine: used.name });
  }
}
