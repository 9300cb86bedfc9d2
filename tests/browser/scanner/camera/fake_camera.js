// A camera for browsers that take none from a file: the frames of the site, by turns, on a canvas.

const canvas = Object.assign(document.createElement("canvas"), { width: 1280, height: 720 });
const context = canvas.getContext("2d");

async function picture(address) {
  const image = new Image();
  image.src = address;
  await image.decode();
  return image;
}

// Each frame is shown for a quarter of a second, longer than a hurried decoder takes.
export async function replaceCamera(count) {
  const frames = await Promise.all(Array.from({ length: count }, (_, at) => picture(`/frames/${at}.jpg`)));
  let at = 0;
  setInterval(() => context.drawImage(frames[Math.floor(at++ / 8) % count], 0, 0), 33);
  navigator.mediaDevices.getUserMedia = async () => canvas.captureStream(30);
}
