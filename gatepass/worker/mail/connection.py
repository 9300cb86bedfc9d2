"""A connection to the mail server, which sends one letter after another.

SMTP is asked step by step, because what a failure means depends on the step. Before the content has left, the letter
has not arrived. After that, only the server's answer tells: if the connection breaks meanwhile, the letter is doubtful.

Commands are written as they are: aiosmtplib's own verbs parse each address and rewrite each line of the content, which
takes longer than making the letter. `sendable` and `as_content` refuse what could end a command or the content.
"""

import asyncio
import ssl
from enum import StrEnum
from typing import Final, NamedTuple

from aiosmtplib import (
    SMTP,
    SMTPAuthenticationError,
    SMTPException,
    SMTPHeloError,
    SMTPResponse,
    SMTPResponseException,
    SMTPServerDisconnected,
)

from gatepass.base.tls import tls_fault
from gatepass.domain.mail import Encryption, SmtpServer
from gatepass.domain.mail.address import sendable
from gatepass.domain.mail.message import as_content

# Seconds to connect, and for each answer. The last one may take minutes: some servers check the content (RFC 5321).
CONNECT_DEADLINE: Final = 15.0
ANSWER_DEADLINE: Final = 60.0
CONTENT_DEADLINE: Final = 300.0
QUIT_DEADLINE: Final = 2.0
# Answers (RFC 5321): done, done by another server, go on with the content, closing the connection, never.
DONE: Final = 250
FORWARDED: Final = 251
GO_ON: Final = 354
CLOSING: Final = 421
PERMANENT: Final = 500


class ServerAway(Exception):  # noqa: N818  an answer, not an error
    """The mail server cannot be used at all: that says nothing about any letter."""


class Outcome(StrEnum):
    SENT = "sent"
    REFUSED = "refused"
    PUT_OFF = "put_off"
    DROPPED = "dropped"


class Answer(NamedTuple):
    """`doubtful`: the server had the whole letter and has not said whether it takes it."""

    outcome: Outcome
    words: str
    doubtful: bool = False


class Connection:
    def __init__(self, server: SmtpServer, sender: str) -> None:
        self._server = server
        self._sender = sender
        self._mail_from = b"MAIL FROM:<%b>" % sendable(sender).encode("ascii")
        self._smtp: SMTP | None = None

    async def send(self, to: str, message: bytes) -> Answer:
        """Send one letter. Raises ServerAway if there is no connection to be had."""
        smtp = self._smtp or await self._opened()
        self._smtp = smtp
        try:
            return await self._steps(smtp, to, message)
        except (SMTPServerDisconnected, OSError, TimeoutError) as broken:
            self._abandon()
            return Answer(Outcome.DROPPED, _words(broken))

    async def check(self) -> None:
        """Connect, sign in, and ask whether the server takes letters of our sender. Nothing is sent.

        Raises ServerAway with what is wrong.
        """
        smtp = self._smtp = await self._opened()
        try:
            await _command(smtp, self._mail_from, DONE)
            await smtp.rset()
        except SMTPResponseException as refused:
            raise ServerAway(f"it does not take letters from {self._sender}: {_words(refused)}") from refused
        except (SMTPException, OSError, TimeoutError) as broken:
            raise ServerAway(_words(broken)) from broken

    async def close(self) -> None:
        """End politely, but not for long."""
        smtp, self._smtp = self._smtp, None
        if smtp is None:
            return
        try:
            await asyncio.wait_for(smtp.quit(), QUIT_DEADLINE)
        except (SMTPException, OSError, TimeoutError):
            smtp.close()

    async def _steps(self, smtp: SMTP, to: str, message: bytes) -> Answer:
        content = as_content(message)
        rcpt_to = b"RCPT TO:<%b>" % sendable(to).encode("ascii")
        try:
            await _command(smtp, self._mail_from, DONE)
        except SMTPResponseException as refused:
            self._forget(refused)
            if refused.code >= PERMANENT:
                raise ServerAway(f"it does not take letters from {self._sender}: {_words(refused)}") from refused
            return Answer(Outcome.PUT_OFF, _words(refused))
        try:
            await _command(smtp, rcpt_to, DONE, FORWARDED)
            await _command(smtp, b"DATA", GO_ON)
        except SMTPResponseException as refused:
            return await self._refused(smtp, refused)
        try:
            response = await _content(smtp, content)
        except SMTPResponseException as refused:
            return await self._refused(smtp, refused)
        except (SMTPServerDisconnected, OSError, TimeoutError) as broken:
            self._abandon()
            return Answer(Outcome.DROPPED, _words(broken), doubtful=True)
        return Answer(Outcome.SENT, f"{response.code} {response.message}")

    async def _refused(self, smtp: SMTP, refused: SMTPResponseException) -> Answer:
        """Make the connection ready for the next letter."""
        if not self._forget(refused):
            try:
                await smtp.rset()
            except (SMTPException, OSError, TimeoutError):
                self._abandon()
        return Answer(Outcome.REFUSED if refused.code >= PERMANENT else Outcome.PUT_OFF, _words(refused))

    def _forget(self, refused: SMTPResponseException) -> bool:
        """Whether the server is closing the connection, or has lost its place in the conversation."""
        if refused.code == CLOSING or refused.code < 0:
            self._abandon()
            return True
        return False

    def _abandon(self) -> None:
        if self._smtp is not None:
            self._smtp.close()
            self._smtp = None

    async def _opened(self) -> SMTP:
        server = self._server
        smtp = SMTP(
            hostname=server.host,
            port=server.port,
            username=server.user,
            password=server.password,
            use_tls=server.encryption is Encryption.TLS,
            start_tls=server.encryption is Encryption.STARTTLS,
            tls_context=None if server.encryption is Encryption.NEVER else ssl.create_default_context(),
            timeout=ANSWER_DEADLINE,
        )
        try:
            await smtp.connect(timeout=CONNECT_DEADLINE)
            await _greet(smtp)
        except (SMTPException, OSError, TimeoutError) as away:
            smtp.close()
            raise ServerAway(why_away(server, away)) from away
        return smtp


async def _greet(smtp: SMTP) -> None:
    """Before the first command; signing in and STARTTLS do so themselves."""
    if smtp.is_ehlo_or_helo_needed:
        try:
            await smtp.ehlo()
        except SMTPHeloError:
            await smtp.helo()


async def _command(smtp: SMTP, command: bytes, *wanted: int) -> None:
    response = await smtp.execute_command(command)
    if response.code not in wanted:
        raise SMTPResponseException(response.code, response.message)


async def _content(smtp: SMTP, content: bytes) -> SMTPResponse:
    if smtp.protocol is None:
        raise SMTPServerDisconnected("Connection lost")
    smtp.protocol.write(content)
    response = await smtp.protocol.read_response(CONTENT_DEADLINE)
    if response.code != DONE:
        raise SMTPResponseException(response.code, response.message)
    return response


def why_away(server: SmtpServer, error: Exception) -> str:
    """What an operator reads. Neither the user nor the password is in it."""
    if fault := tls_fault(error):
        return fault
    if isinstance(error, SMTPAuthenticationError):
        return f"it does not take the user and the password: {error.code}"
    if isinstance(error, SMTPResponseException):
        return f"it answers {error.code}"
    if "starttls" in str(error).lower():
        return "it does not offer STARTTLS; for a server on this machine add ?starttls=never"
    return f"{server.host}:{server.port} cannot be reached"


def _words(error: Exception) -> str:
    if isinstance(error, SMTPResponseException):
        return f"{error.code} {error.message}"
    return "the connection broke" if isinstance(error, (SMTPServerDisconnected, OSError)) else "no answer in time"
