// What the page and its decoder say to each other.

import type { View } from "./views.js";

// "qr" is plain JavaScript: it reads until zxing's WebAssembly has started, and goes on where it cannot.
export type EngineName = "zxing" | "qr";

export type Picture = VideoFrame | ImageBitmap;

export interface Start {
  readonly kind: "start";
  readonly wasm: string;
}

export interface Look {
  readonly kind: "look";
  readonly picture: Picture;
  // Frames since a code was last found: they choose the view.
  readonly empty: number;
}

export interface Seen {
  readonly kind: "seen";
  readonly text: string | null;
  readonly view: View | null;
  // How long the worker took, from the picture to the text.
  readonly milliseconds: number;
  readonly engine: EngineName;
}

export type ToDecoder = Start | Look;
