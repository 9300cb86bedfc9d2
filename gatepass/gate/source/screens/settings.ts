/** The settings: sound, vibration, camera, language, the way to the studio, and retiring the device. */

import { canVibrate } from "../device/sound.js";
import { word } from "../language.js";
import { at } from "../page.js";
import { preferences, prefer } from "../preferences.js";

export interface Choices {
  /** Another camera, or none. */
  camera(): void;
  cameras(): Promise<{ id: string; label: string }[]>;
  language(): void;
  retire(): void;
  sendAgain(): void;
}

export function followSettings(choices: Choices): void {
  const dialog = at<HTMLDialogElement>("settings");
  const sound = at<HTMLInputElement>("sound");
  const vibration = at<HTMLInputElement>("vibration");
  const camera = at<HTMLSelectElement>("camera");

  const open = async (): Promise<void> => {
    sound.checked = preferences.sound;
    vibration.checked = preferences.vibration;
    at("vibration-row").hidden = !canVibrate();
    drawCameras(camera, []);
    dialog.showModal();
    drawCameras(camera, await choices.cameras());
  };
  at("open-settings").addEventListener("click", () => void open());
  at("status").addEventListener("click", () => void open());
  sound.addEventListener("change", () => prefer({ sound: sound.checked }));
  vibration.addEventListener("change", () => prefer({ vibration: vibration.checked }));
  camera.addEventListener("change", () => {
    prefer({ camera: camera.value });
    choices.camera();
  });
  for (const language of document.querySelectorAll<HTMLSelectElement>("[data-languages]")) {
    language.addEventListener("change", () => {
      prefer({ language: language.value });
      choices.language();
    });
  }
  at("send-again").addEventListener("click", () => choices.sendAgain());
  followRetiring(choices);
}

function followRetiring(choices: Choices): void {
  const question = at<HTMLDialogElement>("retire-question");
  at("retire").addEventListener("click", () => question.showModal());
  at("retire-yes").addEventListener("click", () => {
    question.close();
    choices.retire();
  });
}

function drawCameras(select: HTMLSelectElement, found: { id: string; label: string }[]): void {
  const any: [string, string][] = [["", word("camera_any")]];
  const named = found.map(({ id, label }, index): [string, string] => [id, label || `${word("camera")} ${index + 1}`]);
  const options = [...any, ...named, ["off", word("camera_off")] as [string, string]];
  select.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
  select.value = options.some(([value]) => value === preferences.camera) ? preferences.camera : "";
}
