// What the page asks the server. A refusal has the server's code; without a network fetch throws a TypeError.

const PATIENCE = 8000;

export class Refused extends Error {
  constructor(status, body) {
    super(body.error ?? "");
    this.status = status;
    this.code = body.code ?? "";
    // What a link that ended says, in the language of the page.
    this.notice = body.notice ?? null;
  }
}

async function asked(url, options) {
  const response = await fetch(url, { ...options, cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
  // Something else answered: a network that wants a sign-in, or a proxy. It is no word of the service, whatever its status.
  if (!response.headers.get("content-type")?.startsWith("application/json")) throw new TypeError("not the service");
  const body = await response.json();
  if (!response.ok) throw new Refused(response.status, body);
  return body;
}

export function state(token, language) {
  return asked(`/c/${token}/state?language=${language}`, { headers: { accept: "application/json" } });
}

export function post(token, path, body = {}) {
  return asked(`/c/${token}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

export async function logo(path) {
  const response = await fetch(path, { signal: AbortSignal.timeout(PATIENCE) });
  return response.ok ? response.blob() : null;
}

export function stream(token, version) {
  return new EventSource(`/c/${token}/stream?version=${encodeURIComponent(version)}`);
}
