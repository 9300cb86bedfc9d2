/**
 * What a gate keeps is encrypted: AES-256-GCM under a key that the browser does not give away, not even to this page.
 *
 * That protects a copy of what is in the storage: a backup, a profile that is sent to support. It does not protect from
 * somebody who takes the device and runs the browser on it; lock its screen, and encrypt its disk.
 */

import { encoded } from "../../card/base64url.js";
import { GateError } from "../../errors.js";
import { type Bytes, joined, own, utf8 } from "../bytes.js";

const NONCE_BYTES = 12;
const MARK_BYTES = 16;
// WebKitGTK refuses one new key in 128, where a half begins with a zero (WebKit's bug 307095). The next try has another.
const TRIES = 5;

/** None can be extracted. */
export interface SealingKeys {
  seal: CryptoKey;
  mark: CryptoKey;
}

/** The keys of one gate. `id` says whether two places are of the same gate, `made_at` (by this machine) since when. */
export interface GateKeys extends SealingKeys {
  id: string;
  made_at: number;
  sign: CryptoKey;
  /** Of `sign`. */
  public_key: Bytes;
}

export async function createKeys(): Promise<GateKeys> {
  const sealing = await createSealingKeys();
  const pair = await createSigningKeys().catch((cause: unknown) => {
    throw new GateError("This browser is too old for a gate: it cannot sign with Ed25519.", { cause });
  });
  const public_key = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  return { ...sealing, id: crypto.randomUUID(), made_at: Date.now(), sign: pair.privateKey, public_key };
}

async function createSigningKeys(tries = TRIES): Promise<CryptoKeyPair> {
  try {
    return (await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"])) as CryptoKeyPair;
  } catch (fault) {
    if ((fault as Error).name !== "OperationError" || tries === 1) throw fault;
    return createSigningKeys(tries - 1);
  }
}

export async function createSealingKeys(): Promise<SealingKeys> {
  if (crypto.subtle === undefined) throw new GateError("This page has no cryptography: it needs https://.");
  const [seal, mark] = await Promise.all([
    crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]),
    crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256", length: 256 }, false, ["sign"]),
  ]);
  return { seal, mark };
}

/** Seals values, and marks cards. `purpose` is signed with each value, so that none can stand for another. */
export class Sealer {
  readonly #keys: SealingKeys;

  constructor(keys: SealingKeys) {
    this.#keys = keys;
  }

  async seal(value: Uint8Array, purpose: string): Promise<Bytes> {
    const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const sealed = await crypto.subtle.encrypt(algorithm(nonce, purpose), this.#keys.seal, own(value));
    return joined(nonce, new Uint8Array(sealed));
  }

  async opened(sealed: Uint8Array, purpose: string): Promise<Bytes> {
    const [nonce, content] = [sealed.slice(0, NONCE_BYTES), sealed.slice(NONCE_BYTES)];
    try {
      return new Uint8Array(await crypto.subtle.decrypt(algorithm(nonce, purpose), this.#keys.seal, content));
    } catch (cause) {
      throw new GateError("What this gate keeps was sealed with another key, or is damaged.", { cause });
    }
  }

  async sealJson(value: unknown, purpose: string): Promise<Bytes> {
    return this.seal(utf8(JSON.stringify(value)), purpose);
  }

  async openedJson(sealed: Uint8Array, purpose: string): Promise<unknown> {
    return JSON.parse(new TextDecoder().decode(await this.opened(sealed, purpose)));
  }

  /** A name for this card at this event that says nothing without the key. */
  async mark(event_id: string, card_number: string): Promise<string> {
    const mac = await crypto.subtle.sign("HMAC", this.#keys.mark, utf8(`${event_id}\n${card_number}`));
    return encoded(new Uint8Array(mac, 0, MARK_BYTES));
  }
}

function algorithm(nonce: Uint8Array, purpose: string): AesGcmParams {
  return { name: "AES-GCM", iv: own(nonce), additionalData: utf8(purpose) };
}
