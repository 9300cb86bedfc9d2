// This phone's key, its certificate, and the ways in which a card comes to a phone and leaves it.

import { base64url, fromBase64url, phoneCode } from "./code.js";
import * as server from "./server.js";
import * as store from "./store.js";

const text = new TextEncoder();
// A code names its phone by the number of its enrolment, modulo 16.
const NUMBERS = 16;
// WebKitGTK refuses one new key in 128, where a half begins with a zero (WebKit's bug 307095). The next try has another.
const TRIES = 5;

// Ed25519 in WebCrypto came to browsers from 2023 (Safari 17) to 2025 (Chrome 137).
let supported = null;
export function canSign() {
  supported ??= newKeys().then(() => true, () => false);
  return supported;
}

async function newKeys(tries = TRIES) {
  if (!globalThis.crypto?.subtle) throw new Error("WebCrypto needs TLS");
  try {
    return await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
  } catch (fault) {
    if (fault.name !== "OperationError" || tries === 1) throw fault;
    return newKeys(tries - 1);
  }
}

export class Phone {
  // `kept` is what the store has: {keys, publicKey, certificate, enrolment, expiresAt}, or null.
  constructor(token, kept) {
    this.token = token;
    this.kept = kept;
  }

  static async of(token) {
    return new Phone(token, await store.read("phones", token));
  }

  get isEnrolled() {
    return this.kept?.certificate != null;
  }

  // Whether the card is here: the certificate is of the enrolment that the server knows, of which it tells the number.
  shows(phone) {
    return this.isEnrolled && phone.state === "enrolled" && phone.enrolment % NUMBERS === this.kept.enrolment % NUMBERS;
  }

  isValid(seconds) {
    return this.isEnrolled && this.kept.expiresAt > seconds;
  }

  code(seconds) {
    return phoneCode(this.kept.certificate, this.kept.keys.privateKey, seconds);
  }

  // The key is kept before the server hears of it: a card must never be bound to a key that is lost.
  async #key() {
    if (this.kept) return;
    const keys = await newKeys();
    const publicKey = base64url(await crypto.subtle.exportKey("raw", keys.publicKey));
    this.kept = { keys, publicKey, certificate: null, enrolment: null, expiresAt: 0 };
    await store.write("phones", this.token, this.kept);
  }

  async #sign(bytes) {
    return base64url(await crypto.subtle.sign("Ed25519", this.kept.keys.privateKey, bytes));
  }

  async #proof(seconds) {
    await this.#key();
    const proof = await this.#sign(text.encode(`svc2-enrol\0${this.token}${seconds}`));
    return { public_key: this.kept.publicKey, proof, at: seconds };
  }

  async #certified(path, seconds, more = {}) {
    const body = { ...(await this.#proof(seconds)), ...more };
    const { certificate, enrolment, expires_at: expiresAt } = await server.post(this.token, path, body);
    this.kept = { ...this.kept, certificate, enrolment, expiresAt };
    await store.write("phones", this.token, this.kept);
  }

  // A key that was ended is never enrolled again; a new one is.
  async #withNewKey(action) {
    try {
      await action();
    } catch (fault) {
      if (fault.code !== "phone_ended") throw fault;
      await this.forget();
      await action();
    }
  }

  enrol(seconds) {
    return this.#withNewKey(() => this.#certified("/phone", seconds));
  }

  renew(seconds) {
    return this.#certified("/phone/certificate", seconds);
  }

  moveHere(seconds, digits) {
    return this.#withNewKey(() => this.#certified("/phone/move", seconds, { code: digits }));
  }

  // What the old phone needs to let the card go: it opens this address with its camera, agrees, and sends it.
  async request(seconds) {
    const { public_key: key, proof, at } = await this.#proof(seconds);
    return `${location.origin}${location.pathname}#move=${key}.${proof}.${at}`;
  }

  // On the old phone: let the card go to the phone whose request this is.
  async giveTo(request) {
    const [key, proof, at] = request.split(".");
    const begin = text.encode("svc2-move\0");
    const raw = fromBase64url(key);
    const signed = new Uint8Array(begin.length + raw.length);
    signed.set(begin);
    signed.set(raw, begin.length);
    const body = { public_key: key, proof, at: Number(at), old_signature: await this.#sign(signed) };
    await server.post(this.token, "/phone/move", body);
    await this.forget();
  }

  async end(seconds) {
    const { proof, at } = await this.#proof(seconds);
    await server.post(this.token, "/phone/end", { proof, at });
    await this.forget();
  }

  async forget() {
    this.kept = null;
    await store.forget(this.token, ["phones"]);
  }
}
