/** The result of one item of a batch. */

import { integer, maybe, or, type Reader, shape, text } from "../decode.js";
import { type APIStatusError, classOf } from "../errors.js";

/** A refused item has `error` and `code`, and no data. */
export interface ItemResult {
  status: number;
  error: string | null;
  code: string | null;
  param: string | null;
  /** The error that a call for this item alone would have thrown; null if it was not refused. */
  refusal: APIStatusError | null;
}

export function itemResult<T>(data: Reader<T>): Reader<ItemResult & { data: T | null }> {
  const read = shape<ItemResult & { data: T | null }>({
    status: integer,
    error: or(maybe(text), null),
    code: or(maybe(text), null),
    param: or(maybe(text), null),
    data: or(maybe(data), null),
    refusal: () => null,
  });
  return (value) => {
    const found = read(value);
    const { status, code, param, error } = found;
    if (code !== null) found.refusal = new (classOf(status, code))(error ?? "", { status, code, param });
    return found;
  };
}
