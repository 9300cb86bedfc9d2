/** The fields of every message. */

import { moment, type Reader, record, shape, text } from "../decode.js";
import type { JsonObject } from "../http/call.js";

interface Fields<Type extends string, Data> {
  id: string;
  type: Type;
  organization_id: string;
  created_at: string;
  data: Data;
}

/** The fields of every message. It may come more than once, with the same `id`. */
export abstract class Message<Type extends string = string, Data = unknown> {
  declare readonly id: string;
  declare readonly type: Type;
  declare readonly organization_id: string;
  declare readonly created_at: string;
  declare readonly data: Data;

  constructor(fields: Fields<Type, Data>) {
    // Fields that this version does not know are kept too.
    Object.assign(this, fields);
  }
}

/** Any other type, with its data unread. */
export class OtherEvent extends Message<string, Readonly<JsonObject>> {}

/** A reader of messages of this class, with this data. */
export function message<Type extends string, Data, Kind extends Message<Type, Data>>(
  kind: new (fields: Fields<Type, Data>) => Kind,
  data: Reader<Data>,
): Reader<Kind> {
  const read = shape<Fields<Type, Data>>({
    id: text,
    type: text as Reader<Type>,
    organization_id: text,
    created_at: moment,
    data,
  });
  return (value) => new kind(read(value));
}

export const otherEvent = message(OtherEvent, record);
