"""The trial scan: a real call to our own API, with a sandbox key made for it.

It goes to the public URL on purpose: if it does not arrive, no caller's would.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import aiohttp

from gatepass.base.database import Database
from gatepass.base.settings import Settings
from gatepass.domain import keys, sandbox
from gatepass.domain.keys import Mode, Scope
from gatepass.studio.services.templates import indented_json

CARD: Final = "TEST_VALID"
KEY_LIVES: Final = timedelta(hours=1)
# A key is not used in its last minutes, so that the commands on the page still work when they are pasted.
SPARE: Final = timedelta(minutes=15)
SECONDS: Final = 5
NAME: Final = "Trial scan of the studio"
LONGEST_ANSWER: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class TrialResult:
    """The request and the response; `problem` if there was no response."""

    request: str
    answer: str
    status: int | None
    curl: str
    python: str
    problem: str | None = None


class TrialKeys:
    """One sandbox key for each person in an organization, for an hour, in memory: no other key's text is stored."""

    def __init__(self) -> None:
        self._kept: dict[tuple[UUID, str], tuple[str, datetime]] = {}

    async def key_of(self, db: Database, organization_id: UUID, *, cell: str, by: str, at: datetime) -> str:
        text, expires_at = self._kept.get((organization_id, by), ("", at))
        if expires_at - at < SPARE:
            text, expires_at = "", at + KEY_LIVES
            async with db.transaction() as tx:
                issued = await keys.issue(
                    tx, organization_id, NAME, Mode.SANDBOX, [Scope.TICKETS_ACTIVATE],
                    cell=cell, by=by, at=at, expires_at=expires_at,
                )  # fmt: skip
            text = issued.text
            self._kept = {kept: value for kept, value in self._kept.items() if value[1] > at}
            self._kept[organization_id, by] = (text, expires_at)
        return text


async def try_scan(settings: Settings, key: str) -> TrialResult:
    url, body = f"{settings.base_url}/scan", {"event_id": str(sandbox.EVENT_ID), "card_number": CARD}
    shown = json.dumps(body, indent=2)
    request = f"POST {url}\nAuthorization: Bearer {key[:12]}…\nContent-Type: application/json\n\n{shown}"
    commands = (_curl(url, key, shown), _python(url, key, body))
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=SECONDS)) as client,
            client.post(url, json=body, headers={"Authorization": f"Bearer {key}"}, allow_redirects=False) as response,
        ):
            text = (await response.content.read(LONGEST_ANSWER)).decode(errors="replace")
            head = f"{response.status} {response.reason}\nx-request-id: {response.headers.get('x-request-id', '')}"
            return TrialResult(request, f"{head}\n\n{indented_json(text)}", response.status, *commands)
    except (aiohttp.ClientError, TimeoutError) as error:
        reason = str(error) or "no answer in five seconds"
        return TrialResult(request, "", None, *commands, problem=f"{settings.base_url} did not answer: {reason}.")


def _curl(url: str, key: str, body: str) -> str:
    return (
        f"curl -X POST {url} \\\n  -H 'Authorization: Bearer {key}' \\\n"
        f"  -H 'Content-Type: application/json' \\\n  -d '{body}'"
    )


def _python(url: str, key: str, body: dict[str, str]) -> str:
    return (
        f"import json, urllib.request\n\n"
        f"request = urllib.request.Request(\n"
        f'    "{url}",\n'
        f"    json.dumps({json.dumps(body)}).encode(),\n"
        f'    {{"Authorization": "Bearer {key}", "Content-Type": "application/json"}},\n'
        f")\n"
        f"print(urllib.request.urlopen(request).read().decode())"
    )
