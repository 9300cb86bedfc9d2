"""Real requests to the API and the studio, from which malformed ones are made."""

from dataclasses import dataclass
from random import Random
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from gatepass.studio.web import cookies
from tests.fuzz.template import Headers, Template, multipart
from tests.pictures import jpeg, png, webp_extended, webp_lossless, webp_lossy

API: Final = b"/api/public/v1"
BOUNDARY: Final = b"gatepass-fuzz"
FORM: Final = b"application/x-www-form-urlencoded"
NIL: Final = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True)
class Facts:
    """Of the organization that attacks: what exists, and who may use it."""

    port: int
    key: str
    sandbox_key: str
    session: str
    organization_id: str
    event_id: str
    category_id: str
    card_id: str
    card_number: str
    token: str
    webhook_id: str
    cursor: str


class Corpus:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.tokens = [facts.token.encode(), b"SVC1.TEST_VALID.0.0"]
        self.files = [csv.encode() for csv in FILES]
        self.pictures = [
            png(120, 120),
            jpeg(200, 200),
            webp_lossy(200, 200),
            webp_lossless(200, 200),
            webp_extended(200, 200),
        ]
        self.scan = self.api(b"POST", b"/scan", _json(event_id=facts.event_id, card_number=facts.card_number))
        self.scan_of_token = self.api(b"POST", b"/scan", _json(event_id=facts.event_id, token=facts.token))
        self.webhook = self.api(
            b"POST", b"/webhooks", b'{"url":"https://example.com/","types":["ticket.activated"],"description":"x"}'
        )
        self.change = self.api(b"PATCH", b"/webhooks/" + facts.webhook_id.encode(), b'{"description":"x"}')
        self.bodies = [self.scan, self.scan_of_token, self.webhook, self.change]
        self.reads = [self.api(b"GET", path) for path in _reads(facts)]
        self.pages = [self.studio(b"GET", path) for path in PAGES]
        self.forms = [self.studio(b"POST", path, urlencode(fields).encode()) for path, fields in _forms(facts)]
        self.calls = [*self.bodies, *self.reads]
        self.visits = [*self.pages, *self.forms, self.upload(self.files[0]), self.cover(self.pictures[0])]
        self.raw = [template.raw() for template in [*self.calls, *self.visits]]

    def any(self, rng: Random) -> Template:
        """One of twelve is to the studio, whose pages cost ten times as much."""
        return rng.choice(self.visits if rng.randrange(12) == 0 else self.calls)

    def api(self, method: bytes, path: bytes, body: bytes = b"") -> Template:
        headers: Headers = ((b"Host", b"gate"), (b"Authorization", b"Bearer " + self.facts.key.encode()))
        if body:
            headers = (*headers, (b"Content-Type", b"application/json"))
        return Template(method, API + path, headers, body)

    def studio(self, method: bytes, path: bytes, body: bytes = b"", kind: bytes = FORM) -> Template:
        """As the owner's browser sends it."""
        headers: Headers = (
            (b"Host", b"studio"),
            (b"Cookie", f"{cookies.SESSION}={self.facts.session}".encode()),
            (b"Sec-Fetch-Site", b"same-origin"),
        )
        if method == b"POST":
            headers = (*headers, (b"Content-Type", kind))
        return Template(method, f"/studio/o/{self.facts.organization_id}/live/".encode() + path, headers, body)

    def upload(self, content: bytes, rng: Random | None = None) -> Template:
        key = str(UUID(int=(rng or Random(0)).getrandbits(128))).encode()
        body = multipart({b"upload_key": key}, {b"file": (b"guests.csv", content)}, BOUNDARY)
        path = f"events/{self.facts.event_id}/imports".encode()
        return self.studio(b"POST", path, body, b"multipart/form-data; boundary=" + BOUNDARY)

    def cover(self, content: bytes) -> Template:
        body = multipart({}, {b"cover": (b"cover.png", content)}, BOUNDARY)
        path = f"events/{self.facts.event_id}/cover".encode()
        return self.studio(b"POST", path, body, b"multipart/form-data; boundary=" + BOUNDARY)


def _json(**fields: str) -> bytes:
    return ("{" + ",".join(f'"{name}":"{value}"' for name, value in fields.items()) + "}").encode()


def _reads(facts: Facts) -> list[bytes]:
    paths = [
        "/events?limit=5", f"/events?cursor={facts.cursor}&limit=2", f"/events/{facts.event_id}", f"/events/{NIL}",
        f"/card/verify?token={facts.token}", "/card/keys", "/webhooks?limit=3", f"/webhooks/{facts.webhook_id}",
        f"/webhooks/{facts.webhook_id}/deliveries?status=failed", "/webhook-events?after=&limit=1",
    ]  # fmt: skip
    return [path.encode() for path in paths]


# Nothing here ends the session, the membership or a key: the paths behind the sign-in stay open.
PAGES: Final = (
    b"events?after=1." + NIL.encode(), b"cards?q=Ann", b"audit?actor=x&since=2026-01-01T00:00",
    b"requests?status=4xx", b"find?q=x",
    b"events/clock?starts_date=2026-11-15&starts_time=20:00&time_zone=Europe/Brussels",
)  # fmt: skip


def _forms(facts: Facts) -> list[tuple[bytes, dict[str, str]]]:
    event = f"events/{facts.event_id}"
    day = {"starts_date": "2031-05-01", "starts_time": "20:00", "ends_date": "2031-05-01", "ends_time": "23:00"}
    details = {
        "title": "Fuzz",
        "time_zone": "Europe/Brussels",
        **day,
        "venue": "Hall",
        "city": "Ghent",
        "country": "BE",
    }
    return [
        (f"{event}/edit".encode(), {**details, "description": "x\ny"}),
        (
            f"{event}/categories".encode(),
            {"name": "VIP", "price": "12,50", "currency": "EUR", "quantity": "5", "tier": "vip"},
        ),
        (f"{event}/tickets/new".encode(), {"category": facts.category_id, "name": "Ann", "email": "ann@example.org"}),
        (f"{event}/cover".encode(), {"cover_url": "https://example.com/a.png"}),
        (f"cards/{facts.card_id}/suspend".encode(), {"reason": "fuzz"}),
        (f"cards/{facts.card_id}/resume".encode(), {"reason": "fuzz"}),
        (b"webhooks/playground", {"secret": "whsec_x", "headers": "x-svc-signature: t=1,v1=00", "body": "{}"}),
    ]


FILES: Final = (
    'name,email,category\nAnn,ann@example.org,General\n"Bob, Jr",bob@example.org,General\n',
    'Name;Order\r\n"two\r\nlines";1\r\n\'=x;2\r\n',
    "name\torder\nZoë\t1\n",
    '"a""b",c\n"",""\n5" pipe,x\n',
)
