"""The end of a run: what the service has in its tables and reports as incidents, against what happened at the doors."""

from collections import Counter
from dataclasses import dataclass

from tests.gate.simulator.model import ACTIVATED, DUPLICATE
from tests.gate.simulator.records import Incident
from tests.gate.simulator.run import Run
from tests.gate.simulator.violation import expect


@dataclass(frozen=True)
class Figures:
    """What a run amounted to. `offline` are scans that a gate decided by itself."""

    scans: int
    offline: int
    admissions: int
    doubles: int
    incidents: int


async def judge(run: Run, reading_key: str) -> Figures:
    """Raises a Violation if anything differs."""
    await _tickets(run)
    await _journals(run)
    reported = await _incidents(run, reading_key)
    _admissions(run)
    return Figures(
        scans=run.scans,
        offline=sum(doorman.journal.last_sequence() for doorman in run.doormen),
        admissions=len(run.admitted),
        doubles=sum(incident.kind == DUPLICATE for incident in reported),
        incidents=len(reported),
    )


async def _tickets(run: Run) -> None:
    """Each ticket is activated if the model says so, and never twice."""
    world = run.world
    async with world.tenant.db.autocommit() as tx:
        rows = await tx.rows(TICKETS, world.tenant.id, world.event_id)
    wanted = {
        ticket_id: ticket.activated_by is not None
        for card, ids in world.ticket_ids.items()
        for ticket_id, ticket in zip(ids, run.model.cards[card].tickets, strict=True)
    }
    expect("the tickets that are used", wanted, {row["id"]: row["is_activated"] for row in rows})
    twice = [row["id"] for row in rows if row["activations"] > 1]
    expect("tickets that were activated twice", [], twice)


async def _journals(run: Run) -> None:
    """The service has each entry that a gate has sent, with the decision of the gate."""
    world = run.world
    async with world.tenant.db.autocommit() as tx:
        rows = await tx.rows(ENTRIES, world.tenant.id, world.event_id)
    sent = {
        (doorman.device.id, sequence): entry.admitted
        for doorman in run.doormen
        for sequence, entry in doorman.acknowledged.items()
    }
    expect("the journals", sent, {(row["device_id"], row["sequence"]): row["admitted"] for row in rows})


async def _incidents(run: Run, reading_key: str) -> list[Incident]:
    """Those of the API are those of the model, and a second admission names the first."""
    found = await run.calls.incidents(reading_key, run.world.event_id)
    cards = {number: card for card, number in run.world.numbers.items()}
    devices = {str(doorman.device.id): doorman.n for doorman in run.doormen}
    unnamed = [one for one in found if one["kind"] == DUPLICATE and one["first"] is None]
    expect("second admissions without a first", [], unnamed)
    reported = [Incident(one["kind"], cards.get(one["card_number"]), devices.get(one["device_id"])) for one in found]
    wanted = Counter(Incident(one.kind, one.card, one.device) for one in run.model.incidents)
    expect("the incidents", {}, dict(wanted - Counter(reported)))
    expect("incidents that did not happen", {}, dict(Counter(reported) - wanted))
    return reported


def _admissions(run: Run) -> None:
    """Nobody who was let in is forgotten, and a ticket has as many second admissions as came in after the first."""
    heard = {key for card in run.model.cards.values() for ticket in card.tickets for key in ticket.admissions}
    recorded = {entry.idempotency_key for doorman in run.doormen for entry in doorman.acknowledged.values()}
    lost_with_device = {entry.idempotency_key for doorman in run.doormen for entry in doorman.waiting()}
    expect("admissions that were lost", set(), run.admitted - heard - recorded - lost_with_device)
    expect(
        "journals that were not uploaded",
        [],
        [doorman.n for doorman in run.doormen if doorman.synchronizes and doorman.waiting()],
    )
    doubles = Counter(one.card for one in run.model.incidents if one.kind == DUPLICATE)
    for number, card in run.model.cards.items():
        wanted = sum(max(0, len(set(ticket.admissions)) - 1) for ticket in card.tickets)
        expect(f"the second admissions of card {number}", wanted, doubles[number])


TICKETS = f"""
    SELECT t.id, t.activated_at IS NOT NULL AS is_activated,
           (SELECT count(*)
              FROM scan s
             WHERE s.organization_id = t.organization_id
               AND s.ticket_id = t.id
               AND s.verdict = '{ACTIVATED}') AS activations
      FROM ticket t
     WHERE t.organization_id = $1
       AND t.event_id = $2
"""

ENTRIES = """
    SELECT device_id, sequence, admitted
      FROM journal_entry
     WHERE organization_id = $1
       AND event_id = $2
"""
