"""A world with a mail server: a studio that sends, a worker, and the mailboxes that their letters arrive in."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from email import message_from_string
from pathlib import Path
from typing import Final

from tests import factory
from tests.attacks.accounts.visitor import Visitor, World, make_world
from tests.mail_server import MailServer, mail_server, wait_for
from tests.postgres import free_port
from tests.processes import PROGRAM, GatepassProcess, launch_worker, serve

LINK: Final = re.compile(r"https?://[^/\s]+(/studio/(?:welcome|link|address)/[a-z]\.[\w-]+)")


@dataclass
class MailWorld:
    """`before` is the same installation without a mail server: what is made there was made before there was mail."""

    before: World
    server: GatepassProcess
    mail: MailServer

    def visitor(self) -> Visitor:
        return Visitor(self.server)

    @property
    def mallory(self) -> Visitor:
        return self._here(self.before.mallory)

    @property
    def bigco(self) -> Visitor:
        return self._here(self.before.bigco)

    def new_address(self) -> str:
        return self.before.new_address()

    def _here(self, visitor: Visitor) -> Visitor:
        """The same person, on the server with mail."""
        return replace(visitor, server=self.server)

    def letters(self, address: str, subject: str = "") -> list[str]:
        """The texts of the letters that have arrived at this address."""
        found: list[str] = []
        for one in self.mail.taken():
            letter = message_from_string(one["content"])
            if one["to"] == address and subject in str(letter["Subject"]):
                found += [_text(part) for part in letter.walk() if part.get_content_type() == "text/plain"]
        return found

    def links(self, address: str) -> list[str]:
        return [match[1] for text in self.letters(address) if (match := LINK.search(text))]

    def link(self, address: str, *, nth: int = 1) -> str:
        """The path of the nth link that arrives at this address."""
        return wait_for(lambda: self.links(address)[nth - 1 : nth])[0]


def _text(part: object) -> str:
    payload = part.get_payload(decode=True)  # type: ignore[attr-defined]
    assert isinstance(payload, bytes)
    return payload.decode()


@contextmanager
def mail_world(database_url: str, key: str, folder: Path) -> Generator[MailWorld]:
    env = {
        **factory.environment(database_url),
        "GATEPASS_ENCRYPTION_KEYS": key,
        "GATEPASS_METRICS_PORT": "0",
        "GATEPASS_LOG_LEVEL": "info",
        "GATEPASS_TRUSTED_PROXIES": "127.0.0.1",
    }
    with mail_server(folder) as mail:
        silent = serve(env, free_port())
        port = free_port()
        mailing = {**env, **mail.environment(), "GATEPASS_PUBLIC_URL": f"http://127.0.0.1:{port}"}
        server = serve(mailing, port)
        worker = launch_worker(mailing)
        try:
            yield MailWorld(make_world(silent, [PROGRAM], env), server, mail)
        finally:
            for process in (worker, server, silent):
                process.stop()
