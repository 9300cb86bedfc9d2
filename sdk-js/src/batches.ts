/** Batches: any number of items, cut into as few calls as the service takes. */

// The bounds of the service: a larger batch is refused.
const MOST_ITEMS = 1_000;
const LARGEST_BODY = 1024 * 1024;
// The body around the items: `{"tickets":[]}`, or the expiry of tokens beside their cards.
const AROUND = 256;

/** Batches of at most 1,000 items and 1 MiB. An item is read when its batch is filled, so memory stays bounded. */
export async function* cut<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T[], void, undefined> {
  const encoder = new TextEncoder();
  let batch: T[] = [];
  let size = AROUND;
  for await (const item of items) {
    const length = encoder.encode(JSON.stringify(item)).length + 1;
    if (batch.length > 0 && (batch.length === MOST_ITEMS || size + length > LARGEST_BODY)) {
      yield batch;
      batch = [];
      size = AROUND;
    }
    batch.push(item);
    size += length;
  }
  if (batch.length > 0) yield batch;
}
