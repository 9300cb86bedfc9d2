/** A platform and a gate in one program of a user, against the real service. It prints what it saw, as JSON. */

import {
  AlreadyUsed,
  CardSuspended,
  ChangedMeanwhile,
  ExternalIdTaken,
  Gatepass,
  NotFound,
  SoldOut,
} from "@gatepass/sdk";

const client = new Gatepass();
const saw = {};

/** The error of this call. */
async function refusal(call) {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error("It was not refused.");
}

async function all(pages) {
  const found = [];
  for await (const one of pages) found.push(one);
  return found;
}

const soon = new Date(Date.now() + 300_000);
const later = new Date(Date.now() + 3_600_000);
const draft = await client.events.create({ title: "Draft", starts_at: soon, ends_at: later });
await client.events.delete(draft.id, { if_match: draft.etag });
saw.deleted = (await refusal(client.events.retrieve(draft.id))) instanceof NotFound;

const made = await client.events.create({ title: "Nacht", starts_at: soon, ends_at: later, venue: "Hall" });
const changed = await client.events.update(made.id, { title: "Tag", venue: null, if_match: made.etag });
saw.changed = [changed.title, changed.venue, changed.etag !== made.etag];
const stale = await refusal(client.events.update(made.id, { title: "Nacht", if_match: made.etag }));
saw.stale = stale instanceof ChangedMeanwhile && stale.outcome_unknown === false;

const spare = { name: "Spare", price: 1, currency: "EUR", quantity_total: 1 };
await client.ticketCategories.delete((await client.ticketCategories.create(made.id, spare)).id);
const fields = { name: "VIP", price: 25.5, currency: "EUR", quantity_total: 4, tier: "vip", gates: ["North 2"] };
const category = await client.ticketCategories.create(made.id, fields);
const renamed = await client.ticketCategories.update(category.id, {
  name: "Gold",
  gates: null,
  if_match: category.etag,
});
saw.category = [renamed.name, renamed.price, renamed.gates];
saw.published = (await client.events.publish(made.id)).status;
saw.listed = (await all(client.events.list({ limit: 1 }))).some((event) => event.id === made.id);

const holder = { name: "Ada", email: `ada-${made.id}@example.com` };
const card = await client.cards.create({ holder, external_id: `member-${made.id}` });
const order = { event_id: made.id, category_id: category.id, external_id: `order-${made.id}` };
const ticket = await client.tickets.create({ ...order, card_id: card.id });
const same = await client.tickets.create({ ...order, card_id: card.id });
saw.issued_once = [ticket.state, same.id === ticket.id];
const other = { event_id: made.id, category_id: category.id, holder: { name: "Bo" }, external_id: order.external_id };
saw.external_id = (await refusal(client.tickets.create(other))) instanceof ExternalIdTaken;
const wanted = Array.from({ length: 4 }, (_, n) => ({
  event_id: made.id,
  category_id: category.id,
  holder: { name: `Guest ${n}` },
}));
const issued = [];
for await (const [one, result] of client.tickets.createAll(wanted)) issued.push({ one, result });
saw.batch = issued.map(({ result }) => result.data?.state ?? result.refusal?.name);
saw.sold_out = issued[3].result.refusal instanceof SoldOut;

const [second, third] = issued.map(({ result }) => result.data);
saw.cancelled = (await client.tickets.cancel(second.id, { reason: "refund" })).cancel_reason;
const moved = await client.tickets.transfer(third.id, { holder: { name: "Cy" } });
saw.transferred = moved.card_id !== third.card_id;
saw.tickets = (await all(client.tickets.list({ event_id: made.id, limit: 2 }))).length;
saw.ticket = (await client.tickets.retrieve(ticket.id)).card_number === card.number;

const keys = await client.cards.keys();
const { token } = await client.cardTokens.create(card.id, { expires_at: later });
const reading = await keys.verify(token);
const verified = await client.cards.verify(token);
saw.verified = [reading.valid, reading.card_number === card.number, verified.valid, verified.card_id === card.id];
saw.late = (await keys.verify(token, { at: new Date(later.getTime() + 1000) })).reason;
const tokens = await client.cardTokens.batch([card.id, "00000000-0000-0000-0000-000000000000"]);
saw.tokens = tokens.map((one) => one.data?.card_id === card.id || one.refusal?.name);

await client.cards.suspend(card.id, { reason: "lost" });
saw.suspended = (await refusal(client.scans.create(made.id, { token }))) instanceof CardSuspended;
saw.resumed = (await client.cards.resume(card.id, { reason: "found" })).status;
const scan = await client.scans.create(made.id, { token, gate: "North 2", scanner_id: "7" });
const repeated = await client.scans.create(made.id, {
  token,
  gate: "North 2",
  scanner_id: "7",
  idempotency_key: scan.idempotency_key,
});
saw.scan = [scan.ticket_id === ticket.id, scan.tier, scan.category_name, scan.replayed, repeated.replayed];
const used = await refusal(client.scans.create(made.id, { card_number: card.number }));
saw.used = [used instanceof AlreadyUsed, used.details.gate, used.details.scanner_id, used.message];
saw.scans = (await all(client.scans.list({ event_id: made.id }))).map((one) => one.verdict).sort();

const updated = await client.cards.update(card.id, { holder: { locale: "fr" } });
saw.holder = [updated.holder.name, updated.holder.locale];
saw.found = (await client.cards.list({ external_id: `member-${made.id}` }).first()).data[0].id === card.id;
saw.link = (await client.cards.link(card.id)).url === (await client.cards.link(card.id)).url;
const replaced = await client.cards.replace(card.id, { reason: "lost" });
saw.replaced = [replaced.id !== card.id, (await client.cards.retrieve(card.id)).status];
saw.revoked = (await client.cards.revoke(replaced.id, { reason: "stolen" })).status;

const endpoints = client.webhookEndpoints;
const endpoint = await endpoints.create({ url: "http://127.0.0.1:9/hook", types: ["ticket.activated"] });
saw.endpoint = [endpoint.secret.startsWith("whsec_"), (await endpoints.retrieve(endpoint.id)).secret];
saw.rotated = (await endpoints.rotateSecret(endpoint.id)).secret !== endpoint.secret;
const ping = await endpoints.test(endpoint.id);
saw.paused = (await endpoints.update(endpoint.id, { status: "paused" })).status;
saw.delivery = (await endpoints.delivery(endpoint.id, ping.id)).type;
saw.deliveries = (await all(endpoints.deliveries(endpoint.id))).map((one) => one.id).includes(ping.id);
const since = new Date(Date.now() - 3_600_000);
const count = await endpoints.countReplay(endpoint.id, { since, types: ["ticket.activated"] });
const replay = await endpoints.replay(endpoint.id, { since, types: ["ticket.activated"] });
saw.replayed = [
  count === replay.total,
  (await all(endpoints.replays(endpoint.id))).map((one) => one.id)[0] === replay.id,
];
saw.endpoints = (await all(endpoints.list())).some((one) => one.id === endpoint.id);
await endpoints.delete(endpoint.id);

saw.ended = (await client.events.end(made.id)).status;
const second_event = await client.events.create({ title: "Rain", starts_at: soon, ends_at: later });
await client.ticketCategories.create(second_event.id, spare);
await client.events.publish(second_event.id);
saw.cancelled_event = (await client.events.cancel(second_event.id, { reason: "Storm" })).status;
saw.devices = (await all(client.devices.list({ event_id: made.id }))).length;
saw.incidents = (await all(client.incidents.list({ event_id: made.id, open: true }))).length;
saw.event_id = made.id;

console.log(JSON.stringify(saw));
