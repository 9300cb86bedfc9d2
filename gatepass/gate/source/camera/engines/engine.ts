// A decoder of QR codes.

import type { EngineName } from "../messages.js";

export interface Engine {
  readonly name: EngineName;
  read(pixels: ImageData, inverted: boolean): Promise<string | null>;
}
