/** A card number: as people type it, and as a code names it. */

import { asStored, numberIn } from "@gatepass/sdk/card";
import { typedNumber } from "@gatepass/sdk/gate";

const NUMBER = /^[A-Z]{2,6} \d{4} \d{4} \d{4}$/;
// The sandbox has cards for trying, such as TEST_VALID.
const TEST_CARD = /^TEST_[A-Z_]{1,27}$/;

/** In the form that is stored, `SVC 1234 5678 9012`; null if it is none, or not yet. */
export function cardOf(typed: string): string | null {
  const test = typed.trim().toUpperCase();
  const stored = TEST_CARD.test(test) ? test : asStored(typed);
  return TEST_CARD.test(stored) || NUMBER.test(stored) ? stored : null;
}

export function hasGoodCheckDigit(number: string): boolean {
  return TEST_CARD.test(number) || typedNumber(number) !== null;
}

/** The number that a code names; empty if it names none. Whether the code is good, the gate says. */
export function cardIn(shown: string): string {
  const text = shown.trim();
  return cardOf(/^SVC[12]\./.test(text) ? numberIn(text) : text) ?? "";
}
