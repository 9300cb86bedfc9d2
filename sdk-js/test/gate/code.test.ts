/** What a reader sees, and what is made of it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, readCode, typedNumber } from "../../src/gate/decision/code.js";
import { WORDS } from "../../src/gate/pairing/words.js";
import { twoWords } from "../../src/gate/signing.js";
import { cases } from "./support/cases.js";

const CODES = cases<{ cases: { name: string; text: string; card_number: string | null }[] }>("codes").cases;

test("a typed number is the card in any spelling", () => {
  for (const text of ["SVC 1234 5678 9012", "svc-1234-5678-9012", " svc123456789012 "]) {
    const code = readCode(text);
    assert.deepEqual(code?.sent, { card_number: "SVC 1234 5678 9012" });
    assert.equal(code?.number, "SVC 1234 5678 9012");
  }
});

test("what is no code is not read", () => {
  const texts = ["", " ", "https://example.com/menu", "x".repeat(2000), "SVC1.", "SVC1.a.b.c\x07", "4006381333931"];
  texts.push("SVC 1234 5678 9012 ü", "ſVC 1234 5678 9012");
  for (const text of texts) assert.equal(readCode(text), null, text);
});

test("a token names its card, and is sent as it is", async () => {
  const token = `SVC1.${Buffer.from("SVC 1234 5678 9012").toString("base64url")}.1790000000.${"A".repeat(86)}`;
  const code = readCode(`${token}\n`);
  assert.deepEqual(code?.sent, { token });
  assert.equal(code?.number, "SVC 1234 5678 9012");
  assert.equal(code?.echo, token);
  const kept = Code.from(JSON.parse(JSON.stringify(code?.sent)));
  assert.equal(kept.number, code?.number);
  assert.equal(await kept.digest(), await code?.digest());
  assert.ok(!JSON.stringify(code).includes(token));
});

test("the codes that one phone makes are one echo", () => {
  const good = CODES.filter(({ text, card_number }) => text.startsWith("SVC2.") && card_number !== null);
  assert.ok(good.length > 5);
  for (const { text, card_number } of good) {
    const code = readCode(text);
    assert.equal(code?.number, card_number);
    assert.equal(code?.echo, card_number);
  }
});

test("a test card is read", () => {
  assert.deepEqual(readCode("TEST_VALID")?.sent, { card_number: "TEST_VALID" });
  assert.equal(readCode("SVC1.TEST_VALID.0.0")?.number, "TEST_VALID");
});

test("the check digit of a typed number", () => {
  assert.equal(typedNumber("svc 1234 5678 9015"), "SVC 1234 5678 9015");
  assert.equal(typedNumber("SVC 1234 5678 9012"), null);
  assert.equal(typedNumber("hello"), null);
});

test("two words of 256", async () => {
  assert.equal(WORDS.length, 256);
  assert.equal(new Set(WORDS).size, 256);
  // As the Python SDK computes them.
  assert.deepEqual(await twoWords("A7K39QXM2P", new Uint8Array(32), "request-1"), EXPECTED);
});

const EXPECTED = ["zipper", "shadow"];
