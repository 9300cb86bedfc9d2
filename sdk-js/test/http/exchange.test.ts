import assert from "node:assert/strict";
import { test } from "node:test";
import { AlreadyUsed, APIConnectionError, APIStatusError, APITimeoutError, ServerError } from "../../src/errors.js";
import { type Answer, type Call, Unreadable } from "../../src/http/call.js";
import { Exchange } from "../../src/http/exchange.js";
import { Settings } from "../../src/http/settings.js";
import { closedPort, hangs, json, loses, serve } from "./server.js";

const KEY = "svc_test_abc";

function exchange(base_url: string): Exchange {
  return new Exchange(Settings.of({ api_key: KEY, base_url }));
}

function ticket(answer: Answer): string {
  const data = answer.value["data"] as { ticket_id?: unknown } | undefined;
  if (typeof data?.ticket_id !== "string") throw new Unreadable("a ticket was expected");
  return data.ticket_id;
}

const SCAN: Call<string> = {
  method: "POST",
  path: "/scan",
  read: ticket,
  body: { card_number: "TEST_VALID" },
  idempotency_key: "one-key",
  is_scan: true,
};
const GOOD = json(200, { data: { ticket_id: "t1" } });

test("a lost answer is asked for again, with the same key", async (t) => {
  const server = await serve(t, loses, loses, GOOD);
  assert.equal(await exchange(server.base_url).ask(SCAN), "t1");
  assert.deepEqual(
    server.asked.map((one) => [one.method, one.url, one.headers["idempotency-key"], one.body]),
    Array(3).fill(["POST", "/api/public/v1/scan", "one-key", '{"card_number":"TEST_VALID"}']),
  );
  assert.equal(server.asked[0]?.headers.authorization, `Bearer ${KEY}`);
});

test("an answer of somebody else is not believed", async (t) => {
  const portal = json(200, { success: true });
  const page: typeof GOOD = (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>Sign in");
  const half: typeof GOOD = (_, response) => response.writeHead(200).end('{"data": {"ticket_id": "t');
  const server = await serve(t, portal, page, half, json(404, { message: "no" }), json(200, []), GOOD);
  assert.equal(await exchange(server.base_url).ask(SCAN), "t1");
  assert.equal(server.asked.length, 6);
});

test("a body that ends too early is no answer", async (t) => {
  const short: typeof GOOD = (_, response) => {
    response
      .writeHead(200, { "content-length": "1000" })
      .write('{"data": {"ticket_id": "t1"}}', () => response.destroy());
  };
  const server = await serve(t, short, GOOD);
  assert.equal(await exchange(server.base_url).ask(SCAN), "t1");
  assert.equal(server.asked.length, 2);
});

test("no redirect is followed", async (t) => {
  const elsewhere = await serve(t, GOOD);
  const server = await serve(t, (_, response) =>
    response.writeHead(307, { location: `${elsewhere.base_url}/scan` }).end(),
  );
  const asking = exchange(server.base_url).withPolicy({ max_retries: 1 }).ask(SCAN);
  await assert.rejects(asking, (error) => error instanceof APIConnectionError && error.outcome_unknown);
  assert.equal(elsewhere.asked.length, 0);
});

test("a deadline holds while a server says nothing, and while it says little", async (t) => {
  const dribbles: typeof GOOD = (_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
  };
  for (const answering of [hangs, dribbles]) {
    const server = await serve(t, answering);
    const asking = exchange(server.base_url).withPolicy({ scan_deadline: 0.4 }).ask(SCAN);
    await assert.rejects(
      asking,
      (error) => error instanceof APITimeoutError && error.outcome_unknown && error.idempotency_key === "one-key",
    );
  }
});

test("a deadline holds with a fetch that hears no signal", async () => {
  const deaf = new Exchange(
    Settings.of({ api_key: KEY, base_url: "https://example.test" }),
    () => new Promise(() => undefined),
  );
  await assert.rejects(deaf.withPolicy({ scan_deadline: 0.05 }).ask(SCAN), APITimeoutError);
});

test("an endless answer is cut off", async (t) => {
  const endless: typeof GOOD = (_, response) => {
    response.writeHead(200);
    const part = Buffer.alloc(1024 * 1024, " ");
    const more = (): void => {
      if (!response.destroyed) response.write(part, more);
    };
    more();
  };
  const server = await serve(t, endless);
  await assert.rejects(exchange(server.base_url).withPolicy({ max_retries: 0 }).ask(SCAN), (error) => {
    assert.ok(error instanceof APIConnectionError && !(error instanceof APITimeoutError));
    return true;
  });
});

test("who was not reached was not asked", async () => {
  const nobody = exchange(`http://127.0.0.1:${await closedPort()}`).withPolicy({ max_retries: 1 });
  await assert.rejects(nobody.ask(SCAN), (error) => error instanceof APIConnectionError && !error.outcome_unknown);
});

test("a call that could act twice is sent once", async (t) => {
  for (const answering of [loses, json(503, { error: "Busy.", code: "overloaded" }), json(200, { hello: 1 })]) {
    const server = await serve(t, answering, GOOD);
    await assert.rejects(exchange(server.base_url).ask({ ...SCAN, repeatable: false }), { outcome_unknown: true });
    assert.equal(server.asked.length, 1);
  }
});

test("a refusal has its class and all its fields", async (t) => {
  const details = { gate: "North 2" };
  const refuses = json(409, { error: "Used.", code: "already_activated", details }, { "idempotent-replayed": "true" });
  const server = await serve(t, refuses);
  await assert.rejects(exchange(server.base_url).ask(SCAN), (error) => {
    assert.ok(error instanceof AlreadyUsed && error instanceof APIStatusError);
    assert.deepEqual(
      [error.message, error.status, error.code, error.request_id, error.details, error.replayed, error.outcome_unknown],
      ["Used.", 409, "already_activated", "req_test", details, true, false],
    );
    assert.equal(String(error), "AlreadyUsed: Used. (409 already_activated req_test)");
    return true;
  });
});

test("after a lost answer a fault leaves the outcome unknown, and a kept refusal does not", async (t) => {
  const fault = json(401, { error: "Key.", code: "invalid_key" });
  const unknown = await serve(t, loses, fault);
  await assert.rejects(exchange(unknown.base_url).ask(SCAN), { status: 401, outcome_unknown: true });
  const kept = await serve(t, loses, json(409, { error: "Used.", code: "already_activated" }));
  await assert.rejects(exchange(kept.base_url).ask(SCAN), { status: 409, outcome_unknown: false });
  const broken = await serve(
    t,
    json(500, { error: "Fault.", code: "internal_error" }, { "x-svc-should-retry": "false" }),
  );
  await assert.rejects(
    exchange(broken.base_url).ask(SCAN),
    (error) => error instanceof ServerError && error.outcome_unknown,
  );
});

test("a stream gives its events until it ends", async (t) => {
  const stream: typeof GOOD = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(": ping\n\nevent: changes\ndata: AAEC\n\nevent: whole\ndata: \n\n");
  };
  const server = await serve(t, stream);
  const found: string[][] = [];
  for await (const event of exchange(server.base_url).following("/stream", { after: "c 1" })) found.push(event);
  assert.deepEqual(found, [
    ["changes", "AAEC"],
    ["whole", ""],
  ]);
  assert.equal(server.asked[0]?.url, "/api/public/v1/stream?after=c+1");
});

test("a stream ends when its signal says so, and with the refusal of the service", async (t) => {
  const open: typeof GOOD = (_, response) => response.writeHead(200).write("event: changes\ndata: A\n\n");
  const server = await serve(t, open, json(401, { error: "Key.", code: "invalid_key" }));
  const stop = new AbortController();
  const reading = (async () => {
    for await (const _ of exchange(server.base_url).following("/stream", {}, stop.signal)) stop.abort();
  })();
  await assert.rejects(reading, { name: "AbortError" });
  await assert.rejects(exchange(server.base_url).following("/stream", {}).next(), { name: "AuthenticationError" });
});
