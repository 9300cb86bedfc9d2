/** A card number as people type it: case, spaces and dashes do not matter; the last digit is a Luhn check digit. */

const TYPED = /^([A-Z]{2,6})(\d{4})(\d{4})(\d{4})$/;
const SEPARATORS = /[ \t\u00a0\u2010-\u2013-]/g;
const TEST_CARD = /^TEST_[A-Z_]{1,27}$/;

/** In the form that is stored, `SVC 1234 5678 9012`; null if it is none. The sandbox has test cards, such as `TEST_VALID`. */
export function cardOf(typed: string): string | null {
  const bare = typed.trim().replace(SEPARATORS, "").toUpperCase();
  if (TEST_CARD.test(bare)) return bare;
  const found = TYPED.exec(bare);
  return found === null ? null : found.slice(1).join(" ");
}

/** From the right, every second digit is doubled, and the sum ends in zero. */
export function hasGoodCheckDigit(number: string): boolean {
  if (TEST_CARD.test(number)) return true;
  const digits = number.replace(/\D/g, "");
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits[digits.length - 1 - place]);
    const doubled = place % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** The number that a code names; empty if it names none. Whether the code is good, the gate says. */
export function numberIn(shown: string): string {
  const parts = shown.trim().split(".");
  if (parts[0] === "SVC1" && parts[1] !== undefined) return cardOf(decoded(parts[1])) ?? "";
  return cardOf(shown) ?? "";
}

function decoded(text: string): string {
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "";
  }
}
