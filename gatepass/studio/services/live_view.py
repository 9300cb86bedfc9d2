"""The figures of a live page as pieces of HTML, rendered once for all viewers who see the same."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

import msgspec

from gatepass.domain import live, twin
from gatepass.domain.live import Minute
from gatepass.domain.tickets.activation import REFUSALS
from gatepass.domain.visibility import masked
from gatepass.studio.services.live_watcher import EventRef, Figures, LiveWatcher
from gatepass.studio.services.templates import Templates, root_of, wall_text

MOST_CATEGORIES: Final = 24
MOST_GATES: Final = 12
# On a projector: as many as can be read from the back of a hall.
MOST_ON_THE_WALL: Final = 5
# Verdicts that no scan is answered with: a device gave them while it had no network.
OTHER_SENTENCES: Final = {"refused_by_device": "A device without a network refused a ticket that was good."}
CHART_WIDTH, CHART_HEIGHT, BAR, GAP = 600, 120, 10, 2


class View(StrEnum):
    """`named` shows card numbers; `masked` is for roles that do not see them; `projector` is for a wall."""

    NAMED = "named"
    MASKED = "masked"
    PROJECTOR = "projector"


PIECES: Final[dict[View, tuple[str, ...]]] = {
    View.NAMED: ("alarms", "incidents", "totals", "chart", "denials", "categories", "gates", "scans", "silent"),
    View.MASKED: ("alarms", "incidents", "totals", "chart", "denials", "categories", "gates", "scans", "silent"),
    View.PROJECTOR: ("wall",),
}


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars as two SVG paths: activated from the base line, denied on top of them."""

    activated: str
    denied: str
    most: int
    last_whole: int
    first_at: datetime
    last_at: datetime

    @classmethod
    def of(cls, hour: list[Minute]) -> "Chart":
        most = max(1, *(one.activated + one.denied for one in hour))
        paths: dict[bool, list[str]] = {True: [], False: []}
        for event_ref, one in enumerate(hour):
            ground = float(CHART_HEIGHT)
            for good, number in ((True, one.activated), (False, one.denied)):
                height = CHART_HEIGHT * number / most
                if number:
                    left = event_ref * BAR + GAP / 2
                    paths[good].append(f"M{left:g} {ground:.1f}v{-height:.1f}h{BAR - GAP}v{height:.1f}z")
                ground -= height
        last = hour[-2]
        return cls(
            "".join(paths[True]), "".join(paths[False]), most, last.activated + last.denied, hour[0].at, hour[-1].at
        )


def facts(event_ref: EventRef, figures: Figures) -> dict[str, Any]:
    """The variables of the templates in live/."""
    tally, now = figures.tally, figures.at
    hour = tally.last_hour(now)
    gates = tally.gates()
    return {
        "figures": figures,
        "event": figures.event,
        "fictional": event_ref.is_fictional,
        "now": now,
        "zone": figures.event.time_zone,
        "activated": tally.total_activated,
        "expected": tally.total_expected,
        "denied": sum(number for _, number in tally.denials()),
        "chart": Chart.of(hour),
        "this_minute": hour[-1].activated + hour[-1].denied,
        "alarms": live.alarms(figures.event, tally, now),
        "silent": live.silent_scanners(tally, now),
        "incidents": figures.incidents,
        "denials": [(code, _sentence(code), number) for code, number in tally.denials()],
        "categories": [(one, tally.activated_of(one.id)) for one in tally.categories[:MOST_CATEGORIES]],
        "more_categories": max(0, len(tally.categories) - MOST_CATEGORIES),
        "gates": gates[:MOST_GATES],
        "busiest": max((activated for _, activated, _ in gates), default=0),
        "more_gates": max(0, len(gates) - MOST_GATES),
        "on_the_wall": MOST_ON_THE_WALL,
        "masked": masked,
        "root": root_of(twin.owner_of(event_ref.organization_id), event_ref.mode),
    }


def _sentence(code: str) -> str:
    refusal = REFUSALS.get(code)
    return refusal.sentence() if refusal else OTHER_SENTENCES.get(code, code)


class LiveView:
    """The pieces of one watcher, rendered at most once per version, and the messages with the pieces that changed."""

    def __init__(self, watcher: LiveWatcher, event_ref: EventRef, templates: Templates) -> None:
        self.watcher = watcher
        self._event_ref, self._templates = event_ref, templates
        self._version = -1
        self._pieces: dict[View, dict[str, str]] = {}
        self._before: dict[View, tuple[int, dict[str, str]]] = {}
        self._messages: dict[tuple[View, bool], bytes] = {}
        self._facts: dict[str, Any] | None = None

    def pieces(self, view: View) -> dict[str, str]:
        self._advance()
        if view not in self._pieces:
            self._pieces[view] = self._render(view)
        return self._pieces[view]

    def message(self, view: View, known: int | None) -> bytes:
        """The message for a viewer who has the version `known`, or none yet."""
        self._advance()
        version, before = self._before.get(view, (None, {}))
        partly = known is not None and known == version
        if (view, partly) not in self._messages:
            self._messages[view, partly] = self._encode(view, before if partly else {})
        return self._messages[view, partly]

    def beat(self) -> bytes:
        return _event("beat", {}, self._id())

    def _advance(self) -> None:
        """Move on to the newest version of the watcher."""
        if self._version == self.watcher.version:
            return
        for view, pieces in self._pieces.items():
            self._before[view] = (self._version, pieces)
        self._version, self._pieces, self._messages, self._facts = self.watcher.version, {}, {}, None

    def _render(self, view: View) -> dict[str, str]:
        figures = self.watcher.figures
        if figures is None:
            return {}
        if self._facts is None:
            self._facts = facts(self._event_ref, figures)
        known = self._facts | {"view": view}
        return {name: self._templates.render(f"live/{name}.html", known) for name in PIECES[view]}

    def _encode(self, view: View, before: dict[str, str]) -> bytes:
        figures, pieces = self.watcher.figures, self.pieces(view)
        if figures is None:
            return _event("trouble", {}, self._id())
        changed = {name: text for name, text in pieces.items() if before.get(name) != text}
        data = {
            "at": wall_text(figures.at, "%H:%M:%S", figures.event.time_zone),
            "settling": figures.settling,
            "pieces": changed,
        }
        return _event("figures", data, self._id())

    def _id(self) -> str:
        return f"{self.watcher.name}-{self.watcher.version}"


def _event(name: str, data: dict[str, Any], id: str) -> bytes:
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (id.encode(), name.encode(), msgspec.json.encode(data))
