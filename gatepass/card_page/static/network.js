// Following the server: by its stream, by asking again where there is none, and when the phone is picked up.

import * as server from "./server.js";

const ASKED_EVERY = 15_000;

export function follow(card) {
  let stream = null;

  function listen() {
    if (card.hasEnded || (stream && stream.readyState !== EventSource.CLOSED)) return;
    // The server compares the version, and says at once if the card has changed since.
    stream = server.stream(card.token, card.state?.version ?? "");
    stream.addEventListener("changed", () => card.refresh());
    stream.addEventListener("open", () => card.isOnline || card.refresh());
    stream.addEventListener("error", () => card.isOnline && card.refresh());
  }

  function ask() {
    if (card.hasEnded) {
      stream?.close();
    } else if (document.visibilityState === "visible") {
      if (stream?.readyState !== EventSource.OPEN) card.refresh();
      listen();
    }
  }

  listen();
  setInterval(ask, ASKED_EVERY);
  addEventListener("online", () => card.refresh());
  addEventListener("offline", () => card.refresh());
  addEventListener("pagehide", () => stream?.close());
  addEventListener("pageshow", (event) => event.persisted && ask());
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "visible") return;
    card.refresh();
    void card.showing.draw();
  });
}
