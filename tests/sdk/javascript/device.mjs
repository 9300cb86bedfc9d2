/** The key of a device: heartbeats, and the manifest of its event as it changes. It prints what it saw, as JSON. */

import { Gatepass } from "@gatepass/sdk";

const { EVENT_ID, CARD, TOKEN } = process.env;
const client = new Gatepass();
const beat = await client.devices.heartbeat({ at: new Date(), queued: 2, app: "test/1" });
const { keys } = await client.cards.keys();
const manifest = await client.manifests.fetch(EVENT_ID, keys);
const before = await manifest.find(CARD);
const unchanged = (await client.manifests.update(manifest, keys)) === manifest;
await client.scans.create(EVENT_ID, { token: TOKEN });
let after = before;
for await (const next of client.manifests.follow(manifest, keys)) {
  after = await next.find(CARD);
  if (after.used !== before.used) break;
}
const updated = await client.manifests.update(manifest, keys);
const found = [before.used, after.used, (await updated.find(CARD)).used, unchanged];
console.log(JSON.stringify({ queued: beat.device.queued, offline: beat.settings.offline, found }));
