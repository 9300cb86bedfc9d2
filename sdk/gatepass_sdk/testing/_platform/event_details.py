"""The details of an event or a category, judged as the service judges them, with its sentences."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from gatepass_sdk.testing._http import invalid
from gatepass_sdk.testing._platform.codes import COUNTRIES, CURRENCIES, DECIMAL_PLACES, time_zones

LONGEST: Final = {"title": 200, "description": 10_000, "venue": 200, "city": 200, "cover_url": 2000}
COVER_URL: Final = re.compile(r"https://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:[/?#][!#$%&'()*+,./0-9:;=?@A-Z\[\]_a-z~-]*)?")
UNWANTED: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
UNKNOWN_ZONE: Final = (
    "We do not know this time zone. Type its largest city, such as Brussels, or its IANA name, Europe/Brussels."
)


def require_details(event: Mapping[str, Any]) -> None:
    for field, sentence in _problems(event):
        raise invalid(sentence, field)


def require_category(category: Mapping[str, Any]) -> None:
    for field, sentence in _category_problems(category):
        raise invalid(sentence, field)


def text_problem(text: str, longest: int) -> str | None:
    if len(text) > longest:
        return f"At most {longest:,} characters."
    return "It holds characters that cannot be kept." if UNWANTED.search(text) else None


def _problems(event: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not event["title"].strip():
        yield "title", "An event has a title."
    for field, longest in LONGEST.items():
        problem = text_problem(event[field] or "", longest)
        if problem:
            yield field, problem
    if event["country"] is not None and event["country"] not in COUNTRIES:
        yield "country", "A country is two capital letters, as in ISO 3166-1."
    if event["time_zone"] not in time_zones():
        yield "time_zone", UNKNOWN_ZONE
    if event["cover_url"] is not None and not COVER_URL.fullmatch(event["cover_url"]):
        yield "cover_url", "A picture's address begins with https:// and has no spaces in it."
    yield from _time_problems(event)


def _time_problems(event: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from _year_problems(event, "starts_at", "ends_at", "doors_open_at")
    if not event["starts_at"] < event["ends_at"]:
        yield "ends_at", "An event starts before it ends."
    if event["doors_open_at"] is not None and not event["doors_open_at"] < event["ends_at"]:
        yield "doors_open_at", "The doors open before the event ends."


def _year_problems(what: Mapping[str, Any], *fields: str) -> Iterator[tuple[str, str]]:
    for field in fields:
        if what[field] is not None and not 1999 <= what[field].year <= 2101:
            yield field, "The year must be from 2000 to 2100."


def _category_problems(category: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not category["name"].strip():
        yield "name", "A category has a name."
    problem = text_problem(category["name"], 100)
    if problem:
        yield "name", problem
    currency, price = category["currency"], Decimal(repr(category["price"]))
    if currency not in CURRENCIES:
        yield "currency", f"{currency} is not an ISO 4217 currency."
    places = DECIMAL_PLACES.get(currency, 2)
    minor = price.scaleb(places)
    if minor != minor.to_integral_value():
        yield "price", f"{currency} has {places} decimal places."
    yield from _year_problems(category, "valid_from", "valid_until")
    since, until = category["valid_from"], category["valid_until"]
    if since is not None and until is not None and since >= until:
        yield "valid_until", "It lies after the time from which they are good."
    problem = _gates_problem(category["gates"] or [])
    if problem:
        yield "gates", problem


def _gates_problem(gates: list[str]) -> str | None:
    if any(not gate.strip() for gate in gates):
        return "A gate has a name."
    if len(set(gates)) < len(gates):
        return "A gate is named twice."
    return next((problem for gate in gates if (problem := text_problem(gate, 64))), None)
