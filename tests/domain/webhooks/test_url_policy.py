"""The URL policy: which URLs and addresses are allowed."""

from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from gatepass.base.errors import InvalidRequest
from gatepass.domain.webhooks.url_policy import is_public, require_allowed

PUBLIC = """
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15
    169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.167.255.255 192.169.0.0
    198.17.255.255 198.20.0.0 203.0.112.255 203.0.114.0 223.255.255.255 2000::1 2001:200::1 2001:4860:4860::8888
    2001:db7:ffff::1 2001:db9::1 2003::1 2606:4700:4700::1111 2a00:1450:4001::1 3ffd::1 3fff:1000::1
""".split()
NOT_PUBLIC = """
    0.0.0.0 0.0.0.1 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255 127.0.0.0
    127.0.0.1 127.0.0.53 127.255.255.255 168.63.129.16 169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255
    172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.8 192.0.0.192 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1
    192.168.0.0 192.168.255.255 192.175.48.1 198.18.0.0 198.19.255.255 198.51.100.1 203.0.113.255 224.0.0.1
    239.255.255.255 240.0.0.0 255.255.255.255 :: ::1 ::7f00:1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:8.8.8.8
    ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::7f00:1 100::1 100:0:0:1::1 1fff::1 2001::7f00:1
    2001:0:53aa:64c::1 2001:2::1 2001:3::1 2001:4:112::1 2001:10::1 2001:20::1 2001:30::1 2001:1ff::1 2001:db8::1
    2002::1 2002:7f00:1:: 2002:808:808::1 2620:4f:8000::1 3ffe::1 3fff::1 3fff:fff::1 2a00:1450::5efe:7f00:1
    2a00:1450::200:5efe:7f00:1 4000::1 5f00::1 fc00::1 fd00:ec2::254 fdff::1 fe80::1 fe80::1%1 febf::1 fec0::1
    feff::1 ff02::1 ff0e::1 2606:4700:4700::1111%1
""".split()


@pytest.mark.parametrize("text", PUBLIC)
def test_a_public_address(text: str) -> None:
    assert is_public(ip_address(text))


@pytest.mark.parametrize("text", NOT_PUBLIC)
def test_an_address_that_is_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


@given(st.ip_addresses())
def test_what_python_takes_for_private_is_not_public(address: IPv4Address | IPv6Address) -> None:
    assert not is_public(address) or address.is_global


@given(st.ip_addresses(v=4), st.sampled_from(["::", "::ffff:0:0", "::ffff:0:0:0", "64:ff9b::", "64:ff9b:1::"]))
def test_no_ipv4_inside_ipv6_is_public(inside: IPv4Address, prefix: str) -> None:
    assert not is_public(IPv6Address(int(IPv6Address(prefix)) + int(inside)))
    assert not is_public(IPv6Address((0x2002 << 112) + (int(inside) << 80)))


ALLOWED = [
    *"""
    https://example.com https://example.com/ https://example.com/hook?x=1&y=a+b%20c https://example.com?x
    https://example.com:443/ https://example.com:8443/hook https://EXAMPLE.com/Hook https://xn--bcher-kva.example/
    https://a-b.c_d.example.co.uk/~x/(y);z=1,2/*'!$@:[] https://1.1.1.1/hook https://[2606:4700:4700::1111]:8443/
    https://1password.example/ https://1.2.3.4.example/ https://localhost.example/ https://not.locals/
    https://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example/
    """.split(),
    "https://example.com/" + "a" * 1980,
]
PRIVATE_ONLY = """
    http://127.0.0.1:39021/hook/9b2f6a0e-6a53-4a0c-8b3e-0d6f1d0c2b11 http://example.com/ https://example.com:444/
    https://example.com:80/ https://localhost/ https://LocalHost/ https://a.localhost:8443/ https://printer.local/
    https://metadata.google.internal/ https://intranet/ https://kubernetes.default.svc.cluster.local/
    https://nas.lan/ https://x.home.arpa/ https://127.0.0.1/ https://10.1.2.3/ https://169.254.169.254/latest/
    https://[::1]/ https://[::ffff:127.0.0.1]/ https://[0:0:0:0:0:ffff:7f00:1]/ https://[fd00::1]/
""".split()
NEVER = [
    *"""
    example.com //example.com/ /hook https: https:// https:///hook https:/example.com ftp://example.com
    file:///etc/passwd gopher://example.com/ javascript:alert(1) HTTPS://example.com/
    https://user:secret@example.com/ https://user@example.com/ https://:@example.com/ https://@example.com/
    https://1.1.1.1@127.0.0.1/ https://example.com#@127.0.0.1/ https://example.com/#fragment https://example.com#
    https://bücher.example/ https://example.com/ü https://①②⑦.⓪.⓪.①/ https://127。0。0。1/ https://ⓛocalhost/
    https://example.com:/ https://example.com:0/ https://example.com:0443/ https://example.com:+443/
    https://example.com:65536/ https://example.com:99999/ https://example.com:443x/ https://2130706433/
    https://0x7f000001/ https://0x7f.1/ https://0X7F.0.0.1/ https://0177.0.0.1/ https://017700000001/ https://127.1/
    https://127.0.1/ https://127.0.0.1./ https://127.000.000.001/ https://127.0.0.0x1/ https://1.2.3.4.5/
    https://256.1.1.1/ https://0/ https://example.0x/ https://1.1.1.01/ https://.example.com/ https://example..com/
    https://example.com./ https://-example.com/ https://example-.com/
    https://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example/ https://[::1/ https://::1/
    https://[::1]x/ https://[fe80::1%25eth0]/ https://[fe80::1%eth0]/ https://[::1%lo]/ https://[1.1.1.1]/
    https://[example.com]/ https://[v1.x]/ https://[]/ https://[:::1]/ https://example.com/% https://example.com/%zz
    https://example.com/%2 https://example.com/<x> https://example.com/" https://example.com/^
    https://example.com/{x} https://example.com/a|b https://exa%6dple.com/ https://example.com%2f@127.0.0.1/
    https://example.com,127.0.0.1/ https://example.com;x/ https://*.example.com/
    """.split(),
    "",
    " ",
    "not a url",
    "https://127.0.0.1\\@example.com/",
    "https://example.com\\@127.0.0.1/",
    "https://example.com\\.evil/",
    "https:\\\\example.com/",
    "https://exa mple.com/",
    "https://example.com/a b",
    "https://example.com/\t",
    "https://example.com/\n",
    "\nhttps://example.com/",
    "https://exam\tple.com/",
    "https://example.com/\r\nx: y",
    "https://example.com/\x00",
    "https://example.com/\x7f",
    "https://example.com:4 43/",
    "https://" + "a." * 127 + "example/",
    "https://" + "a" * 3000,
    "https://example.com/" + "a" * 1981,
]


@pytest.mark.parametrize("url", ALLOWED)
def test_a_public_url_is_allowed(url: str) -> None:
    assert require_allowed(url, allow_private=False) == url
    assert require_allowed(url, allow_private=True) == url


@pytest.mark.parametrize("url", PRIVATE_ONLY)
def test_inside_a_network_only_if_that_is_allowed(url: str) -> None:
    assert require_allowed(url, allow_private=True) == url
    refused(url, allow_private=False)


@pytest.mark.parametrize("url", NEVER)
def test_never_allowed(url: str) -> None:
    refused(url, allow_private=False)
    refused(url, allow_private=True)


def refused(url: str, *, allow_private: bool) -> None:
    with pytest.raises(InvalidRequest) as caught:
        require_allowed(url, allow_private=allow_private)
    assert caught.value.param == "url"
    assert "secret" not in str(caught.value)


PIECES = st.sampled_from(
    "https:// http:// example.com localhost 127.0.0.1 127.1 0x7f.1 [::1] [::ffff:1.1.1.1] @ : / ? # \\ % . - _ a 1 "
    ":443 :8443 %40 %2f 。 ü \t user:pw@ // [ ] 8.8.8.8 xn--a xn--bcher-kva".split(" ")
)


@given(st.lists(PIECES, max_size=8).map("".join) | st.text(max_size=30).map("https://example.com".__add__))
def test_whatever_is_allowed_is_read_alike_by_everyone(url: str) -> None:
    """The HTTP client parses with yarl, others with urllib: no parser may find another host or port than we do."""
    try:
        require_allowed(url, allow_private=True)
    except InvalidRequest:
        return
    ours, theirs = URL(url, encoded=True), urlsplit(url)
    assert ours.raw_host
    assert theirs.hostname == ours.raw_host.lower()
    assert (theirs.port or {"http": 80, "https": 443}[theirs.scheme]) == ours.port
    assert (ours.scheme, ours.raw_user, ours.raw_fragment) == (theirs.scheme, None, "")
    assert URL(url).raw_host == ours.raw_host.lower()
