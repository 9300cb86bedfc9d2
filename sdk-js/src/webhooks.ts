/**
 * Webhook messages: the verification of their signature.
 *
 *     const event = await unwrap(body, headers, secret);
 *     if (event.type === "ticket.activated") console.log(event.data.card_number);
 *
 * A message may come more than once, with the same `id`.
 */

import { ConfigurationError, WebhookVerificationError } from "./errors.js";
import { eventOf, type WebhookEvent } from "./messages.js";

/** Headers as `fetch`, Node or a plain object have them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** The largest accepted clock difference, in seconds. A copy of a message is refused after that. */
  tolerance?: number | undefined;
  /** The time now, in Unix seconds. */
  now?: (() => number) | undefined;
}

const SIGNATURES = ["x-svc-signature", "x-svc-signature-next"];
const SIGNATURE = /^t=([0-9]{1,16}),v1=([0-9a-f]{64})$/;
const TOLERANCE_SECONDS = 300;
const HMAC = { name: "HMAC", hash: "SHA-256" };

/**
 * The message, if this secret signed it within the last five minutes; else `WebhookVerificationError`.
 *
 * `body` is the received body, unchanged: not parsed and serialized again. During a rotation both the old and the new
 * secret are valid.
 */
export async function unwrap(
  body: Uint8Array | ArrayBuffer | string,
  headers: WebhookHeaders,
  secret: string,
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  const raw = bytesOf(body);
  await verify(raw, headers, secret, options);
  try {
    return eventOf(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw)));
  } catch (cause) {
    throw new WebhookVerificationError("The message is signed, but it cannot be read.", { cause });
  }
}

/** Throws `WebhookVerificationError` unless this secret signed these bytes within the tolerance. */
export async function verify(
  body: Uint8Array | ArrayBuffer | string,
  headers: WebhookHeaders,
  secret: string,
  { tolerance = TOLERANCE_SECONDS, now = () => Date.now() / 1000 }: VerifyOptions = {},
): Promise<void> {
  const found = SIGNATURES.map((name) => headerOf(headers, name)).filter((one) => one !== null);
  if (found.length === 0) throw new WebhookVerificationError("The message has no x-svc-signature header.");
  const key = await keyOf(secret, "verify");
  let signed_at: number | null = null;
  for (const text of found) {
    const [, milliseconds, hex] = SIGNATURE.exec(text) ?? [];
    if (signed_at !== null || milliseconds === undefined || hex === undefined) continue;
    // WebCrypto compares in constant time.
    const is_good = await crypto.subtle.verify("HMAC", key, fromHex(hex), signedBytes(milliseconds, bytesOf(body)));
    if (is_good) signed_at = Number(milliseconds);
  }
  if (signed_at === null)
    throw new WebhookVerificationError("The signature does not match: another secret, or another body.");
  if (Math.abs(now() * 1000 - signed_at) > tolerance * 1000)
    throw new WebhookVerificationError("The message is too old, or this machine's clock is wrong.");
}

/** The `x-svc-signature` of these bytes at this time, in Unix seconds: for tests and for forwarding. */
export async function sign(
  body: Uint8Array | ArrayBuffer | string,
  secret: string,
  { at }: { at: number },
): Promise<string> {
  const milliseconds = String(Math.floor(at * 1000));
  const key = await keyOf(secret, "sign");
  const signature = await crypto.subtle.sign("HMAC", key, signedBytes(milliseconds, bytesOf(body)));
  const hex = Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `t=${milliseconds},v1=${hex}`;
}

/** `client.webhooks`: it needs no network. */
export class Webhooks {
  /** The message, if this secret signed it within the last five minutes; else `WebhookVerificationError`. */
  unwrap(
    body: Uint8Array | ArrayBuffer | string,
    headers: WebhookHeaders,
    secret: string,
    options: VerifyOptions = {},
  ): Promise<WebhookEvent> {
    return unwrap(body, headers, secret, options);
  }
}

function keyOf(secret: string, usage: "sign" | "verify"): Promise<CryptoKey> {
  if (!secret) throw new ConfigurationError("No secret: pass the one that the endpoint's creation returned.");
  return crypto.subtle.importKey("raw", new TextEncoder().encode(secret), HMAC, false, [usage]);
}

function bytesOf(body: Uint8Array | ArrayBuffer | string): Uint8Array {
  if (typeof body === "string") return new TextEncoder().encode(body);
  return body instanceof Uint8Array ? body : new Uint8Array(body);
}

function signedBytes(milliseconds: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`${milliseconds}.`);
  const whole = new Uint8Array(head.length + body.length);
  whole.set(head);
  whole.set(body, head.length);
  return whole;
}

function fromHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function headerOf(headers: WebhookHeaders, name: string): string | null {
  if (headers instanceof Headers) return headers.get(name);
  for (const [found, value] of Object.entries(headers))
    if (found.toLowerCase() === name && value !== undefined) return String(value);
  return null;
}

export { eventOf } from "./messages.js";
export type * from "./messages.js";
