"""`gatepass-cli listen`: show each webhook as it comes, and forward it to a receiver on this machine.

It reads the feed, so no port has to be reachable from outside. Its state is stored after every message: a message that
was not forwarded before a crash is forwarded after it.
"""

import sys
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Final, NoReturn

import typer

from gatepass_sdk.cli.arguments import Types, listed, moment
from gatepass_sdk.cli.context import Context, with_context
from gatepass_sdk.cli.errors import CommandError, sentence
from gatepass_sdk.cli.interruption import Interruption, until_interrupted
from gatepass_sdk.cli.listener.feed import Feed, FeedPage, RawMessage
from gatepass_sdk.cli.listener.forwarder import ForwardAttempt, Forwarder
from gatepass_sdk.cli.listener.state import ListenState
from gatepass_sdk.cli.output import Printer, note
from gatepass_sdk.cli.profiles import require_url
from gatepass_sdk.errors import APIConnectionError, RateLimited, ServerError

# One call per second is far below the rate limit of any key.
POLL_SECONDS: Final = 1.0
# The cursor before the first message.
BEGINNING: Final = ""


@with_context
def listen(
    context: Context,
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
        raise CommandError("Give one of --after, --since and --from-now.")
    if forward_to is not None:
        require_url(forward_to, "--forward-to")
    state = ListenState.of(context.identity)
    began = moment(since, "--since")
    with until_interrupted() as interruption, _forwarding(forward_to, state.secret) as forwarder:
        listener = _Listener(context, state, listed(types), began, interruption)
        if after is not None:
            listener.start_after(after)
        elif since is not None:
            state.advance(BEGINNING)
        elif from_now or state.cursor is None:
            listener.skip_to_end()
        listener.announce(forward_to)
        listener.run(forwarder)


class _Listener:
    def __init__(
        self,
        context: Context,
        state: ListenState,
        types: list[str] | None,
        since: datetime | None,
        interruption: Interruption,
    ) -> None:
        self._out = context.out
        self._identity = context.identity
        self._feed = Feed(context)
        self._state = state
        self._types = types
        self._since = since
        self._interruption = interruption

    def start_after(self, cursor: str) -> None:
        """Start after this cursor. It is stored only if the service accepts it."""
        self._next_page(cursor)
        self._state.advance(cursor)

    def skip_to_end(self) -> None:
        """Skip the messages that are in the feed now."""
        cursor, has_more = BEGINNING, True
        while has_more:
            page = self._next_page(cursor)
            if cursor == BEGINNING and page.has_more and sys.stderr.isatty():
                note("Passing over what was before. That may take a while.")
            cursor, has_more = page.cursor, page.has_more
        self._state.advance(cursor)

    def announce(self, forward_to: str | None) -> None:
        """Print that listening begins. Every message after this line is shown."""
        known: dict[str, Any] = {"base_url": self._identity.base_url, "mode": self._identity.mode}
        if forward_to is not None:
            known |= {"forward_to": forward_to, "secret": self._state.secret}
        if self._out.as_json:
            self._out.data({"listening": known})
            return
        self._out.line(f"Listening to {known['base_url']} ({known['mode']}). Ctrl-C ends it.", "strong")
        if forward_to is not None:
            self._out.line(f"Forwarding to {forward_to}, signed with {self._state.secret}")

    def run(self, forwarder: Forwarder | None) -> NoReturn:
        while True:
            page = self._next_page(self._state.cursor or BEGINNING)
            for message in page.messages:
                if message.id not in self._state.done:
                    self._forward(message, forwarder)
                    self._state.mark_done(message.id)
            if page.messages:
                self._state.advance(page.cursor)
            if not page.has_more:
                time.sleep(POLL_SECONDS)

    def _next_page(self, cursor: str) -> FeedPage:
        """The next page of the feed. Waits while the service cannot be reached."""
        while True:
            self._interruption.check()
            try:
                return self._feed.after(cursor or None)
            except (APIConnectionError, ServerError, RateLimited) as error:
                note(f"{sentence(error)} Trying again.")
                time.sleep(POLL_SECONDS)

    def _forward(self, message: RawMessage, forwarder: Forwarder | None) -> None:
        if not self._is_wanted(message):
            return
        _show(message, self._out)
        for attempt in forwarder.forward(message) if forwarder else ():
            _show_attempt(message, attempt, self._out)
            if not attempt.succeeded:
                self._interruption.check()

    def _is_wanted(self, message: RawMessage) -> bool:
        if self._types is not None and message.type not in self._types:
            return False
        return self._since is None or datetime.fromisoformat(message.value["created_at"]) >= self._since


def _show(message: RawMessage, out: Printer) -> None:
    if out.as_json:
        out.data({"message": message.value})
        return
    data = message.value.get("data")
    fields = " ".join(f"{name}={value}" for name, value in data.items()) if isinstance(data, dict) else ""
    when = str(message.value.get("created_at"))[11:19]
    out.line(f"{when}  {message.type}  {message.id}  {fields}", "strong")


def _show_attempt(message: RawMessage, attempt: ForwardAttempt, out: Printer) -> None:
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
