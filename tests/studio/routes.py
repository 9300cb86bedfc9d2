"""Every route of the studio, with the data to call it: real ids, and valid forms.

A section brings its own in `tests/studio/samples/<section>.py`:

    async def ids(tenant: factory.Tenant) -> dict[str, str]    # a real value for each path parameter that it uses
    FORMS = {"POST /studio/{mode}/keys/{key_id}/revoke": {}, …}   # for each route that changes something
    UNAUDITED = {"POST /studio/{mode}/keys/preview"}      # those that change nothing, so without an audit entry
    PARTS, DOWNLOADS = {…}, {…}                           # responses that are not whole pages: parts for htmx, files
    STREAMS = {"GET /studio/{mode}/events/{event_id}/live/stream"}  # responses that do not end by themselves

Where a person can type a text, the samples use XSS, so that every page shows it somewhere.
"""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from fastapi.routing import APIRoute

from gatepass.domain.staff import Permission
from gatepass.studio.app import ROUTERS, SECTIONS
from gatepass.studio.services.templates import ROOT
from gatepass.studio.services.templates import SECTIONS as SECTIONS_ROOT
from tests import factory

# Text that no page may show unescaped.
XSS = "\"'><script>alert(1)</script>{{7*7}}"
RAW = "<script>alert(1)"


@dataclass(frozen=True)
class Walk:
    """One route. `permission` is the one that it needs; `guarded` is false if it needs no session."""

    method: str
    path: str
    permission: Permission | None
    guarded: bool
    confirmed: bool
    queries: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    def url(self, ids: dict[str, str], mode: str = "live") -> str:
        """A page of a section has its organization, one of `ids`, in its address. Its name here leaves that out."""
        path = self.path.replace(ROOT + "/{mode}", SECTIONS_ROOT)
        return path.replace(":path}", "}").format(mode=mode, **ids)

    @property
    def takes_ids(self) -> bool:
        return "{" in self.path.replace("{mode}", "")


@cache
def samples() -> tuple[ModuleType, ...]:
    here = Path(__file__).parent / "samples"
    return tuple(importlib.import_module(f"tests.studio.samples.{path.stem}") for path in sorted(here.glob("*.py")))


async def all_ids(tenant: factory.Tenant) -> dict[str, str]:
    found = {"organization": str(tenant.id)}
    for module in samples():
        found |= await module.ids(tenant)
    return found


def form_of(walk: Walk) -> dict[str, Any]:
    for module in samples():
        if str(walk) in module.FORMS:
            return module.FORMS[str(walk)]
    raise AssertionError(f"No form for {walk}: add one to the samples of its section.")


def named(what: str) -> set[str]:
    return {name for module in samples() for name in getattr(module, what, set())}


def walks() -> list[Walk]:
    return [*_of(ROUTERS, ROOT), *_of(SECTIONS, ROOT + "/{mode}")]


def _of(routers: Any, prefix: str) -> Iterator[Walk]:
    for router in routers:
        for route in router.routes:
            if isinstance(route, APIRoute):
                for method in sorted((route.methods or set()) - {"HEAD"}):
                    yield _walk(route, method, prefix)


def _walk(route: APIRoute, method: str, prefix: str) -> Walk:
    calls = [dependency.call for dependency in route.dependant.dependencies]
    context = next((call for call in calls if hasattr(call, "permission")), None)
    signed_in = context is not None or any(getattr(call, "__name__", "") == "session_of" for call in calls)
    queries = tuple(param.alias for param in route.dependant.query_params)
    return Walk(
        method,
        prefix + route.path,
        getattr(context, "permission", None),
        signed_in,
        getattr(context, "confirmed", False),
        queries,
    )
