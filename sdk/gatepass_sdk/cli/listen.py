"""`gatepass-cli listen`: show each webhook as it comes, and hand it to a receiver on this machine.

It reads the feed, so nothing has to be reachable from outside. How far it came is remembered after every message: one
that was not handed over before a crash is handed over after it.
"""

import signal
import sys
import time
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Final, NoReturn

import typer

from gatepass_sdk.cli.arguments import Types, listed, moment
from gatepass_sdk.cli.desk import Desk, at_desk
from gatepass_sdk.cli.feed import Feed, Message, Stretch
from gatepass_sdk.cli.forwarding import Attempt, Forwarder
from gatepass_sdk.cli.memory import Memory
from gatepass_sdk.cli.printing import Printer, note
from gatepass_sdk.cli.profiles import require_url
from gatepass_sdk.cli.trouble import Trouble, sentence
from gatepass_sdk.errors import APIConnectionError, RateLimited, ServerError

# A call a second is far below the rate of any key.
LOOK_EVERY: Final = 1.0
# Before the first cursor.
BEGINNING: Final = ""


@at_desk
def listen(
    desk: Desk,
    *,
    forward_to: Annotated[
        str | None, typer.Option("--forward-to", "-f", metavar="URL", help="Hand each message to this receiver.")
    ] = None,
    types: Types = None,
    after: Annotated[str | None, typer.Option("--after", metavar="CURSOR", help="Begin after this cursor.")] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Begin with what happened then: a time, or 10m.")
    ] = None,
    from_now: Annotated[bool, typer.Option("--from-now", help="Forget where it was; only what comes.")] = False,
) -> None:
    """Show each webhook as it comes, until Ctrl-C. No tunnel, no endpoint.

    It goes on where it was when it was last stopped; the first time it begins now.
    """
    if sum((after is not None, since is not None, from_now)) > 1:
        raise Trouble("Give one of --after, --since and --from-now.")
    if forward_to is not None:
        require_url(forward_to, "--forward-to")
    memory = Memory.of(desk.identity)
    listener = _Listener(desk, memory, listed(types), moment(since, "--since"))
    with _until_told_to_stop(), _forwarding(forward_to, memory.secret) as forwarder:
        if after is not None:
            listener.go_back(after)
        elif since is not None:
            memory.go_on(BEGINNING)
        elif from_now or memory.cursor is None:
            listener.pass_over()
        listener.announce(forward_to)
        listener.run(forwarder)


class _Listener:
    def __init__(self, desk: Desk, memory: Memory, types: list[str] | None, since: datetime | None) -> None:
        self._out = desk.out
        self._identity = desk.identity
        self._feed = Feed(desk)
        self._memory = memory
        self._types = types
        self._since = since

    def go_back(self, cursor: str) -> None:
        """Begin there, unless the service says that it is no cursor: that one must not be remembered."""
        self._asked(cursor)
        self._memory.go_on(cursor)

    def pass_over(self) -> None:
        """Go to the end of the feed: what is there now is not news."""
        cursor, has_more = BEGINNING, True
        while has_more:
            stretch = self._asked(cursor)
            if cursor == BEGINNING and stretch.has_more and sys.stderr.isatty():
                note("Passing over what was before. That may take a while.")
            cursor, has_more = stretch.cursor, stretch.has_more
        self._memory.go_on(cursor)

    def announce(self, forward_to: str | None) -> None:
        """Once this is printed, nothing that happens is missed."""
        known: dict[str, Any] = {"base_url": self._identity.base_url, "mode": self._identity.mode}
        if forward_to is not None:
            known |= {"forward_to": forward_to, "secret": self._memory.secret}
        if self._out.as_json:
            self._out.data({"listening": known})
            return
        self._out.line(f"Listening to {known['base_url']} ({known['mode']}). Ctrl-C ends it.", "strong")
        if forward_to is not None:
            self._out.line(f"Forwarding to {forward_to}, signed with {self._memory.secret}")

    def run(self, forwarder: Forwarder | None) -> NoReturn:
        while True:
            stretch = self._asked(self._memory.cursor or BEGINNING)
            for message in stretch.messages:
                if message.id not in self._memory.done:
                    self._hand_over(message, forwarder)
                    self._memory.tick_off(message.id)
            if stretch.messages:
                self._memory.go_on(stretch.cursor)
            if not stretch.has_more:
                time.sleep(LOOK_EVERY)

    def _asked(self, cursor: str) -> Stretch:
        """What comes next. A service that is away is waited for."""
        while True:
            try:
                return self._feed.after(cursor or None)
            except (APIConnectionError, ServerError, RateLimited) as error:
                note(f"{sentence(error)} Trying again.")
                time.sleep(LOOK_EVERY)

    def _hand_over(self, message: Message, forwarder: Forwarder | None) -> None:
        if not self._is_wanted(message):
            return
        _show(message, self._out)
        for attempt in forwarder.forward(message) if forwarder else ():
            _show_attempt(message, attempt, self._out)

    def _is_wanted(self, message: Message) -> bool:
        if self._types is not None and message.type not in self._types:
            return False
        return self._since is None or datetime.fromisoformat(message.value["created_at"]) >= self._since


def _show(message: Message, out: Printer) -> None:
    if out.as_json:
        out.data({"message": message.value})
        return
    data = message.value.get("data")
    told = " ".join(f"{name}={value}" for name, value in data.items()) if isinstance(data, dict) else ""
    when = str(message.value.get("created_at"))[11:19]
    out.line(f"{when}  {message.type}  {message.id}  {told}", "strong")


def _show_attempt(message: Message, attempt: Attempt, out: Printer) -> None:
    if out.as_json:
        out.data({"forwarded": {"id": message.id, **asdict(attempt), "succeeded": attempt.succeeded}})
        return
    answer = attempt.error or str(attempt.status)
    then = "" if attempt.succeeded else ", given up" if attempt.again_in is None else f", again in {attempt.again_in} s"
    out.line(f"          → {answer} in {attempt.milliseconds} ms{then}", "green" if attempt.succeeded else "red")


@contextmanager
def _forwarding(url: str | None, secret: str) -> Generator[Forwarder | None]:
    if url is None:
        yield None
        return
    with closing(Forwarder(url, secret)) as forwarder:
        yield forwarder


@contextmanager
def _until_told_to_stop() -> Generator[None]:
    """Being told to stop is the normal end of it."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        yield
