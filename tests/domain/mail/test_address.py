"""Only a plain address can be written to."""

import pytest

from gatepass.domain.mail import AddressNotSendable, domain_of, is_sendable, sendable


@pytest.mark.parametrize(
    ("address", "sent_to"),
    [
        ("ada@example.com", "ada@example.com"),
        ("Ada.Love+tickets@Example.COM", "Ada.Love+tickets@example.com"),
        ("o'neill@example.com", "o'neill@example.com"),
        ("ada@bücher.example", "ada@xn--bcher-kva.example"),
        ("ada@faß.example", "ada@xn--fa-hia.example"),
        ("ada@localhost", "ada@localhost"),
        (" ada@example.com ", "ada@example.com"),
        ("ada@\u200bexample.com", "ada@example.com"),
    ],
)
def test_an_address_is_taken(address: str, sent_to: str) -> None:
    assert sendable(address) == sent_to
    assert is_sendable(address)


@pytest.mark.parametrize(
    "address",
    [
        "", "@", "ada", "ada@", "@example.com", "ada@example.com\r\nBcc: eve@example.com", "ada\n@example.com",
        "ada@example.com\x00", "ada@exa mple.com", "a b@example.com", '"a b"@example.com', "<ada@example.com>",
        "ada@example.com,eve@example.com", "ada@eve@example.com", "ada(x)@example.com", "ada@example..com",
        ".ada@example.com",
        "ada@-example.com", "ada@[127.0.0.1]", "adä@example.com", "a" * 65 + "@example.com",
        "ada@" + "a." * 130 + "com", "ada@" + "ü" * 80 + ".com", "ada@example.com\u2028x", "ada@exam\tple.com",
    ],
)  # fmt: skip
def test_what_is_no_plain_address_is_refused(address: str) -> None:
    with pytest.raises(AddressNotSendable):
        sendable(address)
    assert not is_sendable(address)


def test_the_domain_is_compared_in_lower_case() -> None:
    assert domain_of("Ada@Example.com") == "example.com"
