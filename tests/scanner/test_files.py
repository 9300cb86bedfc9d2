"""The scanner as browsers get it: its page, its files, its service worker, the headers of each."""

import json
import re

import httpx2
import pytest

from gatepass.gate.assets import names
from gatepass.gate.templates import static_url, static_version
from tools import scanner_icons

# What the policy of the page may allow besides the origin itself.
ALLOWED = {"'none'", "'self'", "'wasm-unsafe-eval'"}


def sources(policy: str) -> dict[str, list[str]]:
    return {name: values for name, *values in (part.split() for part in policy.split(";"))}


async def test_the_page_has_a_strict_policy_and_may_use_the_camera(visitor: httpx2.AsyncClient) -> None:
    page = await visitor.get("/gate")
    assert page.status_code == 200
    policy = sources(page.headers["content-security-policy"])
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == ["'none'"]
    assert {value for values in policy.values() for value in values} == ALLOWED
    assert [name for name, values in policy.items() if "'wasm-unsafe-eval'" in values] == ["script-src"]
    assert "camera=(self)" in page.headers["permissions-policy"]
    assert "microphone=()" in page.headers["permissions-policy"]
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-cache"
    assert page.headers["x-robots-tag"].startswith("noindex")
    assert "set-cookie" not in page.headers


async def test_the_page_has_no_inline_script_or_style(visitor: httpx2.AsyncClient) -> None:
    page = (await visitor.get("/gate")).text
    assert not re.search(r"<[^>]+\sstyle=|<style|<script(?! type=\"module\" src=)|\son\w+=", page)


async def test_the_page_names_only_files_that_are_there(visitor: httpx2.AsyncClient) -> None:
    page = (await visitor.get("/gate")).text
    named = set(re.findall(r'"(/gate/static/[^"]+)"', page))
    assert len(named) >= 4
    for url in named | {static_url(name) for name in names()}:
        answer = await visitor.get(url)
        assert (answer.status_code, "immutable" in answer.headers["cache-control"]) == (200, True), url
    assert (await visitor.get(static_url("app.js").replace("/static/", "/static/0"))).status_code == 404
    assert (await visitor.get(static_url("../words.py"))).status_code == 404


async def test_the_service_worker_keeps_every_file_of_one_version(visitor: httpx2.AsyncClient) -> None:
    worker = await visitor.get("/gate/sw.js")
    assert worker.headers["service-worker-allowed"] == "/gate"
    assert worker.headers["cache-control"] == "no-cache"
    found = re.match(r'const VERSION="(\w+)",FILES=(\[.*\]);\n', worker.text)
    assert found is not None
    assert found[1] == static_version()
    kept = json.loads(found[2])
    assert set(kept) == {static_url(name) for name in names()}
    assert {static_url(name) for name in ("page.html", "app.js", "app.css", "words.js")} <= set(kept)
    assert static_url("sw.js") not in kept


async def test_the_kept_page_is_the_page_under_the_same_policy(visitor: httpx2.AsyncClient) -> None:
    page, kept = await visitor.get("/gate"), await visitor.get(static_url("page.html"))
    assert page.text == kept.text
    assert page.headers["content-security-policy"] == kept.headers["content-security-policy"]


async def test_files_are_no_pages(visitor: httpx2.AsyncClient) -> None:
    for name in ("app.js", "app.css", "words.js", "icon.svg"):
        policy = (await visitor.get(static_url(name))).headers["content-security-policy"]
        assert policy == "default-src 'none'; frame-ancestors 'none'", name


async def test_the_app_can_be_installed(visitor: httpx2.AsyncClient) -> None:
    answer = await visitor.get("/gate/app.webmanifest")
    assert answer.headers["content-type"] == "application/manifest+json"
    manifest = answer.json()
    assert manifest["id"] == manifest["start_url"] == manifest["scope"] == "/gate"
    for icon in manifest["icons"]:
        assert (await visitor.get(icon["src"])).headers["content-type"] == icon["type"]


def test_the_icons_are_what_the_tool_draws() -> None:
    drawn = scanner_icons.drawn()
    assert {path.name: path.read_bytes() for path in scanner_icons.FOLDER.glob("*.png")} == drawn


@pytest.mark.parametrize("path", ["/gate/", "/gate/nothing", "/gate/static/", "/gate/pair/A7K29QXR3M", "/"])
async def test_other_paths_are_not_found(visitor: httpx2.AsyncClient, path: str) -> None:
    answer = await visitor.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/plain; charset=utf-8")
    assert "default-src 'none'" in answer.headers["content-security-policy"]


async def test_nothing_can_be_sent_to_it(visitor: httpx2.AsyncClient) -> None:
    assert (await visitor.post("/gate")).status_code == 403
    same = await visitor.post("/gate", headers={"sec-fetch-site": "same-origin"})
    assert (same.status_code, same.headers["allow"]) == (405, "GET, HEAD")


async def test_a_process_of_it_alone_is_ready_without_a_database(visitor: httpx2.AsyncClient) -> None:
    for path in ("/livez", "/readyz", "/healthz"):
        answer = await visitor.get(path)
        assert (answer.status_code, answer.json()["status"]) == (200, "ok")
