"""Random requests that are mostly almost valid: there two implementations differ."""

import json
import random
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

UNKNOWN = "0197a3c2-8d41-7c06-9b1e-5a2f7d3c4e10"
EVENT = "00000000-0000-0000-0000-00000000e7e7"


@dataclass(frozen=True)
class FuzzedRequest:
    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: dict[str, str] = field(default_factory=dict[str, str])
    content: bytes | None = None


class RequestFuzzer:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.run = f"{seed}-{secrets.randbelow(10**9)}"

    def request(self) -> FuzzedRequest:
        kinds: list[tuple[Callable[[], FuzzedRequest], int]] = [
            (self.scan, 10),
            (self.verify, 3),
            (self.listing, 4),
            (self.new_endpoint, 4),
            (self.endpoint_change, 4),
            (self.replay, 4),
            (self.rotation, 1),
            (self.stray, 2),
        ]
        return self.rng.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]()

    def scan(self) -> FuzzedRequest:
        pick, now = self.rng.choice, datetime.now(UTC)
        numbers = ["TEST_VALID", "TEST_VIP", "TEST_USED", "TEST_EXPIRED", "TEST_REVOKED", " test_vip", "test-vip"]
        tokens = [f"SVC1.{name}.0.0" for name in numbers] + ["x", "SVC1.TEST_VALID.0.1", "SVC2.TEST_VALID.0.0"]
        times = [now.isoformat(), (now - timedelta(hours=71)).isoformat(), (now - timedelta(hours=73)).isoformat()]
        times += [(now + timedelta(minutes=3)).isoformat(), "yesterday", "2026-02-30T00:00:00Z", "2026-01-01T00:00:00"]
        times += ["2026-01-01 00:00:00Z", now.strftime("%Y-%m-%dT%H:%M:%S.123456789z"), "2026-01-01T24:00:00Z"]
        body: list[tuple[str, Any]] = [("event_id", pick([EVENT, EVENT, EVENT, EVENT.upper(), UNKNOWN, "x", "{}"]))]
        body.append(("card_number", pick(numbers)) if self.rng.random() < 0.6 else ("token", pick(tokens)))
        body += [(name, pick(["North 2", "é", "g" * 64])) for name in ("gate", "scanner_id") if self.rng.random() < 0.2]
        body += [("occurred_at", pick(times))] if self.rng.random() < 0.3 else []
        body += [("some_future_field", pick([1, [1, {"a": None}], "x"]))] if self.rng.random() < 0.2 else []
        headers = {}
        if self.rng.random() < 0.5:
            headers["Idempotency-Key"] = pick([f"{self.run}-{self.rng.randrange(12)}", "k" * 256, ""])
        return FuzzedRequest("POST", "/scan", headers=headers, content=self.corrupted(body))

    def verify(self) -> FuzzedRequest:
        tokens = ["SVC1.TEST_VALID.0.0", "SVC1.TEST_REVOKED.0.0", "SVC1.TEST_EXPIRED.0.0", "", "x", "é", "A" * 2000]
        query = [("token", self.rng.choice(tokens)) for _ in range(self.rng.choice([0, 1, 1, 1, 2]))]
        return FuzzedRequest("GET", self.rng.choice(["/card/verify"] * 5 + ["/card/keys", "/card"]), tuple(query))

    def listing(self) -> FuzzedRequest:
        paths = ["/events", f"/events/{EVENT}", f"/events/{UNKNOWN}", "/events/x", "/webhooks/{endpoint}/deliveries"]
        paths += [
            f"/webhooks/{UNKNOWN}/deliveries",
            "/webhooks/{endpoint}/replay",
            "/webhook-events",
            "/webhooks/x/replay",
        ]
        limits = ["1", "100", "0", "101", "x", "", "1_0", "٣", "+1", "007", "1000"]
        cursors = ["", "nonsense", "MS4wMTk3YTNjMi04ZDQxLTdjMDYtOWIxZS01YTJmN2QzYzRlMTA", "MS4x", "é", "=="]
        query = [("limit", self.rng.choice(limits))] if self.rng.random() < 0.4 else []
        path = self.rng.choice(paths)
        query += [("cursor", self.rng.choice(cursors))] if self.rng.random() < 0.4 else []
        if path == "/webhook-events":
            # The contents of the two feeds differ, so only refusals are compared.
            query = [self.rng.choice([("limit", "0"), ("limit", "x"), ("after", ""), ("after", "MS4x")])]
        if path.endswith("deliveries"):
            query += [("status", self.rng.choice(["failed", "lost", ""]))] if self.rng.random() < 0.3 else []
            query += [("type", self.rng.choice(["event.cancelled", "x"]))] if self.rng.random() < 0.3 else []
        seen = {"If-None-Match": self.rng.choice(["*", '"0"', 'W/"0"', '"'])} if self.rng.random() < 0.3 else {}
        return FuzzedRequest("GET", path, tuple(query), seen)

    def new_endpoint(self) -> FuzzedRequest:
        """Never a valid one: there may be 16 endpoints only."""
        body: list[tuple[str, Any]] = [("url", self.rng.choice(URLS)), ("types", self.rng.choice(TYPES))]
        if self.rng.random() < 0.3:
            body.append(("description", self.rng.choice([None, "", "d" * 500, "d" * 501])))
        if self.rng.random() < 0.3:
            body = body[self.rng.randrange(1, 2) :]
        return FuzzedRequest("POST", "/webhooks", content=self.corrupted([*body, ("types", ["no.such"])]))

    def endpoint_change(self) -> FuzzedRequest:
        path = self.rng.choice(["/webhooks/{endpoint}", "/webhooks/{endpoint}", f"/webhooks/{UNKNOWN}", "/webhooks/x"])
        fields: list[tuple[str, Any]] = [
            ("url", self.rng.choice(URLS)),
            ("types", self.rng.choice(TYPES)),
            ("description", self.rng.choice([None, "Mine", "d" * 501, 5])),
            ("status", self.rng.choice(["active", "paused", "gone", None, 1])),
        ]
        return FuzzedRequest("PATCH", path, content=self.corrupted(self.rng.sample(fields, self.rng.randrange(4))))

    def replay(self) -> FuzzedRequest:
        now = datetime.now(UTC)
        times = [None, "x", (now + timedelta(hours=1)).isoformat(), (now - timedelta(hours=2)).isoformat()]
        times += [(now - timedelta(days=31)).isoformat(), "t" * 65]
        fields: list[tuple[str, Any]] = [
            ("since", self.rng.choice(times)),
            ("until", self.rng.choice(times)),
            ("types", self.rng.choice([*TYPES, None])),
            ("statuses", self.rng.choice([["failed"], ["delivered"], [], ["held"], None, "failed"])),
            ("delivery_id", self.rng.choice([UNKNOWN, "x", None])),
        ]
        path = self.rng.choice(["/webhooks/{endpoint}/replay", f"/webhooks/{UNKNOWN}/replay"])
        body = [*self.rng.sample(fields, self.rng.randrange(3)), ("dry_run", True)]
        return FuzzedRequest("POST", path, content=self.corrupted(body))

    def rotation(self) -> FuzzedRequest:
        path = self.rng.choice([f"/webhooks/{UNKNOWN}/rotate-secret", f"/webhooks/{UNKNOWN}/test", "/webhooks/x/test"])
        return FuzzedRequest(
            "POST", path, content=self.rng.choice([b"", b"{}", b'{"switch":1}', b"[]", b'{"switch":true}'])
        )

    def stray(self) -> FuzzedRequest:
        paths = [
            "/nothing",
            "/scan",
            "/scan/",
            "/events",
            "/webhooks/{endpoint}/x",
            "/events/a/b",
            "/webhooks",
            "/card/keys",
        ]
        method = self.rng.choice(["GET", "PUT", "DELETE", "PATCH"])
        path = self.rng.choice(paths)
        return FuzzedRequest("PUT" if (method, path) == ("GET", "/webhooks") else method, path)

    def corrupted(self, body: list[tuple[str, Any]]) -> bytes:
        """The body as JSON, sometimes with an error in it."""
        place = self.rng.randrange(len(body)) if body else 0
        roll = self.rng.random() if body else 1.0
        if roll < 0.1:
            body = [*body[:place], (body[place][0], self.rng.choice(ODD)), *body[place + 1 :]]
        elif roll < 0.15:
            body = body[:place] + body[place + 1 :]
        elif roll < 0.2:
            body = body[::-1]
        written = "{" + ",".join(f"{json.dumps(name)}:{json.dumps(value)}" for name, value in body) + "}"
        if 0.2 < roll < 0.25:
            return self.rng.choice(NO_BODIES)
        if 0.25 < roll < 0.28:
            written = written.replace('"TEST', self.rng.choice(['"\\u0000TEST', '"\\ud800TEST', '"\\u00e9TEST']))
        return written.encode()


ODD: list[Any] = [None, 1, -1, 1.5, True, [], {}, "", "a" * 3000, 10**30, ["x"], [1], [None], "é", "x\ny"]
NO_BODIES = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"1",
    b'"x"',
    b"{}",
    b"\xff",
    b"[" * 5000,
    b"\xef\xbb\xbf{}",
    b"{}{}",
    b"NaN",
    b"x" * 17_000,
    b'{"event_id":NaN}',
    b'{"a":1,}',
    b"true",
    b" ",
    b"{'a':1}",
]
URLS = (
    "https://example.com/hook http://example.com ftp://example.com https:// https://a:b@example.com x https://1.2.3.4 "
    "https://example.com:99999 https://example.com:0 https://exa	mple.com https://[::1]/ https://[x]/ https://127.1 "
    "https://0x7f.1 https://-a.com https://a..com https://é.com https://example.com/#f https://example.com/%zz "
    "https://example.com\\x HTTPS://example.com https://localhost"
).split(" ")
TYPES: list[Any] = [
    ["event.cancelled"],
    ["no.such"],
    [],
    ["webhook.ping"],
    ["x" * 65],
    ["a"] * 33,
    "event.cancelled",
    ["event.cancelled", "event.cancelled"],
    ["event.cancelled", 1],
    ["'"],
    ["no " * 20],
]
