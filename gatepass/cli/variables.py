"""Variables that begin as our settings do and are none: a misspelt setting would be one that nobody notices."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource

from gatepass.base.settings import PREFIX, Settings

# Of other programs of ours, which may have one environment with the service. tests/cli/test_variables.py finds each.
OF_OTHERS: Final = frozenset(
    [
        # the SDKs and gatepass-cli
        "GATEPASS_API_KEY",
        "GATEPASS_BASE_URL",
        "GATEPASS_PROFILE",
        # the tests of this repository, and its tools
        "GATEPASS_BASE",
        "GATEPASS_BROWSER_FULL",
        "GATEPASS_DEMO",
        "GATEPASS_FULL",
        "GATEPASS_FUZZ",
        "GATEPASS_LOOK",
        "GATEPASS_NIGHT",
        "GATEPASS_PICTURES",
        "GATEPASS_RECORD",
        "GATEPASS_SEEDS",
        "GATEPASS_TEST_POSTGRES",
    ]
)
# Kubernetes, and Docker's links, set these in every container for a service whose name begins with ours.
OF_SERVICES: Final = re.compile(
    r"(\w+_)?SERVICE_(HOST|PORT(_\w+)?)|(\w+_)?PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?"
)
ADDRESS_OF_SERVICE: Final = re.compile(r"(tcp|udp|sctp)://")


def unknown() -> Iterator[str]:
    """A line for each variable of the environment or of `.env` that is no setting, though it looks like one."""
    settings = {field.upper() for field in Settings.model_fields}
    read = {**DotEnvSettingsSource(Settings).env_vars, **EnvSettingsSource(Settings).env_vars}
    for name, value in sorted((name.upper(), value or "") for name, value in read.items()):
        setting = name.removeprefix(PREFIX)
        if name == setting or setting in settings or name in OF_OTHERS or _is_of_a_service(setting, value):
            continue
        near = get_close_matches(setting, settings, n=1)
        remedy = f"Did you mean {PREFIX}{near[0]}?" if near else "Remove it; docs/operate/configure.md has all of them."
        yield f"{name}: there is no such setting. {remedy}"


def _is_of_a_service(setting: str, value: str) -> bool:
    return bool(OF_SERVICES.fullmatch(setting)) or (setting.endswith("_PORT") and bool(ADDRESS_OF_SERVICE.match(value)))
