/**
 * The curve of Ed25519 (RFC 8032, section 5.1), for what WebCrypto does not say: whether a key is of the full prime order,
 * and whether a signature is good where a browser has no Ed25519. There is no secret here, so it need not run in
 * constant time. Points are (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z.
 */

type Point = readonly [x: bigint, y: bigint, z: bigint, t: bigint];

const P = 2n ** 255n - 19n;
export const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
const ROOT_OF_MINUS_ONE = 19681161376707505956807079304988542015446066515923890162744021073123829784752n;
const NEUTRAL: Point = [0n, 1n, 1n, 0n];
const BASE = fromAffine(
  15112221349535400772501151409588531511454012693041857206046113283949847762202n,
  46316835694926478169428394003475163141307993866256225615783033603165251855960n,
);

/** Whether a phone can have made this key: canonical, on the curve, and of the full prime order. */
export function isPublicKey(encoded: Uint8Array): boolean {
  const found = encoded.length === 32 ? point(encoded) : null;
  return found !== null && !isSmall(found) && equal(combined(0n, found, ORDER), NEUTRAL);
}

/** Whether the owner of this public key signed: `challenge` is the hash that RFC 8032 names k. */
export function isSigned(public_key: Uint8Array, signature: Uint8Array, challenge: Uint8Array): boolean {
  const key = point(public_key);
  const commitment = point(signature.subarray(0, 32));
  if (key === null || commitment === null) return false;
  const answer = numberOf(signature.subarray(32));
  return equal(combined(answer, negative(key), numberOf(challenge) % ORDER), commitment);
}

/** The number in these bytes, the least significant first. */
export function numberOf(bytes: Uint8Array): bigint {
  let hex = "0x0";
  for (let at = bytes.length - 1; at >= 0; at--) hex += (bytes[at] as number).toString(16).padStart(2, "0");
  return BigInt(hex);
}

/** The point with this y and this sign of x, if it is on the curve and in canonical form. */
function point(encoded: Uint8Array): Point | null {
  const number = numberOf(encoded);
  const sign = number >> 255n;
  const y = BigInt.asUintN(255, number);
  if (y >= P) return null;
  const above = mod(y * y - 1n);
  const below = mod(D * y * y + 1n);
  const cube = mod(below * below * below);
  let x = mod(above * cube * power(mod(above * cube * cube * below), (P - 5n) / 8n));
  const square = mod(below * x * x);
  if (square !== above) {
    if (square !== mod(-above)) return null;
    x = mod(x * ROOT_OF_MINUS_ONE);
  }
  if (x === 0n && sign) return null;
  return fromAffine((x & 1n) === sign ? x : P - x, y);
}

function mod(number: bigint): bigint {
  const rest = number % P;
  return rest < 0n ? rest + P : rest;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = mod(result * result);
    if (bit === "1") result = mod(result * base);
  }
  return result;
}

function fromAffine(x: bigint, y: bigint): Point {
  return [x, y, 1n, mod(x * y)];
}

function add(one: Point, other: Point): Point {
  const a = mod((one[1] - one[0]) * (other[1] - other[0]));
  const b = mod((one[1] + one[0]) * (other[1] + other[0]));
  const c = mod(2n * one[3] * other[3] * D);
  const d = mod(2n * one[2] * other[2]);
  return product(b - a, d - c, d + c, b + a);
}

function double(one: Point): Point {
  const a = mod(one[0] * one[0]);
  const b = mod(one[1] * one[1]);
  const h = a + b;
  const g = a - b;
  return product(h - mod((one[0] + one[1]) ** 2n), 2n * mod(one[2] * one[2]) + g, g, h);
}

function product(e: bigint, f: bigint, g: bigint, h: bigint): Point {
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)];
}

function negative([x, y, z, t]: Point): Point {
  return [P - x, y, z, P - t];
}

/** of_base · BASE + of_point · point, both in one pass over the bits. */
function combined(of_base: bigint, point: Point, of_point: bigint): Point {
  const both = add(BASE, point);
  const bits = Math.max(of_base.toString(2).length, of_point.toString(2).length);
  let total = NEUTRAL;
  for (let bit = BigInt(bits - 1); bit >= 0n; bit--) {
    total = double(total);
    const base_too = (of_base >> bit) & 1n;
    const point_too = (of_point >> bit) & 1n;
    if (base_too && point_too) total = add(total, both);
    else if (base_too) total = add(total, BASE);
    else if (point_too) total = add(total, point);
  }
  return total;
}

function equal(one: Point, other: Point): boolean {
  return mod(one[0] * other[2] - other[0] * one[2]) === 0n && mod(one[1] * other[2] - other[1] * one[2]) === 0n;
}

/** Whether its order is 1, 2, 4 or 8: such a key would accept signatures that nobody made. */
function isSmall(point: Point): boolean {
  return equal(double(double(double(point))), NEUTRAL);
}
