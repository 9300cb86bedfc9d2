/** The manifest of a device's event, and what changes in it. */

import { path } from "../arguments.js";
import { InvalidManifest, isWhole, Manifest } from "../gate/manifest/manifest.js";
import { type Answer, NOT_MODIFIED, Unreadable } from "../http/call.js";
import type { Exchange } from "../http/exchange.js";

/** Only the key of a device opens them. `keys` are the organization's public keys: `(await cards.keys()).keys`. */
export class Manifests {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** The whole manifest, verified. */
  async fetch(event_id: string, keys: Iterable<Uint8Array>): Promise<Manifest> {
    const content = await this.#exchange.ask({ method: "GET", path: pathOf(event_id), read: body });
    return Manifest.read(content ?? new Uint8Array(), keys, event_id);
  }

  /** The manifest as it is now: this one, if nothing changed; else with the changes, or a whole new one. */
  async update(manifest: Manifest, keys: Iterable<Uint8Array>): Promise<Manifest> {
    const { header } = manifest;
    const content = await this.#exchange.ask({
      method: "GET",
      path: pathOf(header.event.id),
      read: body,
      query: { after: header.cursor },
      if_none_match: `"${header.state}"`,
    });
    if (content === null) return manifest;
    if (isWhole(content)) return Manifest.read(content, keys, header.event.id);
    try {
      return await manifest.apply(content, keys);
    } catch (error) {
      if (!(error instanceof InvalidManifest)) throw error;
      return this.fetch(header.event.id, keys);
    }
  }

  /**
   * Each new state of the manifest, as the service tells it: within two seconds of a scan.
   *
   * It ends when the connection does, or when only a whole manifest will do: then call `update`, and follow again.
   */
  async *follow(
    manifest: Manifest,
    keys: Iterable<Uint8Array>,
    options: { signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<Manifest, void, undefined> {
    const { header } = manifest;
    const where = `${pathOf(header.event.id)}/stream`;
    let present = manifest;
    for await (const [name, data] of this.#exchange.following(where, { after: header.cursor }, options.signal)) {
      const changed = name === "changes" ? await applied(present, data, keys) : null;
      if (changed === null) return;
      present = changed;
      yield present;
    }
  }
}

function pathOf(event_id: string): string {
  return path("/events", event_id, "manifest");
}

/** The bytes of a manifest; null if nothing changed. */
function body({ status, content }: Answer): Uint8Array | null {
  if (status === NOT_MODIFIED) return null;
  if (String.fromCharCode(...content.subarray(0, 4)) !== "SVCM") throw new Unreadable("a manifest was expected");
  return content;
}

/** The manifest after these changes; null if only a whole one will do. */
async function applied(manifest: Manifest, data: string, keys: Iterable<Uint8Array>): Promise<Manifest | null> {
  try {
    return await manifest.apply(
      Uint8Array.from(atob(data), (one) => one.charCodeAt(0)),
      keys,
    );
  } catch (error) {
    if (error instanceof InvalidManifest || error instanceof DOMException) return null;
    throw error;
  }
}
