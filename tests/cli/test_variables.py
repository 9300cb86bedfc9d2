"""What is wrong or misspelt among the settings is told at the start, in one line, without its value."""

import re
from collections.abc import Sequence

import pytest

from gatepass.base.encryption import new_key
from gatepass.base.settings import Settings
from gatepass.cli.variables import OF_OTHERS
from tests.cli.command import Command, line_with
from tests.layout.tree import ROOT, tracked
from tests.postgres import free_port

NAME = re.compile(r"(?<![A-Z_])GATEPASS_[A-Z0-9_]*[A-Z0-9](?![A-Z0-9_])")
SETTINGS = {f"GATEPASS_{field.upper()}" for field in Settings.model_fields}
# Written in the repository, and neither a setting nor read by anything.
NO_VARIABLES = {
    "GATEPASS_ALLOW_HTTP": "a test shows that the SDK does not read it",
    "GATEPASS_CONNECTIONS": "a constant of bench/peer.py",
    "GATEPASS_DATABSE_URL": "misspelt, in a test of the documentation",
    "GATEPASS_SERVICE_HOST": "an example in the documentation",
    "GATEPASS_STOPPED": "a constant of a test",
    "GATEPASS_WARMING": "a constant of bench/peer.py",
}
# What Kubernetes sets where `enableServiceLinks` is on and a Service is called gatepass or gatepass-api.
OF_KUBERNETES = {
    "GATEPASS_SERVICE_HOST": "10.0.0.1",
    "GATEPASS_SERVICE_PORT": "80",
    "GATEPASS_SERVICE_PORT_HTTP": "80",
    "GATEPASS_PORT_80_TCP": "tcp://10.0.0.1:80",
    "GATEPASS_API_SERVICE_HOST": "10.0.0.1",
    "GATEPASS_API_PORT": "tcp://10.0.0.1:80",
    "GATEPASS_API_PORT_80_TCP_ADDR": "10.0.0.1",
    "GATEPASS_API_PORT_80_TCP_PROTO": "tcp",
}


@pytest.fixture
def gatepass(gatepass: Command) -> Command:
    return gatepass.having(
        GATEPASS_ENCRYPTION_KEYS=new_key(), GATEPASS_DATABASE_URL=f"postgresql://127.0.0.1:{free_port()}/x"
    )


def refused(gatepass: Command, *command: str, **variables: str) -> list[str]:
    told = gatepass.having(**variables)(*command)
    assert (told.returncode, told.stdout) == (2, "")
    return told.stderr.splitlines()


@pytest.mark.parametrize("command", [["serve"], ["worker"], ["migrate"], ["maintenance"]], ids=" ".join)
def test_a_misspelt_setting_is_refused_with_the_name_that_was_meant(gatepass: Command, command: Sequence[str]) -> None:
    assert refused(gatepass, *command, GATEPASS_DATABASE_CONECTIONS="9") == [
        "GATEPASS_DATABASE_CONECTIONS: there is no such setting. Did you mean GATEPASS_DATABASE_CONNECTIONS?"
    ]


def test_each_unknown_setting_is_told_also_of_the_file(gatepass: Command) -> None:
    (gatepass.folder / ".env").write_text(
        "GATEPASS_METRIC_PORT=hush\nPOSTGRES_PASSWORD=x\nGATEPASS_EMPTY=\ngatepass_log_levle=hush\n"
    )
    assert refused(gatepass, "serve", GATEPASS_WWW="hush") == [
        "GATEPASS_LOG_LEVLE: there is no such setting. Did you mean GATEPASS_LOG_LEVEL?",
        "GATEPASS_METRIC_PORT: there is no such setting. Did you mean GATEPASS_METRICS_PORT?",
        "GATEPASS_WWW: there is no such setting. Remove it; docs/operate/configure.md has all of them.",
    ]


def test_doctor_tells_it_too(gatepass: Command) -> None:
    told = gatepass.having(GATEPASS_PUBLIK_URL="https://x.example")("doctor")
    assert told.returncode != 0
    assert (
        "GATEPASS_PUBLIK_URL: there is no such setting. Did you mean GATEPASS_PUBLIC_URL?" in told.stdout + told.stderr
    )


def test_variables_of_other_programs_are_left_alone(gatepass: Command) -> None:
    others = {**dict.fromkeys(OF_OTHERS, "x"), **OF_KUBERNETES}
    with gatepass.having(**others).started("serve", "--port", "0") as process:
        line_with(process, "listens on")


def test_every_variable_in_the_repository_is_a_setting_or_declared_to_be_of_another_program() -> None:
    own = {"gatepass/cli/variables.py", "tests/cli/test_variables.py"}
    found: set[str] = set()
    for path in tracked(""):
        if str(path) not in own:
            found |= set(NAME.findall((ROOT / path).read_bytes().decode(errors="replace")))
    assert found - SETTINGS - OF_OTHERS == NO_VARIABLES.keys()
    assert OF_OTHERS - found == set()


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PUBLIC_URL", "card.hush.example"),
        ("PUBLIC_URL", "https://hush.example/?a=b"),
        ("PUBLIC_URL", "https://hush.example/api/public/v1"),
        ("PUBLIC_URL", "https://hush.example#x"),
        ("PUBLIC_URL", "https://me:hush@tickets.example"),
        ("PUBLIC_URL", '"https://hush.example"'),
        ("PUBLIC_URL", "https://hush.example:99999"),
        ("PUBLIC_URL", "https://:8000"),
        ("PUBLIC_URL", "https://[hush"),
        ("PUBLIC_URL", "ftp://hush.example"),
        ("VALKEY_URL", "hush"),
        ("VALKEY_URL", "valkey://:hush@host/0"),
        ("VALKEY_URL", "redis://:hush@host:99999/0"),
        ("VALKEY_URL", "redis://:hush@host/zero"),
        ("VALKEY_URL", "redis://:hush@host/0?no_such_option=1"),
        ("VALKEY_URL", "redis://:hush@host/0?socket_timeout=hush"),
        ("TRACES_URL", "http://:4318/hush"),
        ("TRACES_URL", "http://hush:99999/v1/traces"),
        ("SMTP_URL", "smtp://me:hush@mail.example.com:999999"),
        ("SMTP_URL", "smtp://me:hush@:587"),
        ("SMTP_URL", "smtp://hush@mail.example.com"),
        ("APPLE_PUSH_URL", "https://hush:99999"),
        ("DATABASE_URL", "postgresql://me:hush@host:99999/x"),
        ("DATABASE_URL", "postgresql://me:hush@one,two:none/x"),
        ("DATABASE_URL", "postgresql://me:hush@host/x?port=99999"),
        ("DATABASE_URL", "postgresql://me:hush@[::1/x"),
    ],
)
def test_a_url_that_is_none_is_refused_and_not_repeated(gatepass: Command, variable: str, value: str) -> None:
    (line,) = refused(gatepass, "serve", **{"GATEPASS_MAIL_FROM": "cards@example.com", f"GATEPASS_{variable}": value})
    assert line.startswith(f"GATEPASS_{variable}: ")
    assert "hush" not in line


@pytest.mark.parametrize("by", [["--port", "9999"], []], ids=["option", "variable"])
def test_one_port_for_the_api_and_its_metrics_is_refused(gatepass: Command, by: list[str]) -> None:
    ports = {"GATEPASS_METRICS_PORT": "9999"} | ({} if by else {"GATEPASS_PORT": "9999"})
    assert refused(gatepass, "serve", *by, **ports) == [
        "GATEPASS_METRICS_PORT: port 9999 is that of the API. Choose another; 0 turns it off."
    ]
