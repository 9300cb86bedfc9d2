/**
 * Times as the service writes them, RFC 3339 with microseconds, compared as numbers: milliseconds since 1970, with
 * their fraction. A `Date` would drop the microseconds, and a rule's first moment is one of them.
 */

const PATTERN = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

/** The moment of this text, or null if it is none, or has no offset. */
export function readMoment(text: string): number | null {
  const found = PATTERN.exec(text);
  if (found === null) return null;
  const [, seconds, fraction = "", offset] = found;
  const whole = Date.parse(`${seconds}${offset}`);
  return Number.isNaN(whole) ? null : whole + Number(`0.${fraction || "0"}`) * 1000;
}

/** The moment of a text that was checked when it came in, or that this device wrote. */
export function momentOf(text: string): number {
  const moment = readMoment(text);
  if (moment === null) throw new RangeError("A time with an offset was expected.");
  return moment;
}

export function formatMoment(moment: number): string {
  return new Date(moment).toISOString();
}
