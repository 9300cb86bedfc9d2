"""The wheel: its contents, its dependencies, and its import time."""

import json
import tarfile
import zipfile

import pytest

import gatepass_sdk
from tests.sdk.installed import Installed

# httpx2 and its own dependencies. The SDK may bring no other package.
DEPENDENCIES = {"anyio", "certifi", "h11", "httpcore2", "httpx2", "idna", "sniffio", "truststore", "typing_extensions"}
# Of the time that httpx2 takes to be imported, in the same minute.
MOST_OF_HTTPX2 = 1.25


def test_the_wheel_has_the_package_its_licence_and_nothing_else(installed: Installed) -> None:
    names = set(zipfile.ZipFile(installed.wheel).namelist())
    notes = f"gatepass_sdk-{gatepass_sdk.__version__}.dist-info"
    assert {"gatepass_sdk/py.typed", f"{notes}/licenses/LICENSE", f"{notes}/METADATA"} <= names
    assert {name.split("/")[0] for name in names} == {"gatepass_sdk", notes}
    assert all(name.endswith((".py", "py.typed")) for name in names if name.startswith("gatepass_sdk/"))


def test_the_sdist_has_what_the_wheel_is_built_of(installed: Installed) -> None:
    with tarfile.open(installed.sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    assert {name.split("/")[0] for name in names} == {
        ".gitignore",
        "LICENSE",
        "PKG-INFO",
        "README.md",
        "gatepass_sdk",
        "pyproject.toml",
    }


def test_httpx2_is_all_that_comes_with_it(installed: Installed) -> None:
    found = json.loads(installed.run("-c", DISTRIBUTIONS))
    # idna comes with httpx2.
    assert found.pop("gatepass_sdk") == [gatepass_sdk.__version__, ["httpx2>=2.16", "idna>=3.18"]]
    assert "httpx2" in found
    assert found.keys() <= DEPENDENCIES


DISTRIBUTIONS = """
import json
from importlib.metadata import distributions
print(json.dumps({
    one.name.replace("-", "_"): [one.version, [need for need in one.requires or [] if "extra ==" not in need]]
    for one in distributions()
}))
"""


def test_all_that_is_exported_is_named(installed: Installed) -> None:
    """And all that is named is exported. Modules of the package are left out."""
    exported = json.loads(installed.run("-c", EXPORTED))
    assert exported == sorted(gatepass_sdk.__all__)


EXPORTED = """
import json, gatepass_sdk, types
from gatepass_sdk import *
names = [name for name, value in vars(gatepass_sdk).items() if not isinstance(value, types.ModuleType)]
print(json.dumps(sorted([name for name in names if not name.startswith("_")] + ["__version__"])))
"""


@pytest.mark.parametrize("code", ["import gatepass_sdk", "from gatepass_sdk.webhooks import unwrap"])
def test_httpx2_is_not_imported_before_there_is_a_client(installed: Installed, code: str) -> None:
    assert installed.run("-c", f"{code}\nimport sys\nprint('httpx2' in sys.modules)") == "False\n"


@pytest.mark.alone
@pytest.mark.nightly
def test_it_is_imported_about_as_fast_as_httpx2(installed: Installed, capsys: pytest.CaptureFixture[str]) -> None:
    codes = {"gatepass_sdk": "import gatepass_sdk", "httpx2": "import httpx2", "both, and a client": CLIENT}
    took = least_milliseconds(installed, codes)
    with capsys.disabled():
        print("\n\n" + ", ".join(f"import {name}: {least:.0f} ms" for name, least in took.items()))
    assert took["gatepass_sdk"] < MOST_OF_HTTPX2 * took["httpx2"]


CLIENT = "from gatepass_sdk import Gatepass; Gatepass('svc_test_x', base_url='http://127.0.0.1')"


def least_milliseconds(installed: Installed, codes: dict[str, str]) -> dict[str, float]:
    """The shortest of nine fresh processes each, in turn: other work on the machine can only add to it."""
    took: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(9):
        for name, code in codes.items():
            timed = f"import time\nbegan = time.perf_counter()\n{code}\nprint((time.perf_counter() - began) * 1000)"
            took[name].append(float(installed.run("-c", timed)))
    return {name: min(of_it) for name, of_it in took.items()}
