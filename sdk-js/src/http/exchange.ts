/** The exchange: it sends a call, and retries it while that can help and there is time. */

import { APIConnectionError } from "../errors.js";
import { type Answer, type Call, Unreadable } from "./call.js";
import { changedPolicy, DEFAULT_POLICY, NoAnswer, type PolicyChanges, type RetryPolicy, Tries } from "./retry.js";
import type { Settings } from "./settings.js";
import { events, type Fetch, type Request, send } from "./transport.js";

/** Sends the calls of all resources. */
export class Exchange {
  readonly settings: Settings;
  readonly policy: RetryPolicy;
  readonly #fetch: Fetch;

  constructor(settings: Settings, fetch?: Fetch, policy: RetryPolicy = DEFAULT_POLICY) {
    this.settings = settings;
    this.policy = policy;
    // Read at each call: a browser's fetch must be called without another object as `this`.
    this.#fetch = fetch ?? ((input, init) => globalThis.fetch(input, init));
  }

  /** The same exchange with another retry policy. */
  withPolicy(changes: PolicyChanges): Exchange {
    return new Exchange(this.settings, this.#fetch, changedPolicy(this.policy, changes));
  }

  /** The answer to a call, or the error that says why there is none. */
  async ask<T>(call: Call<T>): Promise<T> {
    const tries = new Tries(call, this.policy, () => performance.now() / 1000, Math.random);
    const request = this.#request(call);
    for (;;) {
      const result = await this.#try(call, request, tries);
      if ("value" in result) return result.value;
      await this.pause(result.wait);
    }
  }

  /** Wait between two tries, in seconds. */
  pause(seconds: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }

  /** The names and the data of server-sent events, until the connection ends or the signal ends it. */
  async *following(
    path: string,
    query: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): AsyncGenerator<[name: string, data: string], void> {
    const headers = new Headers({ ...this.settings.headers, Accept: "text/event-stream" });
    const request = { method: "GET", url: this.#url(path, query), headers };
    try {
      yield* events(this.#fetch, request, signal);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      throw new APIConnectionError("The stream from Gatepass broke. Open it again.", { cause: error });
    }
  }

  async #try<T>(call: Call<T>, request: Request, tries: Tries): Promise<{ value: T } | { wait: number }> {
    let answer: Answer;
    try {
      answer = await send(this.#fetch, request, tries.time_for_this_try);
    } catch (failure) {
      if (!(failure instanceof NoAnswer)) throw failure;
      return { wait: tries.afterFailure(failure) };
    }
    if (!answer.is_from_service) return { wait: tries.afterForeignAnswer(answer) };
    if (answer.is_refusal) return { wait: tries.afterRefusal(answer) };
    try {
      return { value: call.read(answer) };
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      return { wait: tries.afterForeignAnswer(answer) };
    }
  }

  #request(call: Call<unknown>): Request {
    // A value that cannot be in a header is an error of the caller, and nothing is sent.
    const headers = new Headers(this.settings.headers);
    if (call.body !== undefined) headers.set("Content-Type", "application/json");
    if (call.idempotency_key !== undefined) headers.set("Idempotency-Key", call.idempotency_key);
    if (call.if_match !== undefined) headers.set("If-Match", call.if_match);
    if (call.if_none_match !== undefined) headers.set("If-None-Match", call.if_none_match);
    const url = this.#url(call.path, call.query ?? {});
    const request = { method: call.method, url, headers };
    return call.body === undefined ? request : { ...request, body: JSON.stringify(call.body) };
  }

  #url(path: string, query: Readonly<Record<string, string>>): string {
    const text = new URLSearchParams(query).toString();
    return this.settings.base_url + path + (text && `?${text}`);
  }
}
