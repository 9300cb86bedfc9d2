// The grey pixels of a frame. A camera's own bytes begin with them (the Y of YUV). To copy those takes a tenth of the time
// of drawing the frame on a canvas, and a third of the memory. Only frames whose bytes a browser does not give are drawn.

import type { Picture } from "./messages.js";
import { shrink } from "./shrink.js";
import { type View, viewOf } from "./views.js";

export interface Grey {
  readonly pixels: ImageData;
  readonly view: View;
}

interface Layout {
  // How far it is to the next pixel, and to the first: of four bytes of colours the second is green, which is most of what
  // is bright.
  readonly step: number;
  readonly first: number;
}

const PLANE: Layout = { step: 1, first: 0 };
const COLOURS: Layout = { step: 4, first: 1 };
const LAYOUTS: Readonly<Record<string, Layout>> = {
  ...{ I420: PLANE, I420A: PLANE, I422: PLANE, I444: PLANE, NV12: PLANE },
  ...{ RGBA: COLOURS, RGBX: COLOURS, BGRA: COLOURS, BGRX: COLOURS },
};

let copied = new Uint8Array(0);
let shrunk = new ImageData(1, 1);
let canvas: OffscreenCanvasRenderingContext2D | null = null;
let isCopying = true;

// The next call overwrites the pixels: a new picture for each would be memory to collect, 15 times a second.
export async function greyOf(picture: Picture, empty: number): Promise<Grey> {
  if (isCopying && "copyTo" in picture) {
    try {
      const grey = await copy(picture, empty);
      if (grey !== null) return grey;
    } catch {
      // Frames that live in a graphics card may refuse; then they all do.
      isCopying = false;
    }
  }
  return draw(picture, empty);
}

async function copy(frame: VideoFrame, empty: number): Promise<Grey | null> {
  const layout = LAYOUTS[frame.format ?? ""];
  const visible = frame.visibleRect;
  if (layout === undefined || visible === null) return null;
  const view = viewOf(visible, empty);
  const rect = { x: visible.x + view.left, y: visible.y + view.top, width: view.width, height: view.height };
  const size = frame.allocationSize({ rect });
  if (copied.length < size) copied = new Uint8Array(size);
  const [plane] = await frame.copyTo(copied, { rect });
  if (plane === undefined) return null;
  const pixels = pictureOf(view);
  const first = plane.offset + layout.first;
  shrink({ bytes: copied, first, step: layout.step, stride: plane.stride }, view.factor, pixels);
  return { pixels, view };
}

function pictureOf({ width, height, factor }: View): ImageData {
  const [across, down] = [Math.floor(width / factor), Math.floor(height / factor)];
  if (shrunk.width !== across || shrunk.height !== down) shrunk = new ImageData(across, down);
  return shrunk;
}

function draw(picture: Picture, empty: number): Grey {
  const size =
    "displayWidth" in picture
      ? { width: picture.displayWidth, height: picture.displayHeight }
      : { width: picture.width, height: picture.height };
  const view = viewOf(size, empty);
  const width = Math.floor(view.width / view.factor);
  const height = Math.floor(view.height / view.factor);
  canvas ??= new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  if (canvas === null) throw new Error("This browser draws nothing in a worker.");
  if (canvas.canvas.width !== width) canvas.canvas.width = width;
  if (canvas.canvas.height !== height) canvas.canvas.height = height;
  canvas.drawImage(picture, view.left, view.top, view.width, view.height, 0, 0, width, height);
  return { pixels: canvas.getImageData(0, 0, width, height), view };
}
