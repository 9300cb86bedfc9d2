"""Attempts to read an API key off the network: the SDK and its command line send none in plain text.

The network is a wiretap that `HTTP_PROXY` names: whatever is sent over plain http reaches it, whatever the host.
"""

import json
import ssl
from collections.abc import Generator
from pathlib import Path

import httpx2
import pytest
import trustme

from gatepass.domain.keys import Mode, make_key
from gatepass_sdk import AsyncGatepass, Gatepass
from gatepass_sdk.errors import APIConnectionError, ConfigurationError, GatepassError
from tests.attacks.supply_chain.wiretap import Wiretap, listening
from tests.sdk.cli.terminal import CommandResult, Terminal

pytestmark = pytest.mark.finding(12)

LIVE = make_key(Mode.LIVE, "a")
SANDBOX = make_key(Mode.SANDBOX, "a")
PATH = "/api/public/v1"
NOT_THIS_MACHINE = [
    "http://tickets.example.com",
    "HTTP://tickets.example.com",
    "http://tickets.example.com:443",
    "http://tickets.example.com:8443",
    "http://10.0.0.5",
    "http://[fe80::1]",
    "http://[::ffff:127.0.0.1]",
    "http://[::1%25lo]",
    "http://0.0.0.0",
    "http://127.0.0.1.evil.test",
    "http://localhost.evil.test",
    "http://evil.test.localhost",
    "http://localhost@evil.test",
    "http://127.0.0.1:80@evil.test",
    "http://evil.test\\@127.0.0.1",
    "http://127.0.0.1\\.evil.test",
    "http://127.0.0.1%2eevil.test",
    "http://%6cocalhost",
    "http://localhost.",
    "http://127.0.0.1.",
    "http://2130706433",
    "http://0x7f000001",
    "http://0x7f.1",
    "http://127.1",
    "http://0177.0.0.1",
    "http://\uff11\uff12\uff17.0.0.1",
    "http://\uff4cocalhost",
    "http://localhost\u3002evil.test",
    "http://l\u043ecalhost",
    "http:/tickets.example.com",
    "http:tickets.example.com",
    " http://tickets.example.com",
    "http://tickets.example.com\n",
    "ws://tickets.example.com",
    "//tickets.example.com",
]


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Generator[Wiretap]:
    with listening() as wiretap:
        for name in ("NO_PROXY", "no_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{wiretap.port}")
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{wiretap.port}")
        yield wiretap


@pytest.fixture
def terminal(network: Wiretap, tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, "", None, [LIVE, SANDBOX])


def call(base_url: str, key: str = LIVE, **options: object) -> None:
    with Gatepass(key, base_url=base_url, deadline=1, max_retries=0, **options) as client:  # pyright: ignore[reportArgumentType]
        client.events.list(limit=1).first()


def run(terminal: Terminal, network: Wiretap, *arguments: str, stdin: str = "", **env: str) -> CommandResult:
    proxy = f"http://127.0.0.1:{network.port}"
    return terminal.run(*arguments, stdin=stdin, env={**env, "HTTP_PROXY": proxy, "http_proxy": proxy})


@pytest.mark.parametrize("url", NOT_THIS_MACHINE)
def test_no_key_is_sent_in_plain_text(network: Wiretap, url: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        call(url + PATH)
    assert network.heard == b""
    assert LIVE not in str(refused.value)


def test_a_sandbox_key_is_not_sent_either(network: Wiretap) -> None:
    with pytest.raises(ConfigurationError):
        call("http://tickets.example.com" + PATH, SANDBOX)
    assert network.heard == b""


async def test_the_asynchronous_client_sends_none(network: Wiretap) -> None:
    with pytest.raises(ConfigurationError):
        AsyncGatepass(LIVE, base_url="http://tickets.example.com" + PATH)
    assert network.heard == b""


def test_a_variable_names_no_other_machine(network: Wiretap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEPASS_BASE_URL", "http://tickets.example.com" + PATH)
    monkeypatch.setenv("GATEPASS_API_KEY", LIVE)
    monkeypatch.setenv("GATEPASS_ALLOW_HTTP", "1")
    with pytest.raises(ConfigurationError):
        Gatepass()
    assert network.heard == b""


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_proxy_does_not_hear_what_stays_on_this_machine(network: Wiretap, host: str) -> None:
    with listening() as service:
        with pytest.raises(APIConnectionError):
            call(f"http://{host}:{service.port}{PATH}")
        assert LIVE.encode() in service.heard
    assert network.heard == b""


def test_only_the_option_that_says_so_allows_it(network: Wiretap) -> None:
    """It still goes past the proxy: `.test` resolves nowhere."""
    with pytest.raises(APIConnectionError):
        call("http://tickets.test" + PATH, allow_http=True)
    assert network.heard == b""


@pytest.mark.parametrize("credentials", ["svc:secret@", "svc@"])
def test_no_user_in_the_url_replaces_the_key(network: Wiretap, credentials: str) -> None:
    with pytest.raises(ConfigurationError, match="no user"):
        call(f"https://{credentials}tickets.example.com{PATH}")


def test_the_command_takes_no_such_url_from_an_option(terminal: Terminal, network: Wiretap) -> None:
    options = ("status", "--base-url", "http://tickets.example.com" + PATH)
    done = run(terminal, network, *options, GATEPASS_API_KEY=LIVE)
    assert (done.code, network.heard) == (2, b"")
    assert "in plain text" in done.err


def test_the_command_takes_no_such_url_from_a_variable(terminal: Terminal, network: Wiretap) -> None:
    url = "http://localhost@evil.test" + PATH
    done = run(terminal, network, "listen", GATEPASS_API_KEY=LIVE, GATEPASS_BASE_URL=url)
    assert (done.code, network.heard) == (2, b"")


def test_the_command_takes_no_such_url_from_its_file(terminal: Terminal, network: Wiretap) -> None:
    """An older version has kept it there, or somebody who may write the file."""
    folder = terminal.home / "config" / "gatepass"
    folder.mkdir(parents=True)
    profile = {"api_key": LIVE, "base_url": "http://tickets.example.com" + PATH}
    (folder / "profiles.json").write_text(json.dumps({"default": "old", "profiles": {"old": profile}}))
    done = run(terminal, network, "status")
    assert (done.code, network.heard) == (2, b"")


def test_login_neither_sends_nor_keeps_the_key(terminal: Terminal, network: Wiretap) -> None:
    done = run(terminal, network, "login", "--base-url", "http://tickets.example.com" + PATH, stdin=LIVE + "\n")
    assert (done.code, network.heard) == (2, b"")
    assert not (terminal.home / "config").exists()


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def scan(base_url: str, http: httpx2.Client) -> None:
    with Gatepass(LIVE, base_url=base_url, scan_deadline=2, max_retries=0, http_client=http) as client:
        client.scans.create("11111111-1111-4111-8111-111111111111", token="SVC1.secret.token")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("target", ["http://127.0.0.1:{port}/", "http://localhost:{port}/", "//127.0.0.1:{port}/x"])
def test_no_redirect_carries_the_key_or_the_card_away(status: int, target: str) -> None:
    """Not even with a client of the caller's own that follows redirects."""
    with listening() as elsewhere:
        to = {"Location": target.format(port=elsewhere.port)}
        with listening(status, to) as service, httpx2.Client(follow_redirects=True, trust_env=False) as http:
            with pytest.raises(GatepassError):
                scan(f"http://127.0.0.1:{service.port}", http)
            assert LIVE.encode() in service.heard
        assert elsewhere.heard == b""


@pytest.mark.parametrize("status", [302, 307, 308])
def test_no_redirect_goes_from_https_to_http(authority: trustme.CA, status: int) -> None:
    ours, theirs = ssl.create_default_context(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.configure_trust(ours)
    authority.issue_cert("localhost").configure_cert(theirs)
    with listening() as elsewhere:
        to = {"Location": f"http://localhost:{elsewhere.port}/"}
        with (
            listening(status, to, theirs) as service,
            httpx2.Client(follow_redirects=True, trust_env=False, verify=ours) as http,
        ):
            with pytest.raises(GatepassError):
                scan(f"https://localhost:{service.port}", http)
            assert LIVE.encode() in service.heard
        assert elsewhere.heard == b""
