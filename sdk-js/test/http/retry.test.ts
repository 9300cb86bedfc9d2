import assert from "node:assert/strict";
import { test } from "node:test";
import * as errors from "../../src/errors.js";
import { Answer, type Call } from "../../src/http/call.js";
import {
  changedPolicy,
  DEFAULT_POLICY,
  NoAnswer,
  type PolicyChanges,
  retryAfter,
  Tries,
} from "../../src/http/retry.js";

const SCAN: Call<unknown> = { method: "POST", path: "/scan", read: () => 0, idempotency_key: "k-1", is_scan: true };
const READ: Call<unknown> = { method: "GET", path: "/events", read: () => 0 };
const CREATE: Call<unknown> = { method: "POST", path: "/webhooks", read: () => 0, repeatable: false };
const RETRIED = [408, 429, 500, 502, 503, 504];
const FINAL = [400, 401, 403, 404, 405, 409, 410, 413, 422];

interface Given {
  call?: Call<unknown>;
  jitter?: number;
  clock?: () => number;
}

function tries(policy: PolicyChanges = {}, { call = SCAN, jitter = 0, clock = () => 1000 }: Given = {}): Tries {
  return new Tries(call, changedPolicy(DEFAULT_POLICY, policy), clock, () => jitter);
}

function answer(status: number, headers: Record<string, string> = {}, code = "some_code"): Answer {
  const body = new TextEncoder().encode(JSON.stringify({ error: "No.", code }));
  return new Answer(status, new Headers(headers), body);
}

const LOST = new NoAnswer("lost", { was_sent: true });
const UNSENT = new NoAnswer("refused", { was_sent: false });

function thrown(action: () => unknown): errors.GatepassError {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof errors.GatepassError);
    return error;
  }
  return assert.fail("nothing was thrown");
}

test("what may pass is tried again, and what is decided is not", () => {
  for (const status of RETRIED) assert.ok(tries().afterRefusal(answer(status)) > 0);
  for (const status of [...FINAL, 501]) {
    const error = thrown(() => tries().afterRefusal(answer(status)));
    assert.ok(error instanceof errors.APIStatusError);
    assert.deepEqual([error.status, error.idempotency_key, error.outcome_unknown], [status, "k-1", status >= 500]);
  }
});

test("the service decides about retries", () => {
  for (const status of [...RETRIED, ...FINAL]) {
    assert.ok(tries().afterRefusal(answer(status, { "x-svc-should-retry": "true" })) > 0);
    for (const word of ["false", "TRUE", "yes"])
      thrown(() => tries().afterRefusal(answer(status, { "x-svc-should-retry": word })));
  }
});

test("waits grow and are cut by jitter", () => {
  for (const [jitter, part] of [
    [0, 1],
    [1, 0.75],
  ] as const) {
    const all = tries({ max_retries: 100, deadline: 1000 }, { call: READ, jitter });
    const waits = Array.from({ length: 8 }, () => all.afterRefusal(answer(503)));
    assert.deepEqual(
      waits.map((wait) => wait.toFixed(3)),
      [0.1, 0.2, 0.4, 0.8, 1.6, 2, 2, 2].map((wait) => (wait * part).toFixed(3)),
    );
  }
});

test("Retry-After is waited for, but never less than our own wait, and never past the deadline", () => {
  assert.equal(tries().afterRefusal(answer(429, { "retry-after": "3" })), 3);
  assert.equal(tries().afterRefusal(answer(503, { "retry-after": "0" })), 0.1);
  const error = thrown(() => tries().afterRefusal(answer(429, { "retry-after": "9" })));
  assert.ok(error instanceof errors.RateLimited);
  assert.deepEqual([error.retry_after, error.outcome_unknown], [9, false]);
});

test("Retry-After may be a date, and nonsense is nothing", () => {
  const now = Date.UTC(2026, 4, 1);
  assert.equal(
    retryAfter(new Date(now + 30_000).toUTCString(), () => now),
    30,
  );
  assert.equal(
    retryAfter(new Date(now - 30_000).toUTCString(), () => now),
    0,
  );
  for (const nonsense of [null, "", "soon", "-1", "1.5", "٣", "1e3"]) assert.equal(retryAfter(nonsense), null);
});

test("the deadline ends everything, and a read has more time than a gate", () => {
  let now = 1000;
  const one = tries({}, { clock: () => now });
  assert.deepEqual([one.time_left, one.time_for_this_try], [8, 3.5]);
  now += 6;
  assert.equal(one.time_for_this_try, 2);
  now += 2;
  assert.deepEqual([one.time_left, one.time_for_this_try], [0, 0.001]);
  const late = new NoAnswer("late", { was_sent: true, was_late: true });
  assert.ok(thrown(() => one.afterFailure(late)) instanceof errors.APITimeoutError);
  assert.equal(tries({}, { call: READ }).time_left, 20);
  assert.equal(tries({ deadline: 5 }).time_left, 8);
});

test("tries end after max_retries", () => {
  const all = tries({ max_retries: 2, scan_deadline: 1000 });
  all.afterRefusal(answer(503));
  all.afterRefusal(answer(503));
  assert.ok(thrown(() => all.afterRefusal(answer(503))).outcome_unknown);
});

test("what was never sent did nothing, and what may have been sent may have happened", () => {
  const unsent = thrown(() => tries({ max_retries: 0 }).afterFailure(UNSENT));
  assert.match(unsent.message, /cannot be reached/);
  assert.equal(unsent.outcome_unknown, false);
  assert.ok(tries({}, { call: CREATE }).afterFailure(UNSENT) > 0);
  assert.ok(tries().afterFailure(LOST) > 0);
  const lost = thrown(() => tries({ max_retries: 0 }).afterFailure(LOST));
  assert.match(lost.message, /may have been activated/);
  assert.equal(lost.outcome_unknown, true);
  assert.match(thrown(() => tries({}, { call: CREATE }).afterFailure(LOST)).message, /No answer came back from/);
});

test("a call that must not happen twice is repeated only if it was not done", () => {
  assert.ok(tries({}, { call: CREATE }).afterRefusal(answer(429)) > 0);
  thrown(() => tries({}, { call: CREATE }).afterRefusal(answer(503)));
});

test("after a lost answer only what is kept for the key is certain", () => {
  for (const status of FINAL) {
    const all = tries();
    all.afterFailure(LOST);
    const error = thrown(() => all.afterRefusal(answer(status)));
    assert.equal(error.outcome_unknown, ![404, 409, 410, 422].includes(status), String(status));
  }
});

test("a captive portal is never a verdict", () => {
  for (const status of [0, 200, 302, 404, 503]) {
    const page = new Answer(status, new Headers({ "content-type": "text/html" }), new TextEncoder().encode("<p>Pay"));
    assert.equal(page.is_from_service, false);
    assert.ok(tries().afterForeignAnswer(page) > 0);
    const error = thrown(() => tries({ max_retries: 0 }).afterForeignAnswer(page));
    assert.match(error.message, new RegExp(`other than Gatepass answered \\(${status}, text/html\\)`));
    assert.ok(error.outcome_unknown && !(error instanceof errors.APIStatusError));
  }
});

test("half an answer is no answer, and an empty one is ours if it has our id", () => {
  for (const body of ["", "[]", "null", "{}", '{"data"', "7", "[".repeat(100_000)])
    for (const status of [200, 404])
      assert.equal(new Answer(status, new Headers(), new TextEncoder().encode(body)).is_from_service, false);
  assert.equal(new Answer(200, new Headers(), new Uint8Array([0x7b, 0xff, 0x7d])).is_from_service, false);
  const empty = new Uint8Array();
  for (const status of [204, 304]) {
    assert.equal(new Answer(status, new Headers({ "x-request-id": "req_1" }), empty).is_from_service, true);
    assert.equal(new Answer(status, new Headers(), empty).is_from_service, false);
  }
});

test("each status and each code has its class", () => {
  const by_status = {
    400: errors.BadRequest,
    401: errors.AuthenticationError,
    403: errors.PermissionDenied,
    404: errors.NotFound,
    409: errors.Conflict,
    410: errors.Expired,
    412: errors.ChangedMeanwhile,
    418: errors.APIStatusError,
    422: errors.ValidationError,
    429: errors.RateLimited,
    503: errors.ServerError,
  };
  for (const [status, kind] of Object.entries(by_status))
    for (const code of [null, "new_code", "constructor"]) assert.equal(errors.classOf(Number(status), code), kind);
  // The sandbox answers with 400.
  assert.equal(errors.classOf(400, "already_activated"), errors.AlreadyUsed);
  assert.equal(errors.classOf(400, "expired"), errors.Expired);
});
