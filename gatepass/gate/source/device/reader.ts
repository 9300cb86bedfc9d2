/**
 * A hardware reader, which is a keyboard to the browser: it types a code and presses Enter.
 *
 * It is heard on the document, whatever has the focus. A person types slowly, a reader fast; what the reader has typed into a
 * field is taken out of it again, and no button that has the focus is pressed by it.
 */

// Milliseconds between two keys: a quick typist needs 80, a slow reader 30.
const SLOW = 60;
// A reader stumbles now and then, over radio.
const STUMBLES = 0.2;
// What was typed before so long a pause has nothing to do with what follows.
const PAUSE = 1500;
// Shorter than any code, longer than what a person types by accident.
const SHORTEST = 6;
const LONGEST = 1024;
// What codes and addresses are made of. Another character means that the reader and the phone disagree about the keyboard.
const OURS = /^[A-Za-z0-9 ._:/#-]*$/;

interface Key {
  at: number;
  text: string;
  /** The same key on an American keyboard, which is what readers have unless somebody has changed them. */
  american: string;
  field: HTMLInputElement | null;
  /** What the field held before. */
  before: string;
}

export function followReader(onCode: (text: string) => void): void {
  let keys: Key[] = [];

  const pressed = (event: KeyboardEvent): void => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.timeStamp - (keys.at(-1)?.at ?? 0) > PAUSE) keys = [];
    if (event.key === "Enter") {
      const read = typedByReader(keys);
      keys = [];
      if (read === null) return;
      event.preventDefault();
      event.stopPropagation();
      putBack(read[0]);
      const text = read.map((key) => key.text).join("");
      onCode(OURS.test(text) ? text : read.map((key) => key.american).join(""));
    } else if (event.key.length === 1) {
      const field = fieldOf(event);
      // A space of a reader is a part of a number, and must not press the button that has the focus.
      const isQuick = keys.length > 0 && event.timeStamp - (keys.at(-1)?.at ?? 0) < SLOW;
      if (event.key === " " && field === null && isQuick) event.preventDefault();
      const key = { at: event.timeStamp, text: event.key, american: american(event), field, before: field?.value ?? "" };
      keys = [...keys.slice(-LONGEST), key];
    }
  };
  document.addEventListener("keydown", pressed, { capture: true });
}

/** The keys of the reader, without those that a person has typed before; null if it was a person. */
function typedByReader(keys: readonly Key[]): readonly Key[] | null {
  const isSlow = (key: Key, index: number): boolean => key.at - (keys[index - 1]?.at ?? -Infinity) >= SLOW;
  const first = keys.findIndex((_, index) => index + 1 < keys.length && !isSlow(keys[index + 1]!, index + 1));
  if (first < 0 || keys.length - first < SHORTEST) return null;
  const slow = keys.filter((key, index) => index > first && isSlow(key, index)).length;
  return slow <= (keys.length - first - 1) * STUMBLES ? keys.slice(first) : null;
}

function fieldOf(event: KeyboardEvent): HTMLInputElement | null {
  const target = event.target;
  return target instanceof HTMLInputElement && target.type !== "checkbox" ? target : null;
}

function putBack(first: Key | undefined): void {
  if (!first?.field) return;
  first.field.value = first.before;
  first.field.dispatchEvent(new Event("input", { bubbles: true }));
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
