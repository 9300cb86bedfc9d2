import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ConfigurationError, OtherEvent, TicketActivated, WebhookVerificationError } from "../src/index.js";
import { sign, unwrap, verify, Webhooks } from "../src/webhooks.js";

interface WebhookCase {
  name: string;
  body?: string;
  body_hex?: string;
  headers: Record<string, string>;
  secret: string;
  at: number;
  said: "no_signature" | "no_match" | "too_old" | "unreadable" | null;
}

const { cases } = JSON.parse(readFileSync("../sdk/cases/webhooks.json", "utf8")) as { cases: WebhookCase[] };
const MESSAGES = {
  no_signature: /no x-svc-signature/,
  no_match: /does not match/,
  too_old: /too old/,
  unreadable: /cannot be read/,
};

test("every case of webhooks.json", async (t) => {
  for (const one of cases)
    await t.test(one.name, async () => {
      const body = one.body ?? Buffer.from(one.body_hex ?? "", "hex");
      const unwrapping = unwrap(body, one.headers, one.secret, { now: () => one.at });
      if (one.said === null) assert.deepEqual({ ...(await unwrapping) }, JSON.parse(String(body), withNull));
      else
        await assert.rejects(unwrapping, (error) => {
          assert.ok(error instanceof WebhookVerificationError);
          assert.match(error.message, MESSAGES[one.said ?? "no_match"]);
          return true;
        });
    });
});

/** The fields that this message may leave out. */
function withNull(key: string, value: unknown): unknown {
  const is_activation = key === "data" && "ticket_id" in (value as object);
  return is_activation ? { occurred_at: null, scanner_id: null, ...(value as object) } : value;
}

const SECRET = "whsec_secret";
const MESSAGE = JSON.stringify({
  id: "evt_1",
  type: "ticket.activated",
  organization_id: "o",
  created_at: "2026-05-01T20:00:00Z",
  data: { ticket_id: "t", event_id: "e", card_number: "c", activated_at: "2026-05-01T20:00:00Z" },
  future_field: 1,
});

test("a message has its class, from any kind of body and headers", async () => {
  const signature = await sign(MESSAGE, SECRET, { at: Date.now() / 1000 });
  const bytes = new TextEncoder().encode(MESSAGE);
  for (const body of [MESSAGE, bytes, bytes.buffer, Buffer.from(MESSAGE)])
    for (const headers of [{ "X-SVC-Signature": signature }, new Headers({ "x-svc-signature": signature })]) {
      const event = await new Webhooks().unwrap(body, headers, SECRET);
      assert.ok(event instanceof TicketActivated);
      assert.deepEqual([event.data.card_number, event.data.gate, Reflect.get(event, "future_field")], ["c", null, 1]);
    }
  const other = MESSAGE.replace("ticket.activated", "webhook.ping");
  const headers = { "x-svc-signature": await sign(other, SECRET, { at: Date.now() / 1000 }) };
  assert.ok((await unwrap(other, headers, SECRET)) instanceof OtherEvent);
});

test("the real clock is used, and a missing secret is said", async () => {
  const headers = { "x-svc-signature": await sign(MESSAGE, SECRET, { at: 1 }) };
  await assert.rejects(verify(MESSAGE, headers, SECRET), /too old/);
  await assert.rejects(verify(MESSAGE, headers, ""), ConfigurationError);
});
