"""A real SMTP server in a process of its own (aiosmtpd), which behaves as the recipient's address asks.

    greylist-…   451 at the first two tries of an address      refuse-…   550 for the recipient
    spam-…       554 for the content                           full-…     452, always
    drop-…       closes the connection at the first DATA, before it has the letter
    lost-…       takes the first letter and closes the connection without an answer

Every letter that it takes is a line of its file, written before it answers.
"""

import argparse
import asyncio
import json
import os
import re
import ssl
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.postgres import free_port
from tests.processes import wait_until_listening

MESSAGE_ID: Final = re.compile(rb"^Message-ID: (\S+)\r$", re.MULTILINE | re.IGNORECASE)
TRIES: Final = 2
USER: Final = "gatepass"
PASSWORD: Final = "a password"


class Handler:
    """`keep` stores whole letters too."""

    def __init__(self, path: Path, *, keep: bool) -> None:
        self._file = path.open("ab", buffering=0)
        self._keep = keep
        self._tries: Counter[str] = Counter()

    async def handle_RCPT(  # noqa: N802  aiosmtpd's name
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        kind = address.partition("-")[0]
        self._tries[address] += 1
        if kind == "refuse":
            return "550 5.1.1 No such user here"
        if kind == "full":
            return "452 4.2.2 Mailbox full"
        if kind == "greylist" and self._tries[address] <= TRIES:
            return "451 4.7.1 Greylisted, try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        (address,) = envelope.rcpt_tos
        content = envelope.content
        assert isinstance(content, bytes)
        kind = address.partition("-")[0]
        if kind == "spam":
            return "554 5.7.1 This looks like spam"
        if kind == "drop" and self._tries[address] == 1:
            _cut(server)
            return "421 gone"
        self._take(address, content, tls=session.ssl is not None)
        if kind == "lost" and self._tries[address] == 1:
            _cut(server)
        return "250 OK, taken"

    def _take(self, address: str, content: bytes, *, tls: bool) -> None:
        found = MESSAGE_ID.search(content)
        line: dict[str, Any] = {"to": address, "id": found[1].decode() if found else None, "tls": tls}
        if self._keep:
            line["content"] = content.decode("latin-1")
        self._file.write(json.dumps(line).encode() + b"\n")


def _cut(server: SMTP) -> None:
    assert isinstance(server.transport, asyncio.Transport)
    server.transport.abort()


def _authenticate(server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
    good = isinstance(data, LoginPassword) and data.login == USER.encode() and data.password == PASSWORD.encode()
    return AuthResult(success=good, handled=False)


async def serve(port: int, path: Path, certificate: str | None, *, keep: bool, auth: bool) -> None:
    context = None
    if certificate is not None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate)
    handler = Handler(path, keep=keep)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(
            handler, hostname="mail.test", tls_context=context, require_starttls=context is not None,
            authenticator=_authenticate, auth_required=auth, auth_require_tls=context is not None, loop=loop,
        ),
        "127.0.0.1",
        port,
    )  # fmt: skip
    await server.serve_forever()


@dataclass
class MailServer:
    process: "subprocess.Popen[bytes]"
    port: int
    path: Path
    has_tls: bool = False

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}" + ("" if self.has_tls else "?starttls=never")

    def environment(self, connections: int = 4, rate: int = 10_000) -> dict[str, str]:
        """The settings of a worker that sends by this server."""
        return {
            "GATEPASS_SMTP_URL": self.url,
            "GATEPASS_MAIL_FROM": "Gatepass <cards@gatepass.test>",
            "GATEPASS_MAIL_CONNECTIONS": str(connections),
            "GATEPASS_MAIL_DOMAIN_RATE": str(rate),
        }

    def taken(self) -> list[dict[str, Any]]:
        """The letters that it has taken, in their order."""
        return [json.loads(line) for line in self.path.read_bytes().splitlines()]

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(10)


@contextmanager
def mail_server(
    folder: Path, *, certificate: Path | None = None, keep: bool = True, auth: bool = False, port: int | None = None
) -> Generator[MailServer]:
    port = port or free_port()
    path = folder / f"letters-{port}.jsonl"
    path.touch()
    options = ["--certificate", str(certificate)] if certificate else []
    options += ["--keep"] if keep else []
    options += ["--auth"] if auth else []
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "tests.mail_server", str(port), str(path), *options],
        cwd=Path(__file__).parents[1],
        env=os.environ | {"PYTHONPATH": "."},
    )
    server = MailServer(process, port, path, has_tls=certificate is not None)
    try:
        wait_until_listening(process, port)
        yield server
    finally:
        server.stop()


def wait_for(check: Any, within: float = 60.0) -> Any:
    """The first true answer of this function."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        if found := check():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("path", type=Path)
    parser.add_argument("--certificate")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--auth", action="store_true")
    given = parser.parse_args()
    asyncio.run(serve(given.port, given.path, given.certificate, keep=given.keep, auth=given.auth))
