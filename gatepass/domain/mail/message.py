"""A letter as the bytes that SMTP sends (RFC 5322): headers, plain text and HTML.

The bytes are put together by hand, because that is ten times faster than `EmailMessage`. Only the subject goes through
`email.policy`, which encodes it and refuses line breaks; the same subject stands in a thousand letters and is kept.
Both parts are quoted-printable, where no line can begin with the boundary: an equals sign is written as =3D.
"""

from binascii import b2a_qp
from datetime import datetime
from email.policy import SMTP
from email.utils import format_datetime, parseaddr
from functools import lru_cache
from typing import Final
from uuid import UUID

from gatepass.domain.mail.address import domain_of, sendable
from gatepass.domain.mail.rendering import Rendered
from gatepass.domain.mail.text import FOLDER

BOUNDARY: Final = b"=_gatepass"
HEADERS: Final = (
    b"\r\nMIME-Version: 1.0\r\nAuto-Submitted: auto-generated\r\nX-Auto-Response-Suppress: All\r\n"
    b'Content-Type: multipart/alternative; boundary="' + BOUNDARY + b'"\r\n\r\n'
)
PART: Final = (
    b"--"
    + BOUNDARY
    + b"\r\nContent-Type: text/%s; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
)
END: Final = b"\r\n--" + BOUNDARY + b"--\r\n"


class Sender:
    """Who sends the letters: GATEPASS_MAIL_FROM."""

    def __init__(self, mail_from: str) -> None:
        _, address = parseaddr(mail_from)
        self.address = sendable(address)
        self._domain = domain_of(self.address)
        self._from = header("From", mail_from)

    def message_id(self, letter_id: UUID) -> str:
        """The same for every attempt: whoever gets a letter twice sees that it is one."""
        return f"<{letter_id}@{self._domain}>"

    def message(self, letter_id: UUID, to: str, letter: Rendered, *, at: datetime) -> bytes:
        return b"".join((
            self._from,
            b"To: ", sendable(to).encode("ascii"), b"\r\n",
            header("Subject", letter.subject),
            b"Date: ", _date(at.replace(microsecond=0)),
            b"\r\nMessage-ID: ", self.message_id(letter_id).encode("ascii"),
            HEADERS,
            PART % b"plain", _encoded(letter.text), b"\r\n",
            PART % b"html", _encoded(letter.html),
            END,
        ))  # fmt: skip


def as_content(message: bytes) -> bytes:
    """The message as it follows DATA: a dot that begins a line is doubled, and a lone dot ends it (RFC 5321, 4.5.2).

    A line break that is not CRLF is refused: servers do not agree on whether the dot after it ends the content.
    """
    breaks = message.count(b"\r\n")
    if not breaks == message.count(b"\r") == message.count(b"\n") or not message.endswith(b"\r\n"):
        raise ValueError("a line of the message does not end with CRLF")
    return (b"." if message.startswith(b".") else b"") + message.replace(b"\r\n.", b"\r\n..") + b".\r\n"


@lru_cache(maxsize=1_000)
def header(name: str, text: str) -> bytes:
    """A header, encoded and folded. A line break or another control character is refused.

    Text that looks encoded already (RFC 2047) would be decoded, with line breaks that it may hide. So it is broken up.
    """
    if any(ord(one) < 32 or 127 <= ord(one) < 160 for one in text):
        raise ValueError(f"a control character in the header {name}")
    return SMTP.fold_binary(*SMTP.header_store_parse(name, text.replace("=?", "= ?")))


@lru_cache(maxsize=10)
def _date(at: datetime) -> bytes:
    return format_datetime(at).encode("ascii")


def _encoded(text: str) -> bytes:
    return b"\r\n".join([FRAME.get(line) or _encoded_line(line) for line in text.split("\n")])


def _encoded_line(line: str) -> bytes:
    """The only line breaks in the result are the soft ones."""
    return b2a_qp(line.encode()).replace(b"\n", b"\r\n")


# The lines around the HTML of every letter are three quarters of it. They are encoded once.
FRAME: Final = {line: _encoded_line(line) for line in (FOLDER / "frame.html").read_text().split("\n")}
