// A decoder in plain JavaScript. Slower than zxing, and needs nothing that a policy or an old phone could refuse.

import { decodeQR } from "qr/decode.js";

import type { Engine } from "./engine.js";

export const qr: Engine = {
  name: "qr",
  async read(pixels) {
    try {
      return decodeQR(pixels);
    } catch {
      // It throws where there is no code.
      return null;
    }
  },
};
