/**
 * A hardware reader, which is a keyboard to the browser: it types a code and presses Enter.
 *
 * It is heard on the document, whatever has the focus. A person types slowly, a reader fast; what the reader has typed into a
 * field is taken out of it again, and no button that has the focus is pressed by it.
 */

// Milliseconds a key, on average: a quick typist needs 80, a slow reader 20. One key may be late, while the page is busy.
const FAST = 45;
const PAUSE = 250;
// Shorter than any code, longer than what a person types by accident.
const SHORTEST = 6;
const LONGEST = 1024;
// What codes and numbers are made of. Another character means that the reader and the phone disagree about the keyboard.
const OURS = /^[A-Za-z0-9 ._:/#%?=&+~-]*$/;

interface Burst {
  began: number;
  last: number;
  typed: string;
  /** The same keys on an American keyboard, which is what readers have unless somebody has changed them. */
  american: string;
  field: HTMLInputElement | null;
  before: string;
}

export function followReader(onCode: (text: string) => void): void {
  let burst: Burst | null = null;

  const pressed = (event: KeyboardEvent): void => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (burst !== null && event.timeStamp - burst.last > PAUSE) burst = null;
    if (event.key === "Enter") {
      const ended = burst;
      burst = null;
      if (ended === null || !isReader(ended, event.timeStamp)) return;
      event.preventDefault();
      event.stopPropagation();
      if (ended.field !== null) putBack(ended.field, ended.before);
      onCode(OURS.test(ended.typed) ? ended.typed : ended.american);
    } else if (event.key.length === 1) {
      // A space in a burst is a part of a number, and must not press the button that has the focus.
      if (event.key === " " && burst !== null && fieldOf(event) === null && isFast(burst, event.timeStamp)) {
        event.preventDefault();
      }
      burst ??= begin(event);
      burst.last = event.timeStamp;
      if (burst.typed.length < LONGEST) {
        burst.typed += event.key;
        burst.american += american(event);
      }
    }
  };
  document.addEventListener("keydown", pressed, { capture: true });
}

function begin(event: KeyboardEvent): Burst {
  const field = fieldOf(event);
  return { began: event.timeStamp, last: event.timeStamp, typed: "", american: "", field, before: field?.value ?? "" };
}

function isReader(burst: Burst, at: number): boolean {
  return burst.typed.length >= SHORTEST && isFast(burst, at);
}

const isFast = (burst: Burst, at: number): boolean => (at - burst.began) / Math.max(burst.typed.length, 1) <= FAST;

function fieldOf(event: KeyboardEvent): HTMLInputElement | null {
  const target = event.target;
  return target instanceof HTMLInputElement && target.type !== "checkbox" ? target : null;
}

function putBack(field: HTMLInputElement, value: string): void {
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

const SHIFTED: Readonly<Record<string, string>> = { Minus: "-_", Period: ".>", Slash: "/?", Semicolon: ";:", Equal: "=+" };
const SHIFTED_DIGITS = ")!@#$%^&*(";

/** The character of a key's place on an American keyboard. */
function american(event: KeyboardEvent): string {
  const { code, shiftKey } = event;
  if (/^Key[A-Z]$/.test(code)) return shiftKey ? code.slice(3) : code.slice(3).toLowerCase();
  if (/^Digit[0-9]$/.test(code)) return (shiftKey ? SHIFTED_DIGITS[Number(code.slice(5))] : code.slice(5)) ?? event.key;
  return SHIFTED[code]?.[shiftKey ? 1 : 0] ?? event.key;
}
