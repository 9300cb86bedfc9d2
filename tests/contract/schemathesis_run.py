"""Schemathesis against a running Gatepass: its configuration, the failures to ignore, and how it is run.

Schemathesis also loads this module, for the hooks at the end; their data comes through the environment.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict, dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final

import schemathesis
from hypothesis import strategies as st
from requests import PreparedRequest
from requests.adapters import HTTPAdapter
from schemathesis import Case, HookContext, Response
from schemathesis.core.failures import AcceptedNegativeData, Failure
from schemathesis.openapi.checks import RejectedPositiveData

from gatepass.base.ids import strict_uuid
from tests.contract.openapi_reader import faults
from tests.size import seed_of_run

# The same cases in each run, but at night; a failure prints the seed.
SEED: Final = seed_of_run(20_310_501)
# About two minutes on two idle cores, several on busy ones.
TIMEOUT: Final = 400
REPORT: Final = ("--report", "json", "--report-json-path")
VARIABLE: Final = "GATEPASS_FUZZ"
ROOT: Final = Path(__file__).parents[2]
# A schema cannot express these: which cursors were given out, public host names and time.
BEYOND_A_SCHEMA: Final = {
    ("invalid_request", "cursor"),
    ("invalid_request", "after"),
    ("invalid_request", "occurred_at"),
    ("invalid_request", "url"),
    ("invalid_request", "since"),
    ("invalid_request", "until"),
    ("invalid_request", "delivery_id"),
}
# Nor these: valid signatures, earlier uses of a key, and what people did before. 409 is never held against an answer.
OF_THE_STATE: Final = frozenset(
    """
    invalid_token idempotency_key_reused event_not_active expired card_suspended card_revoked ticket_cancelled
    already_activated changed_meanwhile
    """.split()
)
# Nor what these say: registers of countries, currencies, time zones and card numbers; categories of characters; and how
# the fields of a request go together. A length, a type or a missing field is none of them.
SENTENCES: Final = re.compile(
    r"""It holds characters that cannot be kept\.|An event has a title\.|A category has a name\.
    |\w+ has 1 to \d+ printable characters\.|reason is empty, or cannot be printed\.
    |holder\.name is empty, or cannot be printed\.|holder\.email is not an e-mail address\.
    |Say why: everybody who holds a ticket will ask\.|number is not a card number; a digit may be mistyped\.
    |A country is two capital letters, as in ISO 3166-1\.|[A-Z]{3} is not an ISO 4217 currency\.
    |[A-Z]{3} has \d decimal places\.|A price in [A-Z]{3} is at most [\d,]+\.|We do not know this time zone\..*
    |A picture's address begins with https:// and has no spaces in it\.
    |The year must be from 2000 to 2100\.|An event starts before it ends\.
    |The doors open before the event ends\.|It lies after the time from which they are good\.
    |A gate has a name\.|updated_after lies before 1970 or after 9998\.
    |expires_at is in the past\.|expires_at is more than 400 days ahead\.
    |[\d,]+ are issued: there cannot be fewer places\.|Some are issued for [A-Z]{3}: the currency stays\.
    |Send at most one of event_id, ticket_id and card_id\.|If-Match has the ETag of an answer\.
    """.replace("\n    ", "").replace("\n", "")
)


@dataclass(frozen=True)
class Real:
    """Ids that exist, so that calls get further than the first check."""

    events: list[str]
    categories: list[str]
    cards: list[str]
    tickets: list[str]
    card_numbers: list[str]
    tokens: list[str]
    cursors: list[str]
    webhooks: list[str]
    deliveries: list[str]
    marks: list[str]
    changeable: list[str]
    spare_categories: list[str]


def run(
    url: str, key: str, real: Real, folder: Path, *, cases: int, description: Path | None = None
) -> tuple[dict[str, Any], str]:
    """Run every phase with every check, by the served description or another one; return the report and the output."""
    config, report = folder / "schemathesis.toml", folder / "report.json"
    config.write_text(CONFIG.format(seed=SEED, key=key, cases=cases, scans=3 * cases, **_dictionaries(real)))
    command = [str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(config), "--no-color", "run"]
    done = subprocess.run(
        [*command, str(description or f"{url}/openapi.json"), "--url", url, *REPORT, str(report)],
        env={**os.environ, "PYTHONPATH": str(ROOT), VARIABLE: json.dumps(asdict(real))},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=TIMEOUT,
    )
    assert report.exists(), done.stdout
    return json.loads(report.read_text()), done.stdout


def _dictionaries(real: Real) -> dict[str, str]:
    return {name: json.dumps(values) for name, values in asdict(real).items()}


CONFIG: Final = """
seed = {seed}
hooks = "tests.contract.schemathesis_run"
continue-on-failure = true
request-timeout = 20.0

[auth.openapi.bearer]
bearer = "{key}"

[generation]
mode = "all"
max-examples = {cases}
database = "none"

[checks]
enabled = true

[dictionaries]
events = {{ values = {events} }}
cards = {{ values = {cards} }}
tickets = {{ values = {tickets} }}
tokens = {{ values = {tokens} }}
cursors = {{ values = {cursors} }}
webhooks = {{ values = {webhooks} }}
deliveries = {{ values = {deliveries} }}
marks = {{ values = {marks} }}
changeable = {{ values = {changeable} }}
spare_categories = {{ values = {spare_categories} }}
idempotency_keys = {{ values = ["retry-1", "retry-2", "retry-3"] }}

[parameters]
"path.id" = {{ dictionary = "events", probability = 0.5 }}
"query.token" = {{ dictionary = "tokens", probability = 0.5 }}
"query.cursor" = {{ dictionary = "cursors", probability = 0.5 }}
"query.after" = {{ dictionary = "marks", probability = 0.5 }}
"header.Idempotency-Key" = {{ dictionary = "idempotency_keys", probability = 0.1 }}

# Scans have the most verdicts.
[[operations]]
include-path = "/scan"
generation = {{ max-examples = {scans} }}

# Not for DELETE: the existing endpoints must stay.
[[operations]]
include-path-regex = "^/webhooks/"
exclude-method = "DELETE"

[operations.parameters]
"path.id" = {{ dictionary = "webhooks", probability = 0.8 }}
"path.delivery_id" = {{ dictionary = "deliveries", probability = 0.5 }}

[[operations]]
include-path-regex = "^/cards/"

[operations.parameters]
"path.id" = {{ dictionary = "cards", probability = 0.8 }}

[[operations]]
include-path-regex = "^/tickets/"

[operations.parameters]
"path.id" = {{ dictionary = "tickets", probability = 0.8 }}

[[operations]]
include-path-regex = "^/webhooks/"
include-method = "DELETE"

[operations.parameters]
"path.id" = {{ dictionary = "events", probability = 0.5 }}

# Not those that are scanned.
[[operations]]
include-path-regex = "^/events/"
exclude-method = "GET"

[operations.parameters]
"path.id" = {{ dictionary = "changeable", probability = 0.7 }}

[[operations]]
include-path-regex = "^/ticket-categories/"

[operations.parameters]
"path.id" = {{ dictionary = "spare_categories", probability = 0.7 }}
"""


# ---- hooks, in the process of schemathesis ---------------------------------------------------------------------

if VARIABLE in os.environ:
    known = Real(**json.loads(os.environ[VARIABLE]))
    addresses = ip_network("10.0.0.0/8").hosts()

    @schemathesis.hook
    def flatmap_body(context: HookContext, body: Any) -> st.SearchStrategy[Any]:
        """Put existing ids into most valid bodies. Leave the invalid ones as they are."""
        if isinstance(body, dict) and "url" in body:
            return _with_another_url(body)
        if isinstance(body, dict) and "category_id" in body:
            return _with_a_category(body)
        if not _is_good(body):
            return st.just(body)
        event = st.sampled_from([body["event_id"], *known.events])
        shown = st.one_of(
            st.builds(lambda number: {"card_number": number}, st.sampled_from(known.card_numbers)),
            st.builds(lambda token: {"token": token}, st.sampled_from(known.tokens)),
        )
        rest = {name: value for name, value in body.items() if name not in ("card_number", "token")}
        asking = st.builds(lambda event, shown: {**rest, "event_id": event, **shown}, event, shown)
        return st.sampled_from([st.just(body), asking, asking, asking]).flatmap(lambda chosen: chosen)

    def come_from_elsewhere(self: HTTPAdapter, request: PreparedRequest, **kwargs: Any) -> None:
        """From one address, 60 failures turn each 401 into 429; with few idempotency keys most answers are replays."""
        request.headers["X-Forwarded-For"] = address = str(next(addresses))
        key = request.headers.get("Idempotency-Key")
        if isinstance(key, str) and 0 < len(key) < 200 and not address.endswith("1"):
            request.headers["Idempotency-Key"] = f"{key} {address}"

    # `requests` calls this to add headers; schemathesis would treat headers of a hook as part of the case.
    HTTPAdapter.add_headers = come_from_elsewhere

    @schemathesis.hook
    def filter_failure(context: HookContext, failure: Failure, case: Case[Any], response: Response) -> bool:
        """A valid request may be refused only for rules that a schema cannot express."""
        body = response.json()
        if isinstance(failure, AcceptedNegativeData) and case.path == "/tickets/batch":
            return all(item["status"] != 400 for item in body["data"])  # the item has its own refusal
        if not isinstance(failure, RejectedPositiveData):
            return True
        # NUL, which JSON can express and PostgreSQL cannot store; and the id of a message, by a link that was guessed.
        if "cannot be stored" in body["error"] or str((case.query or {}).get("event_id")).startswith("evt_"):
            return False
        if "not an RFC 3339 time" in body["error"] or "is not a UUID" in body["error"]:  # a schema can express these
            return True
        if body["code"] in OF_THE_STATE or SENTENCES.fullmatch(body["error"]):
            return False
        return (body["code"], body.get("param")) not in BEYOND_A_SCHEMA


def _with_a_category(body: dict[str, Any]) -> st.SearchStrategy[Any]:
    """A ticket for an event and a category that exist, if the body is valid."""
    if faults({"$ref": "#/components/schemas/TicketRequest"}, body):
        return st.just(body)
    known = Real(**json.loads(os.environ[VARIABLE]))
    real = {**body, "event_id": known.events[0], "category_id": known.categories[0]}
    return st.sampled_from([body, real, real])


def _with_another_url(body: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Replace the URL by a public one, if the rest of the body is valid."""
    schema = "WebhookRequest" if "types" in body else "WebhookChangeRequest"
    if faults({"$ref": f"#/components/schemas/{schema}"}, body):
        return st.just(body)
    public = st.sampled_from(["https://example.com/hook", "https://[2606:4700::1]:8443/?a=b"])
    return st.one_of(st.just(body), public.map(lambda url: {**body, "url": url}))


def _is_good(body: Any) -> bool:
    if not isinstance(body, dict) or not isinstance(body.get("event_id"), str) or not strict_uuid(body["event_id"]):
        return False
    shown = [name for name in ("card_number", "token") if body.get(name) is not None]
    return len(shown) == 1 and isinstance(body[shown[0]], str) and 1 <= len(body[shown[0]]) <= 64
