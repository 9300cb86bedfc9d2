"""Random requests of a platform: events, categories, cards, tokens and tickets, mostly almost valid.

They name the objects of the side that they are sent to by `{event}`, `{category}`, `{card}` and so on.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx2

from tests.sdk.contract.request_fuzzer import UNKNOWN, FuzzedRequest, RequestFuzzer

Body = list[tuple[str, Any]]
REASONS = ["Storm", " Storm ", "", " ", "r" * 200, "r" * 201, "r" * 501, "a\nb", None, 5]
ETAGS = ['"0"', "*", 'W/"0"', "x", '"a", "b"', ""]


def prepared(http: httpx2.Client) -> dict[str, str]:
    """Make what the requests name, and return their ids. Both sides then have the same objects."""

    def made(path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = http.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json()["data"]

    span = {"starts_at": "2040-05-01T18:00:00Z", "ends_at": "2040-05-01T23:00:00Z"}
    events = {name: made("/events", {"title": name, **span})["id"] for name in ("event", "draft", "ended")}
    ids = dict(events)
    for name, event, total in (
        ("category", "event", 40), ("small", "event", 1), ("of_draft", "draft", 9), ("last", "ended", 5),
    ):  # fmt: skip
        body = {"name": name, "price": 25.5, "currency": "EUR", "quantity_total": total}
        ids[name] = made(f"/events/{events[event]}/ticket-categories", body)["id"]
    made(f"/events/{events['event']}/publish", {})
    for path in ("publish", "end"):
        made(f"/events/{events['ended']}/{path}", {})
    for name in ("card", "suspended", "revoked"):
        card = made("/cards", {})
        ids |= {name: card["id"], f"{name}_number": card["number"]}
    made(f"/cards/{ids['suspended']}/suspend", {"reason": "lost"})
    made(f"/cards/{ids['revoked']}/revoke", {"reason": "lost"})
    for name in ("ticket", "other_ticket"):
        body = {"event_id": ids["event"], "category_id": ids["category"], "holder": {"name": name}}
        ids[name] = made("/tickets", body)["id"]
    return {**ids, "EVENT": ids["event"].upper(), "unique": f"~{uuid4().hex[:8]}"}


class PlatformFuzzer(RequestFuzzer):
    def request(self) -> FuzzedRequest:
        kinds: list[tuple[Callable[[], FuzzedRequest], int]] = [
            (self.new_ticket, 10),
            (self.batch, 5),
            (self.new_card, 6),
            (self.card_change, 3),
            (self.card_move, 3),
            (self.token, 4),
            (self.ticket_move, 4),
            (self.new_event, 4),
            (self.event_change, 4),
            (self.event_move, 2),
            (self.category, 5),
            (self.ticket_list, 4),
            (self.card_list, 3),
            (self.scan_list, 2),
            (self.single, 3),
            (self.wrong_method, 1),
        ]
        return self.rng.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]()

    def mostly(self, good: list[Any], odd: list[Any]) -> Any:
        """One of the good ones, nine times of ten."""
        return self.rng.choice(good if self.rng.random() < 0.9 else odd)

    def new_ticket(self) -> FuzzedRequest:
        return self._post("/tickets", self._ticket())

    def batch(self) -> FuzzedRequest:
        items: list[Any] = [dict(self._ticket()) for _ in range(self.mostly([1, 2, 3], [0]))]
        items += [self.rng.choice([1, None, [], "x", {}])] if self.rng.random() < 0.2 else []
        return self._post("/tickets/batch", [("tickets", items)])

    def _ticket(self) -> Body:
        roll, numbers = self.rng.random(), ["{card_number}", "{suspended_number}", "SVC 0000 0000 0000"]
        body: Body = [("event_id", self._event()), ("category_id", self._category())]
        if roll < 0.2:
            body.append(("card_id", self._card()))
        elif roll < 0.35:
            body.append(("card_number", self.mostly(numbers, ["", "x", "n" * 65, None])))
        elif roll < 0.95:
            body.append(("holder", self._holder()))
        if roll < 0.03:
            body.append(("holder", self._holder()))
        if self.rng.random() < 0.5:
            body.append(
                ("external_id", self.mostly(["order{unique}", "order-2{unique}"], ["", "e" * 129, "a\tb", None]))
            )
        return body

    def _event(self) -> str:
        return self.mostly(["{event}", "{event}", "{event}", "{EVENT}", "{draft}"], ["{ended}", UNKNOWN, "x"])

    def _category(self) -> str:
        return self.mostly(["{category}", "{category}", "{category}", "{of_draft}"], ["{small}", UNKNOWN, "x"])

    def _card(self) -> str:
        return self.mostly(["{card}", "{card}", "{suspended}", "{revoked}"], [UNKNOWN, "x", "x" * 65])

    def _holder(self) -> Any:
        emails = ["ada{unique}@example.com", "ADA{unique}@Example.com ", "bo{unique}@example.com"]
        holder: dict[str, Any] = {}
        if self.rng.random() < 0.7:
            holder["name"] = self.mostly(["Ada", " Ada ", "Bo", None], ["", " ", "n" * 201, "a\x07b", 5])
        if self.rng.random() < 0.8:
            holder["email"] = self.mostly(emails, ["x", "a@", "a b@c", "é@é", None])
        if self.rng.random() < 0.3:
            holder["locale"] = self.mostly(["fr", "fr-BE", None], ["x", "fr_BE", "en-" + "a" * 40])
        return self.mostly([holder], [None, [], "x", {}])

    def new_card(self) -> FuzzedRequest:
        body: Body = [("holder", self._holder())] if self.rng.random() < 0.8 else []
        if self.rng.random() < 0.3:
            numbers = ["{card_number}", "SVC 1234 5678 9012", "x", "", "svc-1234-5678-9012", None]
            body.append(("number", self.rng.choice(numbers)))
        if self.rng.random() < 0.4:
            body.append(("external_id", self.mostly(["member{unique}", "member-2{unique}"], ["", "a\nb", None])))
        return self._post("/cards", body)

    def card_change(self) -> FuzzedRequest:
        body: Body = [("holder", self._holder())] if self.rng.random() < 0.9 else []
        return FuzzedRequest("PATCH", f"/cards/{self._card()}", (), self._if_match(), self.corrupted(body))

    def card_move(self) -> FuzzedRequest:
        """Never a move of the card itself: what follows would end there."""
        card = self.rng.choice(["{suspended}", "{suspended}", "{revoked}", UNKNOWN, "x"])
        move = self.rng.choice(["suspend", "resume", "suspend", "replace" if card != "{suspended}" else "resume"])
        return self._post(f"/cards/{card}/{move}", [("reason", self.mostly(["lost", " lost "], REASONS))])

    def token(self) -> FuzzedRequest:
        now = datetime.now(UTC)
        good, odd = ([(now + timedelta(days=day)).isoformat() for day in days] for days in ((1, 399), (-1, 401)))
        body: Body = [("expires_at", self.mostly(good, [*odd, "x", "t" * 65, None]))]
        body = body if self.rng.random() < 0.6 else []
        if self.rng.random() < 0.5:
            return self._post(f"/cards/{self._card()}/token", body)
        cards = [self._card() for _ in range(self.mostly([1, 2, 3], [0]))]
        return self._post("/card-tokens", [("cards", self.mostly([cards], ["x", [1], None])), *body])

    def link(self) -> FuzzedRequest:
        body: Body = [("replace", self.mostly([True, False], ["true", 1, None]))] if self.rng.random() < 0.6 else []
        return self._post(f"/cards/{self._card()}/link", body)

    def ticket_move(self) -> FuzzedRequest:
        """Only the other ticket is cancelled."""
        ticket = self.mostly(["{ticket}", "{other_ticket}"], [UNKNOWN, "x"])
        if self.rng.random() < 0.3:
            reason = self.mostly(["refund"], REASONS) if ticket != "{ticket}" else ""
            return self._post(f"/tickets/{ticket}/cancel", [("reason", reason)])
        whom: Body = [("card_id", self._card())] if self.rng.random() < 0.4 else [("holder", self._holder())]
        whom += [("holder", self._holder())] if self.rng.random() < 0.1 else []
        return self._post(f"/tickets/{ticket}/transfer", whom)

    def _details(self) -> Body:
        times = ["1990-01-01T00:00:00Z", "2041-01-01T00:00:00Z", "x", "", "2040-05-01T18:00:00", None]
        covers = ["http://example.com", "https://a b", "https://", "https://example.com/" + "a" * 2000]
        return [
            ("title", self.mostly(["Night", "Day"], [" ", "t" * 201, "a\u202eb", ""])),
            ("starts_at", self.mostly(["2040-05-01T18:00:00Z", "2040-05-01T18:00:00.25+02:00"], times)),
            ("ends_at", self.mostly(["2040-05-02T18:00:00Z", "2040-05-02T18:00:00.5-02:00"], times)),
            ("time_zone", self.mostly(["UTC", "Europe/Brussels"], ["Brussels", "localtime", "", None])),
            ("description", self.mostly(["d", None], ["d" * 10_001, "a\u0001b"])),
            ("venue", self.mostly(["Hall", None], ["v" * 201, 5])),
            ("city", self.rng.choice(["Brussels", None])),
            ("country", self.mostly(["BE", None], ["XX", "be", "EU", ""])),
            ("cover_url", self.mostly(["https://example.com/a.png", None], covers)),
            ("doors_open_at", self.mostly([None, "2019-05-01T17:00:00Z", "2040-05-01T17:00:00.5+02:00"], times)),
            ("offline", self.mostly(["manifest", "signature", "stop"], ["always", "", None, 1])),
        ]

    def new_event(self) -> FuzzedRequest:
        details = self._details()
        return self._post("/events", details[:3] + self.rng.sample(details[3:], self.rng.randrange(4)))

    def event_change(self) -> FuzzedRequest:
        body = self.rng.sample(self._details(), self.rng.randrange(4))
        return FuzzedRequest("PATCH", f"/events/{self._event()}", (), self._if_match(), self.corrupted(body))

    def event_move(self) -> FuzzedRequest:
        """Never a move of the published event, which the others need."""
        event = self.rng.choice(["{draft}", "{ended}", UNKNOWN, "x"])
        move = self.rng.choice(["publish", "end", "cancel", "reopen"])
        if move == "reopen":
            return self._post(f"/events/{event}/reopen", [("reason", self.rng.choice(REASONS))])
        if move != "cancel":
            return FuzzedRequest("POST", f"/events/{event}/{move}", content=self.rng.choice([b"", b"{}", b"x"]))
        return self._post(
            f"/events/{event}/cancel", [("reason", "" if event == "{draft}" else self.rng.choice(REASONS))]
        )

    def category(self) -> FuzzedRequest:
        fields: Body = [
            ("name", self.mostly(["General", "VIP"], [" ", "n" * 101, "", "a\u0007b"])),
            ("price", self.mostly([25.5, 0, 10, 10.0], [1.005, -1, -0.5, 1e13, "5", None, 10**30])),
            ("currency", self.mostly(["EUR"], ["JPY", "KWD", "XXX", "eur", "E"])),
            ("quantity_total", self.mostly([40, 50], [0, -1, 1.0, 10**8, "5"])),
            ("tier", self.mostly(["vip", "standard"], ["VIP", "", "t" * 33])),
        ]
        times = ["1990-01-01T00:00:00Z", "x", "", "2040-05-01T18:00:00", 7]
        lists = [[""], [" "], ["g" * 65], ["A", "A"], ["a\u202eb"], [1], "A", {"A": 1}, [str(n) for n in range(51)]]
        rules: Body = [
            ("valid_from", self.mostly([None, "2019-05-01T18:00:00Z", "2040-05-01T18:00:00.25+02:00"], times)),
            ("valid_until", self.mostly([None, "2019-05-02T18:00:00Z", "2040-05-02T18:00:00Z"], times)),
            ("gates", self.mostly([None, [], ["North 2"], ["North 2", "\u00e9"]], lists)),
        ]
        if self.rng.random() < 0.4:
            body = fields[: self.mostly([4, 5], [3])] + self.rng.sample(rules, self.rng.choice([0, 0, 1, 3]))
            return self._post(f"/events/{self._event()}/ticket-categories", body)
        fields += rules
        category = self._category()
        if self.rng.random() < 0.2 and category != "{category}":
            return FuzzedRequest("DELETE", f"/ticket-categories/{category}", (), self._if_match())
        body = self.corrupted(self.rng.sample(fields, self.rng.randrange(4)))
        return FuzzedRequest("PATCH", f"/ticket-categories/{category}", (), self._if_match(), body)

    def ticket_list(self) -> FuzzedRequest:
        which = [("event_id", "{event}"), ("card_id", self._card()), ("external_id", "order{unique}")]
        times = ["2020-01-01T00:00:00Z", "2090-01-01T00:00:00+01:00"]
        more = [("state", self.mostly(["issued", "activated", "cancelled"], ["x", ""]))]
        more += [("updated_after", self.mostly(times, ["x", "1900-01-01T00:00:00Z"])), ("external_id", "")]
        query = self.rng.sample(which, 1) + self.rng.sample(more, self.rng.randrange(2))
        return FuzzedRequest("GET", "/tickets", tuple(query + self._paging()))

    def card_list(self) -> FuzzedRequest:
        which = [("email", "ada{unique}@EXAMPLE.com"), ("number", "{card_number}"), ("external_id", "member{unique}")]
        which.append(self.rng.choice([("number", ""), ("email", "x"), ("external_id", "e" * 129)]))
        return FuzzedRequest("GET", "/cards", tuple(self.rng.sample(which, self.rng.choice([1, 2])) + self._paging()))

    def scan_list(self) -> FuzzedRequest:
        which = [("event_id", self._event()), ("ticket_id", "{ticket}"), ("card_id", self._card())]
        query = self.rng.sample(which, self.mostly([1], [2])) + self._paging()
        query += [("after", self.rng.choice(["", "x", "MS4x"]))] if self.rng.random() < 0.1 else []
        return FuzzedRequest("GET", "/scans", tuple(query))

    def single(self) -> FuzzedRequest:
        ticket = self.mostly(["{ticket}", "{other_ticket}"], [UNKNOWN, "x", "batch"])
        paths = [f"/cards/{self._card()}", f"/tickets/{ticket}", f"/events/{self._event()}"]
        seen = {"If-None-Match": self.rng.choice(ETAGS)} if self.rng.random() < 0.3 else {}
        return FuzzedRequest("GET", self.rng.choice(paths), (), seen)

    def wrong_method(self) -> FuzzedRequest:
        paths = ["/cards", "/cards/x", "/cards/x/suspend", "/tickets", "/tickets/x", "/tickets/x/cancel", "/scans"]
        paths += ["/card-tokens", "/events/x/publish", "/ticket-categories/x", "/cards/", "/tickets/x/y", "/events"]
        return FuzzedRequest("PUT", self.rng.choice(paths))

    def _paging(self) -> list[tuple[str, str]]:
        paging = [("limit", self.mostly(["1", "2", "100"], ["0", "x"])), ("cursor", self.rng.choice(["x", "MS4x"]))]
        return self.rng.sample(paging, 1) if self.rng.random() < 0.4 else []

    def _if_match(self) -> dict[str, str]:
        return {"If-Match": self.rng.choice(ETAGS)} if self.rng.random() < 0.2 else {}

    def _post(self, path: str, body: Body) -> FuzzedRequest:
        keys = [f"{self.run}-{number}" for number in range(40)]
        headers = {"Idempotency-Key": self.mostly(keys, ["k" * 256, ""])} if self.rng.random() < 0.4 else {}
        return FuzzedRequest("POST", path, (), headers, self.corrupted(body))
