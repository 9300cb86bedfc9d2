/** A number typed by hand. Its check digit is looked at before anybody is asked: most typing errors end here. */

import { word } from "../language.js";
import { at, fill } from "../page.js";
import { cardOf, hasGoodCheckDigit } from "../card_number.js";

// The letters of the last number: those of an organizer's cards are all the same, so the next one needs only digits.
let letters = "";

export function followTyping(onNumber: (number: string) => void): void {
  const dialog = at<HTMLDialogElement>("typing");
  const field = at<HTMLInputElement>("number");

  at("open-typing").addEventListener("click", () => {
    field.value = letters === "" ? "" : `${letters} `;
    field.inputMode = letters === "" ? "text" : "numeric";
    fill("number-trouble", null);
    dialog.showModal();
    field.focus();
  });
  field.addEventListener("input", () => fill("number-trouble", null));
  at("typing-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const number = cardOf(field.value);
    const trouble = troubleOf(number);
    fill("number-trouble", trouble);
    if (number === null || trouble !== null) return;
    dialog.close();
    onNumber(number);
  });
}

function troubleOf(number: string | null): string | null {
  if (number === null) return word("number_incomplete");
  return hasGoodCheckDigit(number) ? null : word("number_wrong");
}

/** Learn the letters from a card that was scanned. */
export function noteLetters(number: string): void {
  letters = /^[A-Z]{2,6}(?= )/.exec(number)?.[0] ?? letters;
}
