// The phone's cameras: which there are, the picture of one of them, and its torch.

import { CameraFault } from "./fault.js";

export interface CameraName {
  readonly id: string;
  // Empty until the person has allowed the camera.
  readonly label: string;
}

// More pixels cost battery and are scaled away; with fewer, codes at arm's length are lost.
const PICTURE: MediaTrackConstraints = {
  width: { ideal: 1280 },
  height: { ideal: 720 },
  frameRate: { ideal: 30 },
};

// What TypeScript's types of tracks lack: the torch and the focus are of another specification, Image Capture.
interface Abilities extends MediaTrackCapabilities {
  readonly torch?: boolean | boolean[];
  readonly focusMode?: string[];
}
interface Extras extends MediaTrackConstraintSet {
  torch?: boolean;
  focusMode?: string;
}

// `wanted` is the id of a camera. Without it, or if it is gone, the one that looks away from the person.
export async function openStream(wanted: string | null): Promise<MediaStream> {
  if (!isSecureContext || !("mediaDevices" in navigator)) throw new CameraFault("insecure");
  try {
    const stream = await ask(wanted);
    await focus(trackOf(stream));
    return stream;
  } catch (cause) {
    const fault = CameraFault.of(cause);
    if (wanted !== null && fault.code === "none") return openStream(null);
    throw fault;
  }
}

function ask(wanted: string | null): Promise<MediaStream> {
  const which: MediaTrackConstraints =
    wanted === null ? { facingMode: { ideal: "environment" } } : { deviceId: { exact: wanted } };
  return navigator.mediaDevices.getUserMedia({ audio: false, video: { ...PICTURE, ...which } });
}

export function closeStream(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

export async function cameras(): Promise<CameraName[]> {
  if (!("mediaDevices" in navigator)) return [];
  const devices = await navigator.mediaDevices.enumerateDevices();
  return devices
    .filter((device) => device.kind === "videoinput")
    .map((device) => ({ id: device.deviceId, label: device.label }));
}

export function trackOf(stream: MediaStream): MediaStreamTrack {
  const [track] = stream.getVideoTracks();
  if (track === undefined) throw new CameraFault("none");
  return track;
}

export function hasTorch(track: MediaStreamTrack): boolean {
  const { torch } = abilitiesOf(track);
  return Array.isArray(torch) ? torch.includes(true) : torch === true;
}

export async function light(track: MediaStreamTrack, on: boolean): Promise<void> {
  const extras: Extras = { torch: on };
  await track.applyConstraints({ advanced: [extras] });
}

// Some phones focus once, and stay there, unless they are told.
async function focus(track: MediaStreamTrack): Promise<void> {
  if (!abilitiesOf(track).focusMode?.includes("continuous")) return;
  const extras: Extras = { focusMode: "continuous" };
  // A camera that refuses still has a picture.
  await track.applyConstraints({ advanced: [extras] }).catch(() => undefined);
}

// Firefox has had `getCapabilities` since 132 only.
function abilitiesOf(track: MediaStreamTrack): Abilities {
  return "getCapabilities" in track ? track.getCapabilities() : {};
}
