// What the page and its decoder say to each other.

// "qr" is plain JavaScript: it reads until zxing's WebAssembly has started, and goes on where it cannot.
export type EngineName = "zxing" | "qr";

// Which part of a frame is looked at, and at what size.
export interface View {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly shown_width: number;
  readonly shown_height: number;
  // White modules on black too: a phone that inverts its colours for its owner's eyes.
  readonly inverted: boolean;
}

export interface Start {
  readonly kind: "start";
  readonly wasm: string;
}

export interface Look {
  readonly kind: "look";
  readonly picture: ImageBitmap;
  readonly view: View;
}

export interface Seen {
  readonly kind: "seen";
  readonly text: string | null;
  // How long the worker took, from the picture to the text.
  readonly milliseconds: number;
  readonly engine: EngineName;
}

export type ToDecoder = Start | Look;
