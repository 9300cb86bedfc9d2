import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { isPublicKey, verify } from "../src/card/ed25519.js";
import { asStored, numberIn } from "../src/card/number.js";
import { CardKeys } from "../src/index.js";

interface CodeCase {
  name: string;
  text: string;
  at: number;
  reason: string | null;
  card_number: string | null;
  phone: number | null;
}

const FILE = JSON.parse(readFileSync("../sdk/cases/codes.json", "utf8")) as {
  public_keys: string[];
  cases: CodeCase[];
};

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

test("every case of numbers.json", () => {
  const numbers = JSON.parse(readFileSync("../sdk/cases/numbers.json", "utf8")) as {
    stored: string;
    spellings: string[];
    unchanged: string[];
  };
  for (const text of numbers.spellings) assert.equal(asStored(text), numbers.stored);
  for (const text of numbers.unchanged) assert.equal(asStored(text), text);
});

function flipped(raw: Uint8Array<ArrayBuffer>, bit: number): Uint8Array<ArrayBuffer> {
  const changed = raw.slice();
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return changed;
}

// RFC 8032, section 7.1: public key, message, signature.
const VECTORS = [
  [
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    "",
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155" +
      "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  ],
  [
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    "72",
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da" +
      "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  ],
] as const;
// Points whose order is 1, 2, 4 or 8, and spellings of y that are not below P.
const AWKWARD_POINTS = [
  "0100000000000000000000000000000000000000000000000000000000000000",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "0000000000000000000000000000000000000000000000000000000000000080",
  "0000000000000000000000000000000000000000000000000000000000000000",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "0100000000000000000000000000000000000000000000000000000000000080",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
];

for (const by of ["WebCrypto", "the curve alone"])
  test(`signatures are judged strictly, by ${by}`, async (t) => {
    if (by !== "WebCrypto") {
      const restored = withoutEd25519();
      t.after(() => restored[Symbol.dispose]());
    }
    for (const [key, message, signature] of VECTORS) {
      assert.equal(await verify(bytes(key), bytes(message), bytes(signature)), true);
      for (let bit = 0; bit < 256; bit += 37) {
        assert.equal(await verify(flipped(bytes(key), bit), bytes(message), bytes(signature)), false);
        assert.equal(await verify(bytes(key), bytes(message), flipped(bytes(signature), bit)), false);
        assert.equal(await verify(bytes(key), bytes(message), flipped(bytes(signature), 256 + bit)), false);
      }
    }
    const [key, message, good] = VECTORS[1];
    for (const point of AWKWARD_POINTS) {
      assert.equal(await verify(bytes(point), bytes(message), bytes(good)), false);
      assert.equal(await verify(bytes(key), bytes(message), bytes(point + good.slice(64))), false);
      assert.equal(await verify(bytes(point), bytes(message), bytes(point + "00".repeat(32))), false);
      assert.equal(isPublicKey(bytes(point)), false);
    }
  });

test("a phone's key is of the full prime order", () => {
  const key = "79b5562e8fe654f94078b112e8a98ba7901f853ae695bed7e0e3910bad049664";
  // The same with a point of order 8 added.
  const mixed = "c6e2cb790d0e8833a455b24cc304bf11cc0e2d0b6625c64663aa9ee64506188d";
  assert.equal(isPublicKey(bytes(key)), true);
  assert.equal(isPublicKey(bytes(mixed)), false);
  assert.equal(isPublicKey(bytes(key).subarray(1)), false);
});

test("the keys are kept as JSON, and test cards are known in the sandbox only", async () => {
  const kept = CardKeys.fromJson(new CardKeys(KEYS.keys, { is_sandbox: true }).toJson());
  assert.deepEqual([kept.keys, kept.is_sandbox], [KEYS.keys, true]);
  assert.deepEqual(
    await Promise.all(
      ["SVC1.TEST_VALID.0.0", "SVC1.TEST_EXPIRED.0.0", "SVC1.TEST_REVOKED.0.0", "SVC1.TEST_OTHER.0.0"].map(
        async (token) => (await kept.verify(token)).reason,
      ),
    ),
    [null, "expired", "card_revoked", "invalid_token"],
  );
  assert.equal((await KEYS.verify("SVC1.TEST_VALID.0.0")).reason, "invalid_token");
  assert.throws(() => CardKeys.fromJson("{}"), { name: "Unreadable" });
});

test("a time without its zone is refused", async () => {
  await assert.rejects(KEYS.verify("x", { at: "2026-05-01T18:00:00" }), TypeError);
  await assert.rejects(KEYS.verify("x", { at: "tomorrow+01:00" }), TypeError);
});

test("a card has one number, however it is typed or shown", () => {
  const stored = "SVC 1234 5678 9015";
  for (const typed of ["svc-1234-5678-9015", "SVC123456789015", " svc\u00a01234 5678\u20139015 ", stored])
    assert.equal(asStored(typed), stored);
  for (const other of ["TEST_VALID", "\u017fvc123456789015", "SVC 1234", ""]) assert.equal(asStored(other), other);
  const code = FILE.cases.find((one) => one.name === "a good code")?.text ?? "";
  const token = FILE.cases.find((one) => one.name === "a good token")?.text ?? "";
  assert.deepEqual([numberIn(code), numberIn(token), numberIn("SVC1.TEST_VIP.0.0")], [stored, stored, "TEST_VIP"]);
  assert.deepEqual(["", "SVC1", "SVC1.!.0.0", "SVC2.A.1.B"].map(numberIn), Array(4).fill("unreadable token"));
});
