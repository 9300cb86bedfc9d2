/**
 * Verification of Ed25519 signatures by WebCrypto, as strict as libsodium, which the service uses: numbers in canonical
 * form only, no points of small order. Implementations differ in that. So a token gets the same verdict in every
 * browser, in Node and from the service.
 */

import { GatepassError } from "../errors.js";
import type { Bytes } from "./base64url.js";
import { isSigned, numberOf, ORDER } from "./curve.js";

export { isPublicKey } from "./curve.js";

// The y of the points whose order is 1, 2, 4 or 8: 0, 1, -1 and the two of order 8.
const SMALL: ReadonlySet<bigint> = new Set([
  0n,
  1n,
  2n ** 255n - 20n,
  2707385501144840649318225287225658788936804267575313519463743609750303402022n,
  55188659117513257062467267217118295137698188065244968500265048394206261417927n,
]);
const P = 2n ** 255n - 19n;

/** Whether the owner of this public key signed this message. */
export async function verify(public_key: Bytes, message: Bytes, signature: Bytes): Promise<boolean> {
  if (public_key.length !== 32 || signature.length !== 64) return false;
  const commitment = signature.subarray(0, 32);
  if (!isStrict(public_key) || !isStrict(commitment) || numberOf(signature.subarray(32)) >= ORDER) return false;
  const { subtle } = crypto;
  if (subtle === undefined) throw new GatepassError("This page has no cryptography: it needs https://.");
  try {
    const key = await subtle.importKey("raw", public_key, "Ed25519", false, ["verify"]);
    return await subtle.verify("Ed25519", key, signature, message);
  } catch (error) {
    // Another error is about the key: it is not on the curve.
    if (!isUnknownAlgorithm(error)) return false;
  }
  const hashed = new Uint8Array(64 + message.length);
  hashed.set(commitment);
  hashed.set(public_key, 32);
  hashed.set(message, 64);
  return isSigned(public_key, signature, new Uint8Array(await subtle.digest("SHA-512", hashed)));
}

/** Whether this can be a point in canonical form that is not of small order. */
function isStrict(encoded: Uint8Array): boolean {
  const y = BigInt.asUintN(255, numberOf(encoded));
  return y < P && !SMALL.has(y);
}

function isUnknownAlgorithm(error: unknown): boolean {
  return (error as { name?: unknown } | null)?.name === "NotSupportedError";
}
