"""Countries: the codes of ISO 3166-1, whatever else CLDR names."""

import subprocess
import sys

import pytest
from babel.core import Locale

from gatepass.domain.events.countries import NOT_IN_ISO_3166, OUR_NAMES, countries


def test_the_countries_are_those_of_iso_3166() -> None:
    """Babel's data change with its releases. A change is a decision: it fails here first."""
    assert len(countries()) == 249
    assert countries().keys() >= {
        "AQ",
        "AX",
        "BL",
        "BQ",
        "BV",
        "CW",
        "GG",
        "HM",
        "IM",
        "JE",
        "MF",
        "PS",
        "SS",
        "SX",
        "TW",
    }


@pytest.mark.parametrize(
    "code", ["XK", "EU", "UN", "ZZ", "XA", "001", "150", "AN", "CS", "DD", "SU", "YU", "UK", "de", ""]
)
def test_no_other_code_is_one(code: str) -> None:
    assert code not in countries()


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("AX", "Åland Islands"),
        ("BE", "Belgium"),
        ("CD", "Congo, Democratic Republic"),
        ("CZ", "Czechia"),
        ("GB", "United Kingdom"),
        ("HK", "Hong Kong"),
        ("PS", "Palestine"),
        ("TR", "Türkiye"),
        ("TW", "Taiwan"),
        ("US", "United States"),
    ],
)
def test_a_country_has_the_name_that_people_look_for(code: str, name: str) -> None:
    assert countries()[code] == name


def test_every_correction_is_still_needed() -> None:
    names = Locale("en").territories
    assert names.keys() >= NOT_IN_ISO_3166
    assert [code for code, name in OUR_NAMES.items() if names[code] == name] == []


@pytest.mark.processes
@pytest.mark.parametrize(
    "start", ["from gatepass.cli.main import make_app; make_app()", "import gatepass.studio.app"], ids=["cli", "studio"]
)
def test_a_process_starts_without_babel(start: str) -> None:
    _run(f"import sys; {start}; sys.exit(any(name.startswith('babel') for name in sys.modules))")


@pytest.mark.processes
def test_the_api_starts_without_the_data_of_a_language() -> None:
    """It reads the decimal places of currencies, for the example of a price. Names of countries it does not need."""
    _run("import sys, gatepass.api.app; from babel import localedata; sys.exit(bool(localedata._cache))")


def _run(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True)
