// Which part of a frame is looked at. Most codes fill a good part of the picture, and are read from a quarter of its pixels
// in a few milliseconds. What is far away is found by views of every pixel, which come by turns while nothing is found.

export interface View {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  // So many pixels of the camera, across and down, become one.
  readonly factor: number;
  // White modules on black too: a phone that inverts its colours for its owner's eyes.
  readonly isInverted: boolean;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

// The most pixels, as the side of a square. A whole frame of 1280 by 720 takes three times as long.
const SIDE = 640;
// Where the views of every pixel lie, from 0 (left or top) to 1. The middle comes most often: people aim.
const PLACES = [0.5, 0, 0.5, 1] as const;
const EVERY = 3;

// The next view of a frame of this size, after so many frames in which nothing was found.
export function viewOf(frame: Size, empty: number): View {
  if (empty % EVERY !== EVERY - 1) return whole(frame);
  return detail(frame, PLACES[Math.floor(empty / EVERY) % PLACES.length] ?? 0.5);
}

function whole({ width, height }: Size): View {
  const factor = Math.ceil(Math.sqrt(width * height) / SIDE);
  return { left: 0, top: 0, width, height, factor, isInverted: false };
}

function detail(frame: Size, place: number): View {
  const width = Math.min(SIDE, frame.width);
  const height = Math.min(SIDE, frame.height);
  const isWide = frame.width >= frame.height;
  return {
    left: even((frame.width - width) * (isWide ? place : 0.5)),
    top: even((frame.height - height) * (isWide ? 0.5 : place)),
    width,
    height,
    factor: 1,
    isInverted: true,
  };
}

// The colours of a camera's picture have half of its resolution: a part of it begins at an even pixel.
function even(position: number): number {
  return Math.floor(position / 2) * 2;
}
