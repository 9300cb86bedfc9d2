// ZXing-C++ as WebAssembly, from our own origin: without `locateFile` the package fetches it from a public server.

import { prepareZXingModule, readBarcodes, type ReaderOptions } from "zxing-wasm/reader";

import type { Engine } from "./engine.js";

const OPTIONS: ReaderOptions = {
  // Not "QRCode": that has the micro codes too, which are now and then seen in the modules of another.
  formats: ["QRCodeModel2"],
  maxNumberOfSymbols: 1,
  textMode: "Plain",
  // For codes with bars only.
  tryRotate: false,
  // The views have sizes of their own. A second, smaller look at each costs a third of the time.
  tryDownscale: false,
};

export async function startZxing(wasm: string): Promise<Engine> {
  await prepareZXingModule({ overrides: { locateFile: () => wasm }, fireImmediately: true });
  return {
    name: "zxing",
    async read(pixels, inverted) {
      const [found] = await readBarcodes(pixels, { ...OPTIONS, tryInvert: inverted });
      return found?.isValid ? found.text : null;
    },
  };
}
