/** The fields of every message. */

import { moment, type Reader, record, shape, text } from "../decode.js";
import type { JsonObject } from "../http/call.js";

/** The fields of every message. It may come more than once, with the same `id`. */
export interface Message<Type extends string, Data> {
  id: string;
  type: Type;
  organization_id: string;
  created_at: string;
  data: Data;
}

// It has no value. With it, `event.type === "ticket.activated"` leaves one type of message only.
declare const other: unique symbol;

/** Any other type, with its data unread. */
export type OtherEvent = Message<string & { readonly [other]?: never }, Readonly<JsonObject>>;

export function message<Type extends string, Data>(data: Reader<Data>): Reader<Message<Type, Data>> {
  return shape<Message<Type, Data>>({
    id: text,
    type: text as Reader<Type>,
    organization_id: text,
    created_at: moment,
    data,
  });
}

export const otherEvent: Reader<OtherEvent> = message(record);
