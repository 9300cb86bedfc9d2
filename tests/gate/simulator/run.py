"""One scenario through the real service, step by step; each answer is compared with the model's."""

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, assert_never

from gatepass_sdk._gate.manifest import Manifest
from gatepass_sdk._gate.storage.entry import OF_ITS_TIME
from gatepass_sdk._gate.storage.entry import Entry as JournalEntry
from tests import factory
from tests.gate.simulator.calls import Answer, Calls
from tests.gate.simulator.doorman import Doorman
from tests.gate.simulator.knowledge import Knowledge
from tests.gate.simulator.model import ACTIVATED, Model
from tests.gate.simulator.order import Said, explained
from tests.gate.simulator.records import Entry, Result, Shown
from tests.gate.simulator.scenario import (
    Alteration,
    Arrival,
    Death,
    End,
    Follow,
    Forgery,
    Heartbeat,
    Network,
    NewRules,
    Night,
    Race,
    Retirement,
    Show,
    Step,
    Theft,
    Upload,
)
from tests.gate.simulator.violation import Violation, expect
from tests.gate.simulator.world import World

# Seconds. More than two on a busy machine.
OLDEST_MANIFEST: Final = 10.0


@dataclass
class Run:
    """`admitted` has the keys of the scans whose guest was let in; `now` is the time of the last scan."""

    world: World
    calls: Calls
    model: Model
    doormen: list[Doorman]
    now: int = 0
    scans: int = 0
    admitted: set[str] = field(default_factory=set[str])
    # What there was to know after each step of the last seconds, and when that was.
    moments: deque[tuple[float, Knowledge]] = field(default_factory=deque[tuple[float, Knowledge]])
    # By gate and card: the scan whose answer was lost, while nobody came in for it.
    unanswered: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])

    async def steps(self) -> None:
        for n, step in enumerate(self.world.scenario.steps):
            self._remember()
            try:
                await self._take(step)
            except Violation as found:
                raise Violation(f"step {n}, {step}: {found}") from None

    async def _take(self, step: Step) -> None:  # noqa: C901, PLR0912  one case for each kind of step
        match step:
            case Show():
                await self._show(step)
            case Race():
                await self._race(step)
            case Arrival():
                await self._arrive(self.doormen[step.gate])
            case Heartbeat():
                await self._heartbeat(self.doormen[step.gate])
            case Follow():
                await self._follow(self.doormen[step.gate])
            case Upload():
                await self._upload(step)
            case Forgery():
                await self._forge(step)
            case Alteration():
                await self._alter(step)
            case NewRules():
                await self.world.change_rules(step.category, step.rules)
                self.model.categories[step.category] = step.rules
            case Death():
                self.doormen[step.gate].is_dead = True
            case Theft() | Retirement():
                await self._end_device(step)
            case Night():
                await self.world.forget_answers(self.model.answers)
                self.model.answers.clear()
            case End():
                await self.world.end(step.at)
                self.model.ended_at = step.at
            case _:
                assert_never(step)

    async def _show(self, show: Show) -> None:
        """The gate asks, or decides by itself; then a steward may think otherwise."""
        doorman = self.doormen[show.gate]
        if not doorman.scans:
            return
        self.now, self.scans = show.at, self.scans + 1
        doorman.line.ask = lambda entry: self._asked(doorman, entry)
        doorman.begin(show, Network.OFFLINE if doorman.is_stolen else show.network)
        wanted, is_owed = doorman.expected(show), self._is_owed(doorman, show)
        said = await asyncio.to_thread(doorman.scan, show)
        if not said.online:
            expect("the decision of the gate", wanted, said.verdict)
        elif is_owed:
            expect("the guest whose answer was lost", ACTIVATED, said.verdict)
        if said.admitted:
            self.admitted.add(doorman.let_in(show, is_settled=said.online))
            self.unanswered.pop((doorman.n, show.card), None)
        elif show.is_waved and (waved := doorman.wave(said)):
            self.admitted.add(waved.idempotency_key)
            doorman.let_in(show, is_settled=said.online)
        elif doorman.line.asked and not said.online and said.verdict not in OF_ITS_TIME:
            self.unanswered.setdefault((doorman.n, show.card), doorman.line.asked[-1].idempotency_key)

    def _is_owed(self, doorman: Doorman, show: Show) -> bool:
        """Whether a try of this gate used the ticket, and nobody came in for it: the answer was lost."""
        card, key = self.model.cards.get(show.card), self.unanswered.get((doorman.n, show.card))
        is_settled = key is None or any(one.idempotency_key == key for one in doorman.acknowledged.values())
        return card is not None and not is_settled and card.was_activated_by(key or "")

    async def _asked(self, doorman: Doorman, entry: JournalEntry) -> str:
        answer = await self.calls.scan(doorman.device.key, entry.idempotency_key, entry.body)
        expect("the answer to a scan", self.model.scan(self.shown(entry), doorman.n), answer.verdict)
        return answer.verdict

    async def _race(self, race: Race) -> None:
        """Which one comes first is the service's choice; there must be an order in which the model says the same."""
        shows = [show for show in race.shows if self.doormen[show.gate].is_free_for(show)]
        answered: list[tuple[Doorman, JournalEntry, str]] = []

        async def asked(doorman: Doorman, entry: JournalEntry) -> str:
            answer = await self.calls.scan(doorman.device.key, entry.idempotency_key, entry.body)
            answered.append((doorman, entry, answer.verdict))
            return answer.verdict

        async def scan(show: Show) -> None:
            doorman = self.doormen[show.gate]
            doorman.line.ask = lambda entry: asked(doorman, entry)
            doorman.begin(show, show.network)
            said = await asyncio.to_thread(doorman.scan, show)
            if said.admitted:
                self.admitted.add(doorman.let_in(show, is_settled=True))

        self.scans += len(shows)
        await asyncio.gather(*map(scan, shows))
        while answered:
            fitting = next((one for one in answered if self.model.answer(self.shown(one[1])) == one[2]), None)
            if fitting is None:
                raise Violation(f"no order of these explains them: {[verdict for _, _, verdict in answered]}")
            answered.remove(fitting)
            self.model.scan(self.shown(fitting[1]), fitting[0].n)

    async def _arrive(self, doorman: Doorman) -> None:
        """Nobody hears the answer."""
        if doorman.line.late and doorman.synchronizes and not doorman.is_retired:
            await self._asked(doorman, doorman.line.late.pop(0))

    async def _heartbeat(self, doorman: Doorman) -> None:
        """A device that corrects its clock has it measured again, so that the service knows the present offset."""
        while doorman.synchronizes:
            answer = await self.calls.heartbeat(
                doorman.device.key, doorman.real_time(factory.now()), len(doorman.waiting())
            )
            await self.world.forget_last_seen(doorman.n)
            if not doorman.measured(answer.body["data"]["device"]["clock_offset_ms"]):
                return

    async def _follow(self, doorman: Doorman) -> None:
        if doorman.synchronizes and not doorman.is_retired:
            body = await self.calls.manifest(doorman.device.key, self.world.event_id, doorman.cursor)
            if body is not None:
                doorman.read(body)
            doorman.follow(self._known_in(doorman.manifest), self.now)

    def _remember(self) -> None:
        self.moments.append((time.monotonic(), Knowledge.of(self.model, self.world.scenario.policy)))
        while len(self.moments) > 1 and self.moments[1][0] < time.monotonic() - OLDEST_MANIFEST:
            self.moments.popleft()

    def _known_in(self, manifest: Manifest) -> Knowledge:
        """A manifest is a second old, or two while a transaction is open: it has what was known at such a moment."""
        for _, known in reversed(self.moments):
            if known.is_in(manifest, self.world):
                return known
        raise Violation(f"the manifest has what was true at no moment of the last {OLDEST_MANIFEST:.0f} seconds")

    async def _upload(self, upload: Upload) -> None:
        """Whatever the order in which the service took them, there must be one in which the model says the same."""
        doormen = [self.doormen[gate] for gate in upload.gates if self.doormen[gate].synchronizes]
        said = await asyncio.gather(*(self._sent(doorman, upload) for doorman in doormen))
        found = explained(self.model, said)
        if not isinstance(found, Model):
            entry, result = found
            raise Violation(f"{entry}: no order of the uploads explains that the service says {result}")
        self.model = found

    async def _sent(self, doorman: Doorman, upload: Upload) -> list[Said]:
        """Send the journal of a gate in pieces; what the service said to each entry, in the order of sending."""
        waiting, said = doorman.waiting(), list[Said]()
        pieces = [waiting[n : n + upload.most] for n in range(0, len(waiting), upload.most)]
        for piece in reversed(pieces) if upload.backwards else pieces:
            doorman.journal.uploading(piece, at=doorman.clock.now())
            for is_heard in (False, True) if upload.answer_lost else (True,):
                answer = await self.calls.batch(doorman.device.key, [entry.uploaded for entry in piece])
                expect("the status of an upload", 200, answer.status)
                said += [(self.entry(doorman, one), result) for one, result in zip(piece, results(answer), strict=True)]
                if is_heard:
                    doorman.acknowledge(piece, answer.body["data"]["results"])
                    expect("the gaps in a sequence", doorman.missing, answer.body["data"]["missing"])
        return said

    async def _forge(self, forgery: Forgery) -> None:
        doorman = self.doormen[forgery.gate]
        forged = doorman.forged(self.world.numbers[forgery.card], reuses_sequence=forgery.reuses_sequence)
        if forged is not None and doorman.synchronizes:
            answer = await self.calls.batch(doorman.device.key, [forged])
            wanted = "sequence_reused" if forgery.reuses_sequence else "invalid_signature"
            expect("the result of a forged entry", [Result("rejected", code=wanted)], results(answer))

    async def _alter(self, step: Alteration) -> None:
        if self.model.can(step.change, step.card):
            opened = await self.world.alter(step.change, step.card)
            expect("the incident of letting in", self.model.alter(step.change, step.card), opened)

    async def _end_device(self, step: Theft | Retirement) -> None:
        doorman = self.doormen[step.gate]
        match step:
            case _ if doorman.is_dead:
                return
            case Retirement() if not doorman.is_stolen:
                await self.world.retire(doorman.n)
                doorman.is_retired = True
            case Theft(is_found=False) if not doorman.is_stolen:
                await self.world.revoke(doorman.n)
                doorman.is_stolen = True
            case Theft(is_found=True) if doorman.is_stolen and self.model.ended_at is None:
                doorman.device = await self.world.pair(doorman.n, self.world.time(self.now), doorman.device.seed)
                doorman.is_stolen = False
                self.model.devices[doorman.n].found_at = self.now
            case _:
                return

    def shown(self, entry: JournalEntry, offset_ms: int = 0) -> Shown:
        """What the model judges: the scan at the time that the service takes for it."""
        read = self.world.read(entry.body)
        moment = self.world.since_opening(datetime.fromisoformat(entry.occurred_at)) - offset_ms
        return Shown(entry.idempotency_key, entry.gate, read.card, moment, read.expires)

    def entry(self, doorman: Doorman, entry: JournalEntry) -> Entry:
        assert entry.sequence is not None
        shown = self.shown(entry, doorman.offset_ms)
        return Entry(doorman.n, entry.sequence, shown, bool(entry.admitted), "card_number" in entry.body)


def results(answer: Answer) -> list[Result]:
    """The code of a refusal says no more than the incidents, so that only that of a rejection is compared."""
    return [
        Result(
            one["outcome"],
            frozenset(incident["kind"] for incident in one["incidents"]),
            one["code"] if one["outcome"] == "rejected" else None,
        )
        for one in answer.body["data"]["results"]
    ]
