import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { ConfigurationError, Gatepass } from "../../src/index.js";

const KEY = "svc_test_secret";
const URL_OF_API = "https://gatepass.test/api/public/v1";

function refused(options: object, message: RegExp): void {
  assert.throws(
    () => new Gatepass(options),
    (error) => error instanceof ConfigurationError && message.test(error.message),
  );
}

test("a client needs a key and a base URL, from its options or from the environment", (t) => {
  t.after(() => {
    delete process.env["GATEPASS_API_KEY"];
    delete process.env["GATEPASS_BASE_URL"];
  });
  refused({ base_url: URL_OF_API }, /No API key/);
  refused({ api_key: KEY }, /No base URL/);
  for (const api_key of ["secret", "svc_test_a\nb", "svc_live_é", "svc_live_a b"])
    refused({ api_key, base_url: URL_OF_API }, /not an API key/);
  process.env["GATEPASS_API_KEY"] = KEY;
  process.env["GATEPASS_BASE_URL"] = `${URL_OF_API}/`;
  assert.deepEqual([new Gatepass().base_url, new Gatepass().is_sandbox], [URL_OF_API, true]);
  assert.equal(new Gatepass({ api_key: "svc_live_x" }).is_sandbox, false);
});

test("the key is sent in plain text to this machine only", () => {
  const good = [
    "https://a.test",
    "http://localhost:8000",
    "http://127.0.0.1",
    "http://127.1.2.3:1/x",
    "http://[::1]:8",
  ];
  for (const base_url of good) assert.ok(new Gatepass({ api_key: KEY, base_url }));
  const plain = [
    "http://a.test",
    "http://10.0.0.1",
    "http://localhost.a.test",
    "http://[::2]",
    "http://127.0.0.1.a.test",
  ];
  for (const base_url of plain) {
    refused({ api_key: KEY, base_url }, /plain text/);
    assert.ok(new Gatepass({ api_key: KEY, base_url, allow_http: true }));
  }
  for (const base_url of ["", "gatepass.test", "ftp://a.test", "/api", "http://"])
    refused({ api_key: KEY, base_url }, /base URL/i);
  for (const base_url of [
    "https://a:b@a.test",
    "https://a@a.test",
    "https://a.test?x",
    "https://a.test#",
    "https://a.test/?",
  ])
    refused({ api_key: KEY, base_url }, /no user, password, query or fragment/);
});

test("a key never shows", () => {
  const client = new Gatepass({ api_key: KEY, base_url: URL_OF_API });
  for (const shown of [inspect(client, { depth: 10, showHidden: true }), JSON.stringify(client), String(client)])
    assert.ok(!shown.includes("secret"));
});
