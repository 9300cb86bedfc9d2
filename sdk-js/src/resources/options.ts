/** Options that many calls have, and objects that calls take. */

/** A call that acts once, however often it is sent. */
export interface Once {
  /** The key of an earlier call, to repeat it; else one is made. */
  idempotency_key?: string | null | undefined;
}

/** A call that changes an object only if it is still the one that you read. */
export interface Changed {
  /** The `etag` of the object. */
  if_match?: string | null | undefined;
}

/** A person: a name, an e-mail address, or both. The address finds the card that this person has. */
export interface HolderDetails {
  name?: string | null | undefined;
  email?: string | null | undefined;
  locale?: string | null | undefined;
}

/** With a condition, a second try could be refused because of the first: it is sent once. */
export function ifMatch(if_match: string | null | undefined): { if_match?: string; repeatable?: boolean } {
  return if_match === null || if_match === undefined ? {} : { if_match, repeatable: false };
}

/** Each item of a batch with its result. */
export function paired<Item, Result>(items: readonly Item[], results: readonly Result[]): [Item, Result][] {
  if (items.length !== results.length) throw new Error("The service answered with another number of results.");
  return items.map((item, at) => [item, results[at] as Result]);
}
