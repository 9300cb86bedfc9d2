/**
 * Pairing: a device shows its public key for a code, a person compares two words, the device fetches its API key.
 *
 * The words are made of the code, the public key and the request, and computed here: whoever stands between the device
 * and the service shows other words, or has another key.
 */

import { encoded } from "../../card/base64url.js";
import { APIConnectionError, APIStatusError, ConfigurationError, PairingEnded } from "../../errors.js";
import { type Answer, isObject, type JsonObject } from "../../http/call.js";
import { NoAnswer, refusalOf } from "../../http/retry.js";
import { checkedBaseUrl } from "../../http/settings.js";
import { type Fetch, send } from "../../http/transport.js";
import { APP } from "../calls.js";
import type { GateClock } from "../clock.js";
import type { KnownDevice } from "../device.js";
import { formatMoment } from "../moment.js";
import { type DeviceKey, twoWords } from "../signing.js";
import { wait } from "../waiting.js";

export const API_PATH = "/api/public/v1";
// Seconds.
const TRY_SECONDS = 5;
// How often the device asks whether it was confirmed.
const ASK_SECONDS = 2;
// A code lives for 10 minutes; the clocks of both may differ.
const GIVE_UP_SECONDS = 660;

/** Called with the two words as soon as they are known, so that they can be shown. */
export type OnWords = (words: [string, string]) => void | Promise<void>;

/** The device as the service has it, and its API key. */
export interface Paired {
  device: KnownDevice;
  api_key: string;
}

export class PairingClient {
  readonly root: string;
  readonly #key: DeviceKey;
  readonly #clock: GateClock;
  readonly #fetch: Fetch;

  constructor(root: string, key: DeviceKey, clock: GateClock, fetch: Fetch) {
    this.root = root;
    this.#key = key;
    this.#clock = clock;
    this.#fetch = fetch;
  }

  /** Ask, show the words, and wait until a person has confirmed them. Throws `PairingEnded` if nobody does. */
  async pair(code: string, name: string, on_words: OnWords | null, signal: AbortSignal): Promise<Paired> {
    const ends = performance.now() + GIVE_UP_SECONDS * 1000;
    const canonical = canonicalCode(code);
    const asked = { public_key: encoded(this.#key.public_key), name, app: APP };
    const request = String((await this.#post(`/gate/pair/${encodeURIComponent(canonical)}`, asked))["request"]);
    signal.throwIfAborted();
    await on_words?.(await twoWords(canonical, this.#key.public_key, request));
    do {
      signal.throwIfAborted();
      const paired = await this.#fetchKey(request);
      if (paired !== null) return paired;
      await wait(ASK_SECONDS, signal);
    } while (performance.now() < ends);
    throw new PairingEnded("Nobody confirmed this device in time. Ask for another code.");
  }

  /** The key, if the pairing is confirmed. A lost answer is fetched again, with another key. */
  async #fetchKey(request: string): Promise<Paired | null> {
    const at = this.#clock.now();
    const signed = { at: formatMoment(at), signature: await this.#key.signFetch(request, at) };
    let data: JsonObject;
    try {
      data = await this.#post(`/gate/pair/${encodeURIComponent(request)}/key`, signed);
    } catch (error) {
      if (error instanceof APIConnectionError) return null;
      throw error;
    }
    const { status, device, key } = data;
    return status === "paired" && isObject(device) ? { device: device as KnownDevice, api_key: String(key) } : null;
  }

  async #post(path: string, body: object): Promise<JsonObject> {
    const headers = new Headers({ "Content-Type": "application/json", Accept: "application/json" });
    const request = { method: "POST", url: this.root + path, headers, body: JSON.stringify(body) };
    let answer: Answer;
    try {
      answer = await send(this.#fetch, request, TRY_SECONDS);
    } catch (cause) {
      if (!(cause instanceof NoAnswer)) throw cause;
      throw new APIConnectionError("Gatepass cannot be reached. Check the network and try again.", { cause });
    }
    if (!answer.is_from_service) {
      throw new APIConnectionError(`Something other than Gatepass answered (${answer.status}). Check the network.`);
    }
    if (answer.status >= 400) throw ended(refusalOf(answer));
    this.#correctClock(answer.headers.get("date"));
    const data = answer.value["data"];
    return isObject(data) ? data : {};
  }

  /** The service takes a signature of the last two minutes, and a new machine's clock may be years behind. */
  #correctClock(date: string | null): void {
    const now = date === null ? Number.NaN : Date.parse(date);
    if (!Number.isNaN(now)) this.#clock.corrected(this.#clock.now() - now);
  }
}

function ended(error: APIStatusError): APIStatusError | PairingEnded {
  const is_over = error.code === "pairing_not_found" || error.code === "pairing_ended";
  return is_over ? new PairingEnded(error.message, { cause: error }) : error;
}

/** As the service has it: dashes and spaces do not matter, nor does the case. */
export function canonicalCode(code: string): string {
  return code.replaceAll("-", "").replaceAll(" ", "").toUpperCase();
}

/** The address of the service without the path of the API, which may be given too. */
export function rootOf(url: string, allow_http = false): string {
  if (!url) throw new ConfigurationError("No address of the service: pass url, such as https://gatepass.example.");
  const checked = checkedBaseUrl(url, allow_http);
  return (checked.endsWith(API_PATH) ? checked.slice(0, -API_PATH.length) : checked).replace(/\/+$/, "");
}
