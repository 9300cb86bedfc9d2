/** The decision of a gate without the service: by signature, manifest, its own journal and the rules. */

import { CardKeys, type TokenReading } from "../../tokens.js";
import type { Code } from "./code.js";
import type { ManifestCategory, ManifestEvent } from "../manifest/header.js";
import type { Manifest } from "../manifest/manifest.js";
import type { CardRecord } from "../manifest/records.js";
import { momentOf } from "../moment.js";
import { ACTIVATED, judge } from "./rules.js";

// What an event lets a gate without a network do.
const SIGNATURE = "signature";
const STOP = "stop";
// A card that the manifest does not know. An event may trust its signature.
const UNKNOWN: ReadonlySet<string> = new Set(["card_not_found", "ticket_not_found"]);
// Milliseconds. A token that ends so soon counts as a phone's own code.
const FRESH = 120_000;

export interface Decision {
  verdict: string;
  category: string | null;
  tier: string | null;
  details: Readonly<Record<string, unknown>>;
}

/** Where and when a code is shown. `is_used_here`: this gate has let the card in, whatever the manifest knows yet. */
export interface Showing {
  at: number;
  gate: string;
  is_used_here: boolean;
}

export async function decide(manifest: Manifest | null, code: Code, showing: Showing): Promise<Decision> {
  if (manifest === null) return decision("no_manifest");
  const { event } = manifest.header;
  if (event.offline === STOP) return decision("online_only");
  const [reading, found] = await Promise.all([readingOf(manifest, code, showing.at), manifest.find(code.number)]);
  if (reading !== null && reading.card_number === null) return decision("invalid_token");
  const record = found !== null && showing.is_used_here ? { ...found, used: true } : found;
  const category = categoryOf(manifest, record);
  let verdict = verdictOf(event, category, record, reading, showing);
  // Sold since the manifest was made, and let in here.
  if (UNKNOWN.has(verdict) && showing.is_used_here) verdict = "already_activated";
  else if (UNKNOWN.has(verdict) && event.offline === SIGNATURE && reading !== null) verdict = ACTIVATED;
  return decision(verdict, category, detailsOf(verdict, event, category));
}

function decision(
  verdict: string,
  category: ManifestCategory | null = null,
  details: Readonly<Record<string, unknown>> = {},
): Decision {
  return { verdict, category: category?.name ?? null, tier: category?.tier ?? null, details };
}

/** What the token or the phone's code says; null for a typed number, which nobody has signed. */
async function readingOf(manifest: Manifest, code: Code, at: number): Promise<TokenReading | null> {
  return code.token === null ? null : new CardKeys(manifest.header.card_keys).verify(code.token, { at: new Date(at) });
}

function verdictOf(
  event: ManifestEvent,
  category: ManifestCategory | null,
  record: CardRecord | null,
  reading: TokenReading | null,
  { at, gate }: Showing,
): string {
  return judge(
    { status: event.status, doors_open_at: moment(event.doors_open_at), codes: event.codes },
    category && {
      valid_from: moment(category.valid_from),
      valid_until: moment(category.valid_until),
      gates: category.gates,
    },
    record && { ...record, ticket: category !== null },
    { moment: at, gate, expired: isExpired(reading, record), dynamic: isDynamic(reading, at) },
  );
}

/** Also the code of a phone from which the card has moved. */
function isExpired(reading: TokenReading | null, record: CardRecord | null): boolean {
  if (reading === null) return false;
  const has_moved = reading.phone !== null && record !== null && record.phone !== reading.phone;
  return reading.expired || has_moved;
}

function isDynamic(reading: TokenReading | null, at: number): boolean {
  if (reading === null) return false;
  const ends = moment(reading.expires_at);
  return reading.phone !== null || (ends !== null && ends - at <= FRESH);
}

function categoryOf(manifest: Manifest, record: CardRecord | null): ManifestCategory | null {
  return record?.category == null ? null : (manifest.header.categories[record.category] ?? null);
}

/** As the service has them. */
function detailsOf(
  verdict: string,
  event: ManifestEvent,
  category: ManifestCategory | null,
): Readonly<Record<string, unknown>> {
  if (verdict === "doors_closed") return { doors_open_at: event.doors_open_at };
  if (category === null) return {};
  if (verdict === "outside_window") return { valid_from: category.valid_from, valid_until: category.valid_until };
  return verdict === "wrong_gate" ? { gates: category.gates ?? [] } : {};
}

function moment(text: string | null): number | null {
  return text === null ? null : momentOf(text);
}
