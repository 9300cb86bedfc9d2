/**
 * The service worker keeps the app: the page, its script, its style, its decoder. A phone starts from what it has kept,
 * and never waits for a network. It keeps no answer of the service: those are the app's, encrypted, in IndexedDB.
 *
 * The server writes `VERSION` and `FILES` before this text: another version is another worker, with a cache of its own.
 * A new worker waits until the app says that nobody is scanning.
 */

// A module to TypeScript, so that `self` can be a service worker; without imports the browser takes it as a script.
export {};

declare const self: ServiceWorkerGlobalScope;
declare const VERSION: string;
declare const FILES: readonly string[];

// Static routing, which TypeScript does not know yet.
interface Routable extends ExtendableEvent {
  addRoutes?(routes: readonly { condition: { urlPattern: { pathname: string } }; source: string }[]): Promise<void>;
}

const CACHE = `scanner-${VERSION}`;
const PAGE = `/gate/static/${VERSION}/page.html`;

self.addEventListener("install", (event: Routable) => {
  // A call of the service goes past this worker, where the browser can do that: a scan must not wait until it has started.
  const routes = ["/api/*", "/gate/pair/*"].map((pathname) => ({ condition: { urlPattern: { pathname } }, source: "network" }));
  event.waitUntil(Promise.all([event.addRoutes?.(routes), keepAll()]));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(takeOver());
});

self.addEventListener("message", (event) => {
  if (event.data === "take over") void self.skipWaiting();
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { pathname, origin } = new URL(request.url);
  if (origin !== self.location.origin || request.method !== "GET") return;
  if (request.mode === "navigate" && pathname === "/gate") event.respondWith(kept(PAGE, request));
  else if (FILES.includes(pathname)) event.respondWith(kept(pathname, request));
});

async function keepAll(): Promise<void> {
  const cache = await caches.open(CACHE);
  // Not from the browser's own cache: these bytes must be those of this version, all of them.
  await cache.addAll(FILES.map((path) => new Request(path, { cache: "no-cache" })));
}

async function takeOver(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith("scanner-") && name !== CACHE).map((name) => caches.delete(name)));
  await self.clients.claim();
}

async function kept(path: string, request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  const there = await cache.match(path);
  if (there) return there;
  // Somebody has deleted it: a browser that needed the room, or a person. The next start may be without a network.
  const fetched = await fetch(path, { cache: "no-cache" });
  if (!fetched.ok) return fetch(request);
  await cache.put(path, fetched.clone());
  return fetched;
}
