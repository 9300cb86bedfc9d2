// Codes: the text of an SVC2 code, and the QR picture of any code.

import { correction, generate, mode } from "./qr/encoder.js";

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
// The white border that readers need, in modules.
const QUIET = 4;

// Unpadded base32. All of its letters are in the alphanumeric alphabet of QR codes, which base64 is not.
export function base32(bytes) {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(held >> (bits - 5)) & 31];
    held &= 255;
  }
  return bits > 0 ? text + BASE32[(held << (5 - bits)) & 31] : text;
}

export function base64url(bytes) {
  return btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export function fromBase64url(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}

// `SVC2.<certificate>.<Unix seconds>.<signature>`: at most 311 characters, which is what QR 10-M holds.
export async function phoneCode(certificate, privateKey, seconds) {
  const signed = `SVC2.${certificate}.${seconds}`;
  const signature = await crypto.subtle.sign("Ed25519", privateKey, new TextEncoder().encode(signed));
  return `${signed}.${base32(new Uint8Array(signature))}`;
}

// A picture with one path. Its colours are black on white in dark mode too: readers expect that.
export function picture(text, label) {
  const code = generate(text, {
    modes: [mode.numeric, mode.alphaNumeric, mode.ascii],
    minCorrectionLevel: correction.M,
    maxCorrectionLevel: correction.M,
  });
  let path = "";
  for (let y = 0; y < code.size; y += 1) {
    for (let x = 0; x < code.size; x += 1) {
      let width = 0;
      while (code.get(x + width, y)) width += 1;
      if (width > 0) path += `M${x + QUIET} ${y + QUIET}h${width}v1h-${width}z`;
      x += width;
    }
  }
  return svg(code.size + 2 * QUIET, path, label);
}

function svg(size, path, label) {
  const space = "http://www.w3.org/2000/svg";
  const root = document.createElementNS(space, "svg");
  root.setAttribute("viewBox", `0 0 ${size} ${size}`);
  root.setAttribute("shape-rendering", "crispEdges");
  root.setAttribute("role", "img");
  root.setAttribute("aria-label", label);
  const white = document.createElementNS(space, "rect");
  white.setAttribute("width", "100%");
  white.setAttribute("height", "100%");
  white.setAttribute("fill", "#fff");
  const black = document.createElementNS(space, "path");
  black.setAttribute("d", path);
  black.setAttribute("fill", "#000");
  root.append(white, black);
  return root;
}
