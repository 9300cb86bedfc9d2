import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { CardKeys } from "../src/index.js";

interface CodeCase {
  name: string;
  text: string;
  at: number;
  reason: string | null;
  card_number: string | null;
  phone: number | null;
}

const FILE = JSON.parse(readFileSync("../sdk/cases/codes.json", "utf8")) as { public_keys: string[]; cases: CodeCase[] };

function bytes(hex: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(hex, "hex"));
}

const KEYS = new CardKeys(FILE.public_keys.map(bytes));

/** A browser without Ed25519, until the test ends. */
function withoutEd25519(): { [Symbol.dispose](): void } {
  const importKey = crypto.subtle.importKey;
  crypto.subtle.importKey = () => Promise.reject(new DOMException("Unrecognized name.", "NotSupportedError"));
  return { [Symbol.dispose]: () => (crypto.subtle.importKey = importKey) };
}

for (const by of ["WebCrypto", "the curve alone"])
  test(`every case of codes.json, by ${by}`, async (t) => {
    if (by !== "WebCrypto") {
      const restored = withoutEd25519();
      t.after(() => restored[Symbol.dispose]());
    }
    for (const one of FILE.cases)
      await t.test(one.name, async () => {
        const reading = await KEYS.verify(one.text, { at: new Date(one.at * 1000) });
        assert.deepEqual(
          [reading.reason, reading.card_number, reading.phone, reading.valid],
          [one.reason, one.card_number, one.phone, one.reason === null],
        );
      });
  });
