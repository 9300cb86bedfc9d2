// The frames of a video, as they come.

export class Frames {
  #handle = 0;
  #isRunning = false;

  constructor(private readonly video: HTMLVideoElement, private readonly onFrame: () => void) {}

  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#ask();
  }

  stop(): void {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    if (hasFrameCallback(this.video)) this.video.cancelVideoFrameCallback(this.#handle);
    else cancelAnimationFrame(this.#handle);
  }

  #ask(): void {
    if (hasFrameCallback(this.video)) this.#handle = this.video.requestVideoFrameCallback(() => this.#came());
    else this.#askScreen(this.video.currentTime);
  }

  // Firefox before 132 tells no frames: the screen's are asked, and the video's clock says whether there is a new one.
  #askScreen(before: number): void {
    this.#handle = requestAnimationFrame(() => {
      if (this.video.currentTime === before) this.#askScreen(before);
      else this.#came();
    });
  }

  #came(): void {
    this.#ask();
    this.onFrame();
  }
}

function hasFrameCallback(video: HTMLVideoElement): boolean {
  return "requestVideoFrameCallback" in video;
}
