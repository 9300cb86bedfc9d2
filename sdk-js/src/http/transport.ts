/**
 * One request, one answer, within a time limit.
 *
 * The limit holds for the whole: connecting, the headers, and each part of the body. It also holds if a `fetch` of
 * yours does not listen to its signal.
 */

import { Answer } from "./call.js";
import { NoAnswer, refusalOf } from "./retry.js";

export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

export interface Request {
  method: string;
  url: string;
  headers: Headers;
  body?: string;
}

// A page of 100 events is a tenth of this.
const LARGEST_ANSWER = 16 * 1024 * 1024;
// Seconds without a sign of life after which a stream is dead. The service gives one every 20 seconds.
const SILENCE = 45;
const OK = 200;

/** The answer, or `NoAnswer`. */
export async function send(fetch: Fetch, request: Request, within: number): Promise<Answer> {
  const limit = new TimeLimit(within);
  try {
    const response = await limit.hold(fetch(request.url, init(request, limit.signal)));
    return new Answer(response.status, response.headers, await content(response, limit));
  } catch (error) {
    throw limit.is_over ? tooLate(error) : noAnswer(error);
  } finally {
    limit.end();
  }
}

/** The names and the data of server-sent events. It ends with the connection, and throws what ended it. */
export async function* events(
  fetch: Fetch,
  request: Request,
  signal?: AbortSignal,
): AsyncGenerator<[name: string, data: string], void> {
  const limit = new TimeLimit(SILENCE, signal);
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  try {
    const response = await limit.hold(fetch(request.url, init(request, limit.signal)));
    if (response.status !== OK)
      throw refusalOf(new Answer(response.status, response.headers, await content(response, limit)));
    reader = response.body?.getReader();
    if (reader !== undefined) yield* messages(lines(reader, limit));
  } catch (error) {
    throw error instanceof TypeError || limit.is_over ? noAnswer(error) : error;
  } finally {
    limit.end();
    // A reader that is left behind would keep the connection.
    await reader?.cancel().catch(() => undefined);
  }
}

/** The service redirects nobody. Whoever does may not have the key and the token of a card. */
function init(request: Request, signal: AbortSignal): RequestInit {
  return {
    method: request.method,
    headers: request.headers,
    body: request.body ?? null,
    redirect: "manual",
    cache: "no-store",
    credentials: "omit",
    referrerPolicy: "no-referrer",
    signal,
  };
}

async function content(response: Response, limit: TimeLimit): Promise<Uint8Array> {
  const reader = response.body?.getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const part = reader && (await limit.hold(reader.read()));
    if (part?.value === undefined) break;
    parts.push(part.value);
    size += part.value.length;
    if (size > LARGEST_ANSWER) {
      reader?.cancel().catch(() => undefined);
      throw new TypeError("The answer is too large.");
    }
  }
  return joined(parts, size);
}

function joined(parts: Uint8Array[], size: number): Uint8Array {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

async function* lines(reader: ReadableStreamDefaultReader<Uint8Array>, limit: TimeLimit): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await limit.hold(reader.read());
    if (done) return;
    limit.begin();
    rest += decoder.decode(value, { stream: true });
    if (rest.length > LARGEST_ANSWER) throw new TypeError("The answer is too large.");
    const whole = rest.split(/\r\n|\n/);
    rest = whole.pop() ?? "";
    yield* whole;
  }
}

/** The service sends the data of an event in one line. */
async function* messages(lines: AsyncIterable<string>): AsyncGenerator<[string, string], void> {
  let name = "";
  for await (const line of lines) {
    if (line.startsWith("event: ")) name = line.slice("event: ".length);
    else if (line.startsWith("data: ")) yield [name, line.slice("data: ".length)];
  }
}

class TimeLimit {
  is_over = false;
  readonly #abort = new AbortController();
  readonly #seconds: number;
  readonly #stop: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #fail: (reason: unknown) => void = () => undefined;
  readonly #failed: Promise<never>;

  constructor(seconds: number, stop?: AbortSignal) {
    this.#seconds = seconds;
    this.#stop = stop;
    this.#failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.#failed.catch(() => undefined);
    stop?.addEventListener("abort", this.#stopped);
    if (stop?.aborted) this.#stopped();
    this.begin();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Count from now on. */
  begin(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.is_over = true;
      this.#give_up(new TypeError("The answer was not complete in time."));
    }, this.#seconds * 1000);
  }

  /** The result, unless the time ends first. */
  hold<T>(result: Promise<T>): Promise<T> {
    return Promise.race([result, this.#failed]);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#stop?.removeEventListener("abort", this.#stopped);
  }

  readonly #stopped = (): void => this.#give_up(this.#stop?.reason);

  #give_up(reason: unknown): void {
    this.#fail(reason);
    this.#abort.abort(reason);
  }
}

function tooLate(cause: unknown): NoAnswer {
  return new NoAnswer("The answer was not complete in time.", { was_sent: true, was_late: true, cause });
}

function noAnswer(cause: unknown): NoAnswer {
  return new NoAnswer("There is no answer.", { was_sent: !neverConnected(cause), cause });
}

// How Node names a failed resolver or connection. A browser does not tell, so there every request counts as sent.
const STEPS_BEFORE_SENDING: ReadonlySet<unknown> = new Set(["connect", "getaddrinfo"]);
const BEFORE_SENDING = /^(UND_ERR_CONNECT_TIMEOUT|CERT_|ERR_TLS_CERT_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED)/;

function neverConnected(error: unknown): boolean {
  const cause = (error as { cause?: { syscall?: unknown; code?: unknown; errors?: unknown } } | null)?.cause;
  if (typeof cause !== "object" || cause === null) return false;
  if (Array.isArray(cause.errors))
    return cause.errors.length > 0 && cause.errors.every((one) => neverConnected({ cause: one }));
  return STEPS_BEFORE_SENDING.has(cause.syscall) || BEFORE_SENDING.test(String(cause.code));
}
