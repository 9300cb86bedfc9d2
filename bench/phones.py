"""Codes that phones make (SVC2), for the bench: each of a card of its own, and made just before it is shown.

So the API has seen none of the certificates, as at a gate where each guest comes once. All cards have one phone's key:
nothing is remembered of a key.
"""

import time
from itertools import islice
from pathlib import Path

import psycopg
from nacl.signing import SigningKey

from bench.dataset import Dataset
from gatepass.domain.cards import phone_code

PHONE = SigningKey(bytes(range(32)))

# In the order of the table, so that the new rows are as scattered as the plan.
ENROL = """
    UPDATE card c
       SET phone = 0
      FROM bench_card b
     WHERE b.n < %s
       AND c.organization_id = b.organization_id
       AND c.number = b.number
"""


def enrol(url: str, data: Dataset) -> None:
    """From now on every card that has a token also has a phone."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(ENROL, (data.with_tokens,))
        connection.execute("VACUUM ANALYZE card")


def write_codes(data: Dataset, first: int, count: int) -> Path:
    """A plan of these tickets, with a code of this second instead of each token."""
    now, written = int(time.time()), data.plan.with_name("codes.txt")
    with data.plan.open() as plan, written.open("w") as file:
        for line in islice(plan, first, first + count):
            key, event, number, _ = line.split()
            certificate = phone_code.certify(
                number.replace("_", " "), now + 86_400, 0, bytes(PHONE.verify_key), data.signing_keys[key]
            )
            file.write(f"{key} {event} {number} {phone_code.sign(certificate, now, PHONE)}\n")
    return written
