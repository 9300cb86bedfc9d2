/**
 * A gate that keeps admitting: it asks the service first, and decides itself when there is no answer.
 *
 *     const gate = await Gate.open();
 *     await gate.pair("A7K3-9QXM-2P", { url: "https://gatepass.example", name: "North 2", on_words: show });   // once
 *     gate.work(signal);                      // follows the manifest, sends heartbeats, uploads the journal
 *     const shown = await gate.scan(code);
 *     show(shown.colour, shown.word, shown.message);
 *
 * When `scan` returns green, the admission is on the disk or with the service. What the device decided is uploaded
 * once, however often the tab is killed.
 */

export * from "../errors.js";
export { typedNumber } from "./decision/code.js";
export { Device } from "./device.js";
export { Gate, type GateOptions, type PairingOptions } from "./gate.js";
export { InvalidManifest, Manifest } from "./manifest/manifest.js";
export type { CardRecord } from "./manifest/records.js";
export type { Header, ManifestCategory, ManifestEvent } from "./manifest/header.js";
export type { OnWords } from "./pairing/pairing.js";
export { type Colour, type First, Shown } from "./shown.js";
export type { GateStatus } from "./status.js";
export type { Rejected } from "./storage/journal.js";
export type { PlaceName } from "./storage/place.js";
export type { PlaceFactories } from "./storage/sources.js";
export type { Uploaded } from "./uploader.js";
