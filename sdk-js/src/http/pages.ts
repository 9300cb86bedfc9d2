/** Lists that are longer than a page. */

import { query } from "../arguments.js";
import { list, maybe, type Reader, text } from "../decode.js";
import type { Call } from "./call.js";
import type { Exchange } from "./exchange.js";

/** `next_cursor` continues where this page ends. */
export interface Page<T> {
  data: readonly T[];
  has_more: boolean;
  next_cursor: string | null;
}

/** Iterate over it with `for await` for every item of every page. A page is fetched when it is needed. */
export class Pages<T> implements AsyncIterable<T> {
  readonly #exchange: Exchange;
  readonly #call: Call<Page<T>>;
  readonly #cursor_name: string;

  constructor(exchange: Exchange, path: string, item: Reader<T>, fields: object, cursor_name = "cursor") {
    const items = list(item);
    const cursor = maybe(text);
    this.#exchange = exchange;
    this.#cursor_name = cursor_name;
    this.#call = {
      method: "GET",
      path,
      query: query(fields),
      read: ({ value }) => ({
        data: items(value["data"]),
        has_more: value["has_more"] === true,
        next_cursor: cursor(value["next_cursor"] ?? null),
      }),
    };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** Page by page, for programs that store `next_cursor`. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    let call = this.#call;
    for (;;) {
      const page = await this.#exchange.ask(call);
      yield page;
      if (!page.has_more || page.next_cursor === null) return;
      call = { ...call, query: { ...call.query, [this.#cursor_name]: page.next_cursor } };
    }
  }

  /** The first page alone. */
  first(): Promise<Page<T>> {
    return this.#exchange.ask(this.#call);
  }
}

/** The size of a page, at most 100, and where it begins. */
export interface PageOptions {
  limit?: number | null | undefined;
  cursor?: string | null | undefined;
}
