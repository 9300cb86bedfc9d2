"""Is every activation told once by the outbox, and at least once by webhook and by the feed, in order, and no other?"""

from collections import Counter
from collections.abc import Iterator, Sequence

from gatepass.domain.webhooks import written_id
from tests.ha.journal import Journal
from tests.ha.receiver import Received
from tests.ha.tables import Rows
from tests.ha.violation import Violation


def violations(journal: Journal, rows: Rows, received: Sequence[Received]) -> Iterator[Violation]:
    """`received` may begin before this run: the receiver writes one file."""
    written = [written_id(id) for id in rows.messages]
    expected = {
        written_id(ticket.activated_by): key
        for key, ticket in rows.tables.tickets.items()
        if ticket.activated_by is not None
    }
    copies = Counter(written)
    for id, (_, _, card) in expected.items():
        if copies[id] != 1:
            yield Violation("outbox", f"the activation of {card} has {copies[id]} messages")
    told = list(dict.fromkeys(id for page in journal.pages for id in page.ids))
    in_feed = set(told)
    heard = {one.id for one in received if one.verified}
    for id in expected.keys() & copies.keys():
        if id not in heard:
            yield Violation("missing_webhook", f"{id} was not received; {rows.queued} deliveries wait")
        if id not in in_feed:
            yield Violation("missing_feed", f"{id} is not in the feed")
    for one in received:
        if not one.verified:
            yield Violation("bad_signature", f"{one.id} is not signed by us")
        elif one.id not in copies:
            yield Violation("untrue_message", f"{one.id} was received, and nothing of it is in the database")
    first_page = next((page.ids for page in journal.pages if page.ids), [])
    yield from _feed(told, written, first_page)


def _feed(told: Sequence[str], written: Sequence[str], first_page: Sequence[str]) -> Iterator[Violation]:
    """The feed's messages, each at its first time, are in the order of the transactions.

    Those before the first page were told in an earlier round. A server that does not know the cursor repeats them.
    """
    place = {id: n for n, id in enumerate(written)}
    first = min((place[id] for id in first_page if id in place), default=0)
    last = -1
    for id in told:
        if id not in place:
            yield Violation("untrue_message", f"{id} was in the feed, and is not in the database")
        elif first <= place[id] < last:
            yield Violation("feed_order", f"{id} came after {written[last]}")
        else:
            last = max(last, place[id])
