/** The page: its elements, and which of its screens is shown. */

export type Screen = "starting" | "blocked" | "pair" | "compare" | "scan" | "ended";

const SCREENS: readonly Screen[] = ["starting", "blocked", "pair", "compare", "scan", "ended"];

/** An element of the template. Its kind is named by who asks; a template without it is a fault of ours. */
export function at<Kind extends Element = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no element ${id}.`);
  return found as unknown as Kind;
}

export function show(screen: Screen): void {
  for (const id of SCREENS) at(id).hidden = id !== screen;
  document.documentElement.dataset["screen"] = screen;
  closeDialogs();
}

export function closeDialogs(): void {
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
}

export const isDialogOpen = (): boolean => document.querySelector("dialog[open]") !== null;

export function isShown(screen: Screen): boolean {
  return !at(screen).hidden;
}

export function fill(id: string, text: string | null): void {
  const element = at(id);
  element.textContent = text ?? "";
  element.hidden = !text;
}

export function drawIcon(id: string, name: string): void {
  at(id).setAttribute("href", `#icon-${name}`);
}

/** For screen readers: `told` waits until they are silent, `judged` does not. */
export function tell(text: string, place: "told" | "judged" = "told"): void {
  const element = at(place);
  // The same sentence twice is said twice only if the element was empty meanwhile.
  element.textContent = "";
  requestAnimationFrame(() => {
    element.textContent = text;
  });
}

/** Dialogs that open from below: a press beside one, or on its cross, closes it. */
export function followDialogs(): void {
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", (event) => {
      const closes = event.target instanceof Element && event.target.closest("[data-close]") !== null;
      if (event.target === dialog || closes) dialog.close();
    });
  }
}
