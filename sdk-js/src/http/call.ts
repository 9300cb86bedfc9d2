/** A call before it is sent, and an answer before it is decoded. Neither uses the network. */

/** An answer that does not match its model. */
export class Unreadable extends Error {
  override name = "Unreadable";
}

export type JsonObject = Record<string, unknown>;

export interface Call<T> {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  /** The result in an answer of the service. It throws `Unreadable` if the answer is another. */
  read: (answer: Answer) => T;
  query?: Readonly<Record<string, string>>;
  body?: object;
  idempotency_key?: string;
  if_match?: string;
  if_none_match?: string;
  /** False if a second try could act twice: then it is retried only if nothing was sent. */
  repeatable?: boolean;
  is_scan?: boolean;
}

export const NO_CONTENT = 204;
/** To a call that names what it has already. */
export const NOT_MODIFIED = 304;
export const MANIFEST_TYPE = "application/vnd.gatepass.manifest";

export class Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly content: Uint8Array;
  #value: JsonObject | undefined;

  constructor(status: number, headers: Headers, content: Uint8Array) {
    this.status = status;
    this.headers = headers;
    this.content = content;
  }

  get request_id(): string | null {
    return this.headers.get("x-request-id");
  }

  get was_replayed(): boolean {
    return this.headers.get("idempotent-replayed") === "true";
  }

  /** The JSON object in the body; empty if there is none. */
  get value(): JsonObject {
    this.#value ??= parsed(this.content);
    return this.#value;
  }

  /** Whether the service sent this. A captive portal answers 200 too, and a proxy has its own 404. */
  get is_from_service(): boolean {
    if (this.status === NO_CONTENT || this.status === NOT_MODIFIED) return this.request_id !== null;
    if (this.headers.get("content-type") === MANIFEST_TYPE) return this.status < 300;
    return this.status < 300 ? Object.keys(this.value).length > 0 : typeof this.value["code"] === "string";
  }

  get is_refusal(): boolean {
    return this.status >= 300 && this.status !== NOT_MODIFIED;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsed(content: Uint8Array): JsonObject {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(content));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
