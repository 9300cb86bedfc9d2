"""The introduction of the description. Its tables are made from those of the code."""

from typing import Final

from gatepass.api.openapi.operations import NOTES
from gatepass.api.openapi.responses import EVERYWHERE
from gatepass.api.responses import STATUS, VERDICT_STATUSES, MethodNotAllowed, NotFound
from gatepass.base.errors import Refusal
from gatepass.base.wire_constants import LIVE_KEY_PREFIX, SANDBOX_KEY_PREFIX, SHOULD_RETRY_HEADER, TOKEN_PREFIX
from gatepass.domain import sandbox, twin
from gatepass.domain.keys import RATES, Mode, Scope
from gatepass.domain.tickets import ACTIVATED

# `method_not_allowed` and `not_found` belong to no operation.
BESIDE_THE_OPERATIONS: Final[tuple[type[Refusal], ...]] = (NotFound, MethodNotAllowed)


def introduction() -> str:
    return TEXT.format(
        live=LIVE_KEY_PREFIX,
        test=SANDBOX_KEY_PREFIX,
        token=TOKEN_PREFIX,
        retry=SHOULD_RETRY_HEADER,
        event_id=sandbox.EVENT_ID,
        scopes=_scopes(),
        cards=_cards(),
        events=twin.MOST_EVENTS,
        most_cards=f"{twin.MOST_CARDS:,}",
        tickets=f"{twin.MOST_TICKETS:,}",
        codes=_codes(),
        live_rate="{} calls a second with a burst of {}".format(*RATES[Mode.LIVE]),
        sandbox_rate="{} with a burst of {}".format(*RATES[Mode.SANDBOX]),
    )


def reachable() -> list[type[Refusal]]:
    """Every refusal that a caller of the public API can get, by status."""
    own = {type(refusal) for notes in NOTES.values() for refusal in notes.refusals}
    return sorted(own.union(EVERYWHERE, BESIDE_THE_OPERATIONS), key=lambda kind: (STATUS[kind], kind.code))


def _scopes() -> str:
    uses = {scope: ", ".join(notes.summary for notes in NOTES.values() if notes.scope is scope) for scope in Scope}
    uses[Scope.ADMIN] = f"Everything, and alone: {uses[Scope.ADMIN]}"
    return _table("Scope", "Allows", *((f"`{scope}`", uses[scope]) for scope in Scope))


def _cards() -> str:
    rows = ((f"`{name}`", _outcome(given)) for name, given in sandbox.CARDS.items())
    return _table("Card number", "Answer", *rows)


def _outcome(given: sandbox.SandboxVerdict) -> str:
    if given.verdict == ACTIVATED:
        return f"200, category {given.category_name}"
    return f"{VERDICT_STATUSES[Mode.SANDBOX][given.verdict]} `{given.verdict}`"


def _codes() -> str:
    return _table("Answer", "Meaning", *((f"{STATUS[kind]} `{kind.code}`", kind.sentence()) for kind in reachable()))


def _table(*parts: str | tuple[str, ...]) -> str:
    heads = [part for part in parts if isinstance(part, str)]
    rows = [part for part in parts if isinstance(part, tuple)]
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


TEXT: Final = """\
One card, many tickets, each activated exactly once. Look up events, verify cards, and activate tickets at the gate.

# Authentication

Send your organization's API key with every call: `Authorization: Bearer <API_KEY>`. Live keys begin with `{live}`,
sandbox keys with `{test}`. What belongs to another organization is answered with 404. A key has scopes:

{scopes}

# Sandbox

A sandbox key works on a sandbox of your organization's own: make events, cards and tickets, sign tokens, scan, cancel,
and get the webhooks, as with a live key. It holds {events} events, {most_cards} cards and {tickets} tickets. It is
emptied in the studio, and by itself after 30 days without a call. Sandbox and live data never meet.

Beside your events there is a fictional one, `{event_id}`, with eight test cards that always answer the same. Use them
there as `card_number`, or as the token `{token}.<card number>.0.0`.

{cards}

# Errors

An error is `{{"error": "<sentence>", "code": "<code>"}}`, sometimes with `param` or `details`. Switch on `code`: it is
the same in live and sandbox. The header `{retry}` says whether trying again can help, and every answer has an
`x-request-id` to quote when you write to us.

{codes}

With a sandbox key, a scan answers `already_activated`, `expired` and `card_revoked` with status 400.

# Retries

Send a new `Idempotency-Key` with each scan and repeat it with each retry: you get the first answer again, marked
`Idempotent-Replayed: true`, for at least 24 hours. So a scan whose answer was lost is never taken for a second one.

# Rate limits

A live key may make {live_rate}, a sandbox key {sandbox_rate}; scans are counted apart from reads. `RateLimit` and
`RateLimit-Policy` tell where you stand. Beyond it the answer is 429 with `Retry-After`.

# Versions

The path carries the version. Within v1 there will be new fields, codes, message types and optional parameters, and
nothing else: ignore what you do not know.

# Webhooks

Webhooks are HTTPS POSTs, signed with your endpoint's secret, delivered at least once and in order for each ticket.
Create an endpoint, keep its secret, and verify the signature of each message. Answer with any 2xx within 15 seconds;
anything else is tried again for 72 hours. Drop duplicates by the message's `id`. In the sandbox the same messages are
sent, and tried again sixty times faster. What you missed can be replayed, or read from the feed.
"""
