"""Every route of an organization in the studio, asked for by one client."""

from typing import Final

import httpx2

from tests.attacks.studio_client import StudioClient
from tests.factory import Tenant
from tests.studio.routes import all_ids, form_of, named, walks

KINDS: Final = ("page", "change", "stream", "download", "part")
SECTIONS: Final = [walk for walk in walks() if "{mode}" in walk.path]


async def ask_every_route(client: StudioClient, tenant: Tenant, kind: str, mode: str) -> dict[str, httpx2.Response]:
    """The answer of each route of this kind."""
    ids = await all_ids(tenant)
    kinds = {"stream": named("STREAMS"), "download": named("DOWNLOADS"), "part": named("PARTS")}
    special = set[str]().union(*kinds.values())
    answers: dict[str, httpx2.Response] = {}
    for walk in SECTIONS:
        is_plain = walk.method == ("GET" if kind == "page" else "POST") and str(walk) not in special
        if str(walk) in kinds[kind] if kind in kinds else is_plain:
            form = form_of(walk) if walk.method != "GET" else None
            answers[str(walk)] = await client.request(walk.method, walk.url(ids, mode), data=form)
    assert answers
    return answers
