"""Attack: a name, a title or an address that forges headers, recipients or parts of a letter."""

import re
from email import message_from_bytes, policy
from typing import Final

import pytest

from gatepass.base.ids import new_id
from gatepass.base.language import Language
from gatepass.domain.mail import AddressNotSendable, LetterKind, rendered
from gatepass.domain.mail.message import Sender, as_content, header
from tests import factory

HEADERS: Final = [
    "From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Auto-Submitted", "X-Auto-Response-Suppress",
    "Content-Type",
]  # fmt: skip
HOSTILE: Final = [
    "x\r\nBcc: eve@example.com", "x\nTo: eve@example.com", "x\r\n\r\n<h1>other</h1>", "x\x00y", "x\u2028Bcc: e@e.e",
    "x\r\n--=_gatepass\r\nContent-Type: text/html\r\n\r\nx", "=_gatepass" * 20, "." * 100, "\r\n.\r\nMAIL FROM:<e@e.e>",
    "=?utf-8?q?x=0D=0ABcc:_eve@example.com?=", "x\x85Bcc: e@e.e", "a" * 1_500, "ü" * 500, "\ud800x",
]  # fmt: skip
SENDER: Final = Sender("Gatepass <cards@gatepass.test>")


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_value_leaves_its_place(text: str) -> None:
    values: dict[str, str] = dict.fromkeys(("event", "name", "organizer", "when", "where", "number", "link"), text)
    letter = rendered(LetterKind.CARD, Language.FRENCH, values)
    raw = SENDER.message(new_id(), "ada@example.com", letter, at=factory.now())
    found = message_from_bytes(raw, policy=policy.default)
    assert found.keys() == HEADERS
    assert found["To"] == "ada@example.com"
    assert [part.get_content_type() for part in found.walk()] == ["multipart/alternative", "text/plain", "text/html"]
    assert max(map(len, raw.split(b"\r\n"))) < 998
    assert b"\n.\r\n" not in raw
    assert raw.count(b"\n") == raw.count(b"\r\n")
    content = as_content(raw)
    assert content.find(b"\r\n.\r\n") == len(content) - 5
    assert re.sub(rb"(?m)^\.\.", b".", content) == raw + b".\r\n"


@pytest.mark.parametrize("dot", [b"\n.\r\n", b"\r.\r\n", b"\n.\n", b"\r.\r", b"\n.\r", b"\r\r\n.\r\n", b"\r\n\n.\r\n"])
def test_no_line_break_of_another_kind_ends_the_content(dot: bytes) -> None:
    """SMTP smuggling: what one server takes for a text is the end of the letter and a command for the next."""
    with pytest.raises(ValueError, match="CRLF"):
        as_content(b"Subject: x\r\n\r\nx" + dot + b"MAIL FROM:<eve@example.com>\r\n")


@pytest.mark.parametrize(
    ("message", "content"),
    [
        (b"a\r\n", b"a\r\n.\r\n"),
        (b".\r\n", b"..\r\n.\r\n"),
        (b"a\r\n.\r\n.b\r\n..\r\n", b"a\r\n..\r\n..b\r\n...\r\n.\r\n"),
    ],
)
def test_a_dot_that_begins_a_line_is_doubled(message: bytes, content: bytes) -> None:
    assert as_content(message) == content


@pytest.mark.parametrize("text", ["a\r\nb", "a\nb", "a\rb", "a\x00b", "a\x7fb", "a\x85b"])
def test_a_header_with_a_control_character_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="control character"):
        header("Subject", text)


@pytest.mark.parametrize(
    "address", ["a@b.c\r\nRCPT TO:<e@e.e>", "a@b.c> SIZE=1", "<a@b.c>", "a@b.c,e@e.e", "a@b.c\x00"]
)
def test_an_address_that_is_a_command_is_refused_before_it_is_sent(address: str) -> None:
    letter = rendered(LetterKind.PHONE_CODE, Language.ENGLISH, {"code": "1", "organizer": "x"})
    with pytest.raises(AddressNotSendable):
        SENDER.message(new_id(), address, letter, at=factory.now())
