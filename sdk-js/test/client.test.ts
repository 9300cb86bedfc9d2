import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { inspect } from "node:util";
import { cut } from "../src/batches.js";
import { type Card, Gatepass, type NewScan, NotFound, SANDBOX_EVENT_ID, VERSION } from "../src/index.js";
import { json, loses, serve } from "./http/server.js";

const TICKET = { ticket_id: "t1", tier: "vip", category_name: "VIP" };

function client(base_url: string, more: object = {}): Gatepass {
  return new Gatepass({ api_key: "svc_test_x", base_url, ...more });
}

function card(number: string): object {
  const times = { issued_at: "2026-05-01T18:00:00Z", updated_at: "2026-05-01T18:00:00.123456+02:00" };
  return { id: `id ${number}`, number, status: "active", holder: null, external_id: null, new_field: 7, ...times };
}

test("a scan gives the ticket, its key, and whether an earlier try did it", async (t) => {
  const server = await serve(t, loses, json(200, { data: TICKET }, { "idempotent-replayed": "true" }));
  const occurred_at = new Date(Date.UTC(2026, 4, 1));
  const result = await client(server.base_url).scans.create(SANDBOX_EVENT_ID, { card_number: "TEST_VIP", occurred_at });
  const key = server.asked[0]?.headers["idempotency-key"];
  assert.match(String(key), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(result, { ...TICKET, replayed: true, request_id: "req_test", idempotency_key: key });
  assert.deepEqual(JSON.parse(server.asked[1]?.body ?? ""), {
    event_id: SANDBOX_EVENT_ID,
    card_number: "TEST_VIP",
    occurred_at: "2026-05-01T00:00:00.000Z",
  });
});

test("nothing but a whole ticket admits", async (t) => {
  const strange = [
    {},
    { data: null },
    { data: [TICKET] },
    { data: { ...TICKET, tier: 7 } },
    { data: { ticket_id: "t" } },
  ];
  const inherited = JSON.parse('{"data": {"__proto__": {"ticket_id": "t", "tier": "t", "category_name": "c"}}}');
  for (const body of [...strange, inherited, { ticket_id: "t", tier: "t", category_name: "c" }]) {
    const server = await serve(t, json(200, body), json(404, { error: "No.", code: "card_not_found" }));
    const scanning = client(server.base_url).scans.create(SANDBOX_EVENT_ID, { token: "x" });
    await assert.rejects(scanning, (error) => error instanceof NotFound && !error.outcome_unknown);
    assert.equal(server.asked.length, 2);
  }
});

test("arguments that cannot be right are never sent", async (t) => {
  const server = await serve(t, json(200, { data: TICKET }));
  const { scans, events } = client(server.base_url);
  const wrong: unknown[] = [{}, { card_number: "a", token: "b" }, { token: "a", occurred_at: "2026-05-01T18:00:00" }];
  for (const fields of [...wrong, { token: "a", idempotency_key: "a\nb" }, { token: "a", idempotency_key: "é→" }])
    await assert.rejects(scans.create(SANDBOX_EVENT_ID, fields as NewScan), TypeError);
  for (const id of ["", ".", "..", undefined as unknown as string])
    await assert.rejects(events.retrieve(id), TypeError);
  await assert.rejects(events.create({ title: "a", starts_at: "2026-05-01", ends_at: new Date() }), TypeError);
  assert.equal(server.asked.length, 0);
});

test("an id is one segment of the path", async (t) => {
  const server = await serve(t, json(404, { error: "No.", code: "event_not_found" }));
  await assert.rejects(client(server.base_url).events.retrieve("a/../b?c#d é"), NotFound);
  assert.equal(server.asked[0]?.url, "/api/public/v1/events/a%2F..%2Fb%3Fc%23d%20%C3%A9");
});

test("a list is read page by page, and each page can be kept", async (t) => {
  const page = (numbers: string[], next_cursor: string | null) =>
    json(200, { data: numbers.map(card), has_more: next_cursor !== null, next_cursor });
  const answers = [page(["a", "b"], "c 1"), page(["c"], "c 2"), page([], null)];
  const server = await serve(t, ...answers, ...answers, page(["a"], "c 1"));
  const { cards } = client(server.base_url);
  const found: Card[] = [];
  for await (const one of cards.list({ email: "a+b@example.com", limit: 2 })) found.push(one);
  assert.deepEqual(
    found.map((one) => one.number),
    ["a", "b", "c"],
  );
  assert.deepEqual([found[0]?.etag, Reflect.get(found[0] ?? {}, "new_field")], [null, 7]);
  const query = "/api/public/v1/cards?email=a%2Bb%40example.com&limit=2";
  assert.deepEqual(
    server.asked.map((one) => one.url),
    [query, `${query}&cursor=c+1`, `${query}&cursor=c+2`],
  );
  const cursors: (string | null)[] = [];
  for await (const one of cards.list().pages()) cursors.push(one.next_cursor);
  assert.deepEqual(cursors, ["c 1", "c 2", null]);
  assert.equal((await cards.list().first()).has_more, true);
});

test("an object has its etag, and a change with it is sent once", async (t) => {
  const server = await serve(t, json(200, { data: card("a") }, { etag: '"v1"' }), loses);
  const { cards } = client(server.base_url);
  const found = await cards.retrieve("a");
  assert.equal(found.etag, '"v1"');
  await assert.rejects(cards.update("a", { holder: null, if_match: found.etag }), { outcome_unknown: true });
  assert.deepEqual([server.asked[1]?.headers["if-match"], server.asked[1]?.body], ['"v1"', '{"holder":null}']);
  assert.equal(server.asked.length, 2);
});

test("a secret is not printed", async (t) => {
  const data = { card_id: "c", token: "SVC1.secret", expires_at: "2026-05-01T18:00:00Z" };
  const server = await serve(t, json(200, { data }));
  const made = await client(server.base_url).cardTokens.create("c");
  assert.deepEqual({ ...made }, data);
  assert.equal(inspect(made), "{ card_id: 'c', token: '…', expires_at: '2026-05-01T18:00:00Z' }");
});

test("a batch has a result for each item, and an error for each refused one", async (t) => {
  const refused = { status: 409, error: "Sold out.", code: "sold_out" };
  const server = await serve(t, json(200, { data: [refused, { status: 404, error: "No.", code: "card_not_found" }] }));
  const tickets = ["a", "b"].map((card_id) => ({ event_id: "e", category_id: "c", card_id }));
  const found: unknown[] = [];
  for await (const [ticket, result] of client(server.base_url).tickets.createAll(tickets))
    found.push([ticket.card_id, result.refusal?.name]);
  assert.deepEqual(found, [
    ["a", "SoldOut"],
    ["b", "NotFound"],
  ]);
  assert.deepEqual(JSON.parse(server.asked[0]?.body ?? ""), { tickets });
});

test("batches hold 1,000 items and 1 MiB at most, and items are read when they are needed", async () => {
  let read = 0;
  function* items(count: number, text: string): Generator<string> {
    for (let n = 0; n < count; n++) {
      read += 1;
      yield text;
    }
  }
  const sizes: number[] = [];
  for await (const batch of cut(items(2500, "a"))) {
    sizes.push(batch.length);
    assert.ok(read <= sizes.reduce((sum, size) => sum + size) + 1);
  }
  assert.deepEqual(sizes, [1000, 1000, 500]);
  for await (const batch of cut(items(1000, "é".repeat(1000))))
    assert.ok(new TextEncoder().encode(JSON.stringify({ tickets: batch })).length <= 1024 * 1024);
});

test("other deadlines and retries make another client", async (t) => {
  const server = await serve(t, loses);
  const hurried = client(server.base_url, { max_retries: 3 }).withOptions({ max_retries: 1, deadline: null });
  await assert.rejects(hurried.events.list().first(), { name: "APIConnectionError" });
  assert.equal(server.asked.length, 2);
});

test("the version is that of the package", () => {
  assert.equal((JSON.parse(readFileSync("package.json", "utf8")) as { version: string }).version, VERSION);
});
