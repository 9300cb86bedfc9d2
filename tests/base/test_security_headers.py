"""The origin of the public URL, as browsers write it, and the headers that depend on it."""

import pytest

from gatepass.base.security_headers import origin_of, security_headers


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("https://tickets.example.com", "https://tickets.example.com"),
        ("https://tickets.example.com:443", "https://tickets.example.com"),
        ("http://tickets.example.com:80/", "http://tickets.example.com"),
        ("https://tickets.example.com:80", "https://tickets.example.com:80"),
        ("HTTPS://Tickets.Example.com/path", "https://tickets.example.com"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("https://faß.example", "https://xn--fa-hia.example"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_an_origin_is_written_as_browsers_write_it(url: str, origin: str) -> None:
    assert origin_of(url) == origin


@pytest.mark.parametrize(
    ("url", "strict"), [("https://a.test", True), ("HTTPS://a.test", True), ("http://a.test", False)]
)
def test_tls_is_demanded_where_it_is_there(url: str, strict: bool) -> None:
    assert ("strict-transport-security" in security_headers(url)) is strict
