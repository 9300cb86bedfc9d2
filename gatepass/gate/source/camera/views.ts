// Which part of a frame is looked at. Most codes fill a good part of the picture, and are read from half of its pixels in a few
// milliseconds. What is far away, or inverted, is found by the slower views, which come by turns while nothing is found.

import type { View } from "./messages.js";

interface Size {
  readonly width: number;
  readonly height: number;
}

// Measured with the longest code, QR 10-M, in 1280 by 720: read down to 95 pixels a side in `whole`; `detail` reads 130.
const WHOLE: Size = { width: 640, height: 480 };
const LARGE: Size = { width: 960, height: 720 };
// Its pixels are those of the camera: nothing is scaled down.
const DETAIL = 640;

// The next view of a frame of this size, after so many frames in which nothing was found.
export function viewOf(frame: Size, empty: number): View {
  switch (empty % 6) {
    case 2:
      return detail(frame);
    case 5:
      return fitted(frame, LARGE, true);
    default:
      return fitted(frame, WHOLE, false);
  }
}

function fitted(frame: Size, wanted: Size, inverted: boolean): View {
  // A phone that is held upright has an upright picture.
  const [long, short] = [Math.max(wanted.width, wanted.height), Math.min(wanted.width, wanted.height)];
  const box = frame.width >= frame.height ? { width: long, height: short } : { width: short, height: long };
  const scale = Math.min(1, box.width / frame.width, box.height / frame.height);
  return {
    left: 0,
    top: 0,
    width: frame.width,
    height: frame.height,
    shown_width: Math.round(frame.width * scale),
    shown_height: Math.round(frame.height * scale),
    inverted,
  };
}

function detail(frame: Size): View {
  const width = Math.min(DETAIL, frame.width);
  const height = Math.min(DETAIL, frame.height);
  return {
    left: Math.floor((frame.width - width) / 2),
    top: Math.floor((frame.height - height) / 2),
    width,
    height,
    shown_width: width,
    shown_height: height,
    inverted: true,
  };
}
