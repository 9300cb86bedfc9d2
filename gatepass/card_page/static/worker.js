// The service worker keeps the shell: the page without a card, its script and its style. It never keeps an answer
// that has anything of a card in it; those lie in IndexedDB, and go when the card ends.
//
// Its address has the version of the files, `?v=<hash>`: another version is another worker, with a cache of its own.

const VERSION = new URL(self.location).searchParams.get("v");
const CACHE = `shell-${VERSION}`;
const FOLDER = `/c/static/${VERSION}/`;
const SHELL = `${FOLDER}shell.html`;
const FILES = [
  "shell.html", "card.css", "icon.svg", "early.js", "card.js", "code.js", "move.js", "network.js", "phone.js", "server.js",
  "showing.js", "store.js", "view.js", "words.js", "qr/encoder.js",
].map((name) => FOLDER + name);
// A network that does not answer in this time is none: somebody stands at a gate.
const PATIENCE = 4000;

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    // The scanner has caches at this origin too: a phone may have both.
    caches.keys()
      .then((names) => names.filter((name) => name.startsWith("shell-") && name !== CACHE))
      .then((earlier) => Promise.all(earlier.map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { pathname } = new URL(event.request.url);
  if (event.request.mode === "navigate" && /^\/c\/[^/]+$/.test(pathname)) {
    event.respondWith(page(event.request));
  } else if (FILES.includes(pathname)) {
    event.respondWith(caches.match(event.request).then((kept) => kept ?? fetch(event.request)));
  }
});

async function page(request) {
  try {
    const answer = await fetch(request, { signal: AbortSignal.timeout(PATIENCE) });
    // A proxy that answers for a server which is not there.
    if (answer.status < 502 || answer.status > 504) return answer;
  } catch {
    // No network: the shell below.
  }
  return (await caches.match(SHELL)) ?? Response.error();
}
