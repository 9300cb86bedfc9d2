"""The pages and files of /docs over HTTP; `tests/browser/test_docs.py` opens them in a browser."""

import gzip
import json
import re
from pathlib import Path

import httpx2
import pytest
from pydantic import SecretStr

from gatepass.api.app import ApiState
from gatepass.api.openapi import docs_page, document
from gatepass.base.settings import BASE_PATH, Settings
from gatepass.domain.keys import Mode, make_key
from tools import vendored

Inside = tuple[httpx2.AsyncClient, ApiState]

ROOT = "http://gatepass.test"
VENDORED = Path(docs_page.__file__).parent.parent / "static" / "scalar"


async def test_the_description_needs_no_key_and_may_be_kept(inside: Inside) -> None:
    client, _ = inside
    answer = await client.get("/openapi.json")
    assert answer.json() == json.loads(document.written())
    assert answer.headers["cache-control"] == "public, max-age=300"
    again = await client.get("/openapi.json", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_the_root_redirects_to_the_reference(inside: Inside) -> None:
    client, _ = inside
    for path in ("/", "/docs/"):
        answer = await client.get(ROOT + path)
        assert (answer.status_code, answer.headers["location"]) == (307, "/docs")


async def test_the_page_may_run_only_our_own_scripts(inside: Inside) -> None:
    client, _ = inside
    page = await client.get(f"{ROOT}/docs")
    policy = dict(part.split(" ", 1) for part in page.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == "'self'"
    assert re.findall(r"<script[^>]*>\s*[^<\s]", page.text) == []
    assert f"{BASE_PATH}/openapi.json" in page.text
    for path in re.findall(r'(?:src|href)="(/docs/[^"]+)"', page.text):
        assert (await client.get(ROOT + path)).status_code == 200


async def test_the_page_links_to_the_studio_and_its_help(inside: Inside) -> None:
    client, _ = inside
    page = (await client.get(f"{ROOT}/docs")).text
    assert 'href="/studio"' in page
    assert 'href="/studio/docs"' in page


@pytest.mark.parametrize("accepted", ["gzip", "br, gzip;q=0.5", "*"])
async def test_scalar_is_served_packed_and_kept_for_good(inside: Inside, accepted: str) -> None:
    client, _ = inside
    answer = await client.get(f"{ROOT}/docs/{docs_page.SCALAR}", headers={"Accept-Encoding": accepted})
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == "Accept-Encoding"
    assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize("accepted", ["identity", "br", "gzip;q=0", "gzip;q=0.0, br", "xgzip"])
async def test_a_client_without_gzip_gets_it_plain(inside: Inside, accepted: str) -> None:
    client, _ = inside
    answer = await client.get(f"{ROOT}/docs/{docs_page.SCALAR}", headers={"Accept-Encoding": accepted})
    assert "content-encoding" not in answer.headers
    assert answer.content == gzip.decompress((VENDORED / "standalone.js.gz").read_bytes())


def test_its_address_names_the_version_that_is_vendored() -> None:
    assert [one.version for one in vendored.packages() if one.name == "scalar"] == [docs_page.SCALAR_VERSION]


@pytest.mark.parametrize(
    "path", ["/docs/nothing.js", "/docs/docs.html", "/docs/..%2fopenapi.py", "/docs/scalar/LICENSE"]
)
async def test_an_unknown_asset_is_not_found(inside: Inside, path: str) -> None:
    client, _ = inside
    answer = await client.get(ROOT + path)
    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"


async def test_the_configuration_is_never_kept(inside: Inside) -> None:
    client, _ = inside
    answer = await client.get(f"{ROOT}/docs/config.json")
    assert answer.json()["key"] is None
    assert answer.headers["cache-control"] == "no-store"


def test_only_a_sandbox_key_is_ever_shown() -> None:
    sandbox, live = make_key(Mode.SANDBOX, "a"), make_key(Mode.LIVE, "a")
    assert docs_page.sandbox_key(Settings(docs_key=SecretStr(sandbox))) == sandbox
    for other in (live, "", "anything", sandbox[:-1]):
        assert docs_page.sandbox_key(Settings(docs_key=SecretStr(other))) is None
    assert docs_page.sandbox_key(Settings(docs_key=None)) is None
