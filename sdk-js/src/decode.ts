/**
 * From JSON to models. A model is the object as the service sent it: known fields are checked, a missing field is an
 * error, and fields that this version does not know are left as they are.
 */

import { type Answer, isObject, type JsonObject, NO_CONTENT, Unreadable } from "./http/call.js";

export type Reader<T> = (value: unknown) => T;

/** One of these words, or one that a later version of the service has. */
export type OneOf<Known extends string> = Known | (string & {});

function expected<T>(name: string, holds: (value: unknown) => boolean): Reader<T> {
  return (value) => {
    if (!holds(value)) throw new Unreadable(`${name} was expected`);
    return value as T;
  };
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

export const text = expected<string>("a text", (value) => typeof value === "string");
export const flag = expected<boolean>("true or false", (value) => typeof value === "boolean");
export const amount = expected<number>("a number", (value) => typeof value === "number");
export const integer = expected<number>("a whole number", Number.isSafeInteger);
export const moment = expected<string>("a time", (value) => typeof value === "string" && RFC_3339.test(value));
export const record = expected<Readonly<JsonObject>>("an object", isObject);

export function maybe<T>(reader: Reader<T>): Reader<T | null> {
  return (value) => (value === null ? null : reader(value));
}

/** A field that not every service of this version sends. */
export function or<T>(reader: Reader<T>, missing: T): Reader<T> {
  return (value) => (value === undefined ? missing : reader(value));
}

export function list<T>(reader: Reader<T>): Reader<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value)) throw new Unreadable("a list was expected");
    return value.map(reader);
  };
}

/** An object with these fields. The compiler sees to it that each field of the model has its reader. */
export function shape<T>(fields: { [Name in keyof T]-?: Reader<T[Name]> }): Reader<T> {
  const readers = Object.entries<Reader<unknown>>(fields);
  return (value) => {
    if (!isObject(value)) throw new Unreadable("an object was expected");
    const found = { ...value };
    for (const [name, reader] of readers) found[name] = reader(Object.hasOwn(value, name) ? value[name] : undefined);
    return found as T;
  };
}

/** An object that can be changed. */
export interface Versioned {
  /** The version, for `if_match`; null in a list. */
  etag: string | null;
}

/** The field `etag` of a model, which an answer has in a header. */
export const etag: { [Name in keyof Versioned]: Reader<string | null> } = { etag: () => null };

/** A reader of the answer's `data`. */
export function dataAs<T>(reader: Reader<T>): (answer: Answer) => T {
  return (answer) => reader(answer.value["data"]);
}

/** A reader of the answer's `data`, with the ETag of the answer. */
export function versionedAs<T extends Versioned>(reader: Reader<T>): (answer: Answer) => T {
  return (answer) => ({ ...reader(answer.value["data"]), etag: answer.headers.get("etag") });
}

export function nothing(answer: Answer): void {
  if (answer.status !== NO_CONTENT) throw new Unreadable("nothing was expected");
}

const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** An object that is printed without this field, so that it does not get into a log. */
export function secretive<T extends object>(reader: Reader<T>, secret: keyof T & string): Reader<T> {
  return (value) => {
    const found = reader(value);
    const shown = (): object => (found[secret] ? { ...found, [secret]: "…" } : { ...found });
    return Object.defineProperty(found, INSPECT, { value: shown });
  };
}
