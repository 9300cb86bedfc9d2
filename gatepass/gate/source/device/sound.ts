/** Sounds and vibration: different for green, red and amber, by pitch and by rhythm, so that they are told apart in noise. */

import type { Colour } from "@gatepass/sdk/gate";

import { preferences } from "../preferences.js";

interface Tone {
  /** Hertz, and seconds. */
  pitch: number;
  from: number;
  lasts: number;
  shape: OscillatorType;
}

const TONES: Readonly<Record<Colour, readonly Tone[]>> = {
  green: [
    { pitch: 880, from: 0, lasts: 0.09, shape: "sine" },
    { pitch: 1318, from: 0.09, lasts: 0.16, shape: "sine" },
  ],
  red: [
    { pitch: 196, from: 0, lasts: 0.18, shape: "square" },
    { pitch: 147, from: 0.24, lasts: 0.3, shape: "square" },
  ],
  amber: [0, 0.16, 0.32].map((from) => ({ pitch: 587, from, lasts: 0.1, shape: "triangle" as const })),
};
const VIBRATIONS: Readonly<Record<Colour, readonly number[]>> = { green: [70], red: [140, 70, 220], amber: [80, 60, 80, 60, 80] };
const LOUD = 0.5;

let context: AudioContext | null = null;

/** Browsers play nothing before the first touch or key: from then on the context runs. */
export function readySound(): void {
  const wake = (): void => {
    context ??= new AudioContext();
    if (context.state === "suspended") void context.resume();
  };
  for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, wake, { capture: true });
}

export function signal(colour: Colour): void {
  if (preferences.vibration) navigator.vibrate?.([...VIBRATIONS[colour]]);
  if (!preferences.sound || context === null || context.state !== "running") return;
  for (const tone of TONES[colour]) play(context, tone);
}

function play(into: AudioContext, tone: Tone): void {
  const oscillator = into.createOscillator();
  const volume = into.createGain();
  const began = into.currentTime + tone.from;
  oscillator.type = tone.shape;
  oscillator.frequency.value = tone.pitch;
  // A tone that begins or ends at once clicks.
  volume.gain.setValueAtTime(0, began);
  volume.gain.linearRampToValueAtTime(LOUD, began + 0.01);
  volume.gain.setValueAtTime(LOUD, began + tone.lasts - 0.02);
  volume.gain.linearRampToValueAtTime(0, began + tone.lasts);
  oscillator.connect(volume).connect(into.destination);
  oscillator.start(began);
  oscillator.stop(began + tone.lasts);
}

export const canVibrate = (): boolean => "vibrate" in navigator;
