"""API keys: what there is, and making one. A key is shown once, right after it is made."""

from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.base.database import Tx
from gatepass.domain import changes, keys, sandbox
from gatepass.domain.actors import actors_named
from gatepass.domain.audit import UsedFrom, used_for, used_from
from gatepass.domain.keys import OPENS, PRESETS, PURPOSES, Key, Mode, Shown, opened_by
from gatepass.domain.staff import Permission
from gatepass.studio import showing_once
from gatepass.studio.entrance import may
from gatepass.studio.form import Form
from gatepass.studio.key_form import EXPIRIES, Expiry, Name, NewKey, default_expiry, networks_in
from gatepass.studio.lists import PAGE, place_in, rest_of
from gatepass.studio.visit import UNPROCESSABLE, Visit

router = APIRouter(prefix="/keys")

Reading = Annotated[Visit, may(Permission.KEYS_READ)]
Changing = Annotated[Visit, may(Permission.KEYS_WRITE)]
# Whoever makes a key holds the organization's doors in hand, so they show first that it is them.
Making = Annotated[Visit, may(Permission.KEYS_WRITE, confirmed=True)]

# Where a key is used from is asked of so much of the past.
RECENTLY: Final = timedelta(hours=24)
HARMLESS: Final = ("/events", "/card/keys", "/webhooks")
SHOWN: Final = (
    (Shown.USABLE, "Active"),
    (Shown.UNUSED, "Unused for 90 days"),
    (Shown.ENDED, "Expired or revoked"),
    (Shown.ALL, "All"),
)


@router.get("")
async def listed(visit: Reading) -> Response:
    named = visit.request.query_params.get("show", Shown.USABLE)
    shown = Shown(named) if named in list(Shown) else Shown.USABLE
    after = place_in(visit)
    async with visit.db.reading() as tx:
        found, place = await keys.keys_of(
            tx, visit.organization_id, visit.mode, shown=shown, at=visit.at, after=after, limit=PAGE
        )
        actors = await actors_named(tx, visit.organization_id, [key.created_by for key in found])
    return visit.page(
        "keys/list.html",
        keys=found,
        actors=actors,
        shown=shown,
        choices=SHOWN,
        newest_first=True,
        **rest_of(visit, "keys", place),
    )


@router.get("/new")
async def new(visit: Making) -> Response:
    preset = PRESETS.get(visit.request.query_params.get("preset", ""))
    scopes = sorted(preset.scopes) if preset else []
    form = Form.of(name=preset.name if preset else None, scopes=scopes, expiry=default_expiry(visit.mode))
    return visit.page("keys/new.html", **_new_facts(visit, form))


@router.get("/preview")
async def preview(visit: Changing) -> Response:
    """What a key like this may do, while somebody still chooses."""
    asked = visit.request.query_params
    form = Form({name: asked.getlist(name) for name in ("scopes", "expiry", "networks")})
    return visit.part("keys/preview.html", **_preview_facts(visit, form))


@router.post("")
async def make(visit: Making) -> Response:
    form = await visit.form()
    wanted = form.read(NewKey)
    if wanted is None:
        return visit.page("keys/new.html", status=UNPROCESSABLE, **_new_facts(visit, form))
    async with visit.transaction() as tx:
        issued = await keys.issue(
            tx,
            visit.organization_id,
            wanted.name,
            visit.mode,
            wanted.scopes,
            cell=visit.studio.settings.cell,
            by=visit.by,
            at=visit.at,
            expires_at=wanted.expiry.after(visit.at),
            allowed_networks=networks_in(wanted.networks),
        )
    return show_once(visit, issued)


@router.get("/{key_id}")
async def one(visit: Reading, key_id: UUID) -> Response:
    return await _page_of(visit, key_id)


@router.get("/{key_id}/made")
async def made(visit: Making, key_id: UUID) -> Response:
    """The key itself, once."""
    async with visit.db.reading() as tx:
        key = await keys.find_key(tx, visit.organization_id, visit.mode, key_id)
    secret = showing_once.handed_over(visit, key_id)
    if secret is None:
        return visit.go(f"keys/{key_id}", "The key was shown already. If you have lost it, roll it.")
    base_url = visit.studio.settings.base_url
    response = visit.page(
        "keys/made.html", key=key, secret=secret, base_url=base_url, try_it=_first_call(key, base_url)
    )
    showing_once.take_away(response)
    return response


@router.post("/{key_id}/name")
async def rename(visit: Changing, key_id: UUID) -> Response:
    form = await visit.form()
    wanted = form.read(Name)
    if wanted is None:
        return await _page_of(visit, key_id, form)
    async with visit.transaction() as tx:
        await keys.rename(tx, visit.organization_id, visit.mode, key_id, wanted.name, by=visit.by, at=visit.at)
    return visit.go(f"keys/{key_id}", "The key has a new name.")


async def _page_of(visit: Visit, key_id: UUID, form: Form | None = None) -> Response:
    async with visit.db.reading() as tx:
        key = await keys.find_key(tx, visit.organization_id, visit.mode, key_id)
        history = await changes.of_subject(tx, visit.organization_id, key_id)
        users = await users_of(tx, visit, key)
        used = await used_for(tx, visit.organization_id, key.id, since=visit.at - RECENTLY)
        told = [key.created_by, key.revoked_by, *(change.actor for change in history)]
        actors = await actors_named(tx, visit.organization_id, told)
    facts: dict[str, Any] = {
        "key": as_last_used(key, users),
        "history": history,
        "users": users,
        "actors": actors,
        "opened": opened_by(key.scopes),
        "calls": {(one.method, one.path): one.calls for one in used},
    }
    form, status = (Form.of(name=key.name), 200) if form is None else (form, UNPROCESSABLE)
    return visit.page("keys/one.html", status=status, form=form, **facts)


async def users_of(tx: Tx, visit: Visit, key: Key) -> list[UsedFrom]:
    """Where the key was used from, of late."""
    return await used_from(tx, visit.organization_id, key.id, since=visit.at - RECENTLY)


def as_last_used(key: Key, users: list[UsedFrom]) -> Key:
    """The key's own note of its last use is some seconds late; the log may know better."""
    if not users or (key.last_used_at is not None and key.last_used_at >= users[0].last_at):
        return key
    return replace(key, last_used_at=users[0].last_at, last_used_from=users[0].address)


def show_once(visit: Visit, issued: keys.IssuedKey) -> Response:
    """On to the page that shows a new key."""
    response = visit.go(f"keys/{issued.id}/made")
    showing_once.hand_over(visit, response, issued.id, issued.text)
    return response


def _new_facts(visit: Visit, form: Form) -> dict[str, Any]:
    chosen = visit.request.query_params.get("preset")
    facts = {"presets": PRESETS, "chosen": chosen, "opens": OPENS, "purposes": PURPOSES, "expiries": EXPIRIES}
    return {**facts, **_preview_facts(visit, form)}


def _preview_facts(visit: Visit, form: Form) -> dict[str, Any]:
    expiry = form.value("expiry")
    ends = Expiry(expiry).after(visit.at) if expiry in list(Expiry) else None
    try:
        networks = networks_in(form.value("networks")[:10_000])
    except ValueError:
        networks = []
    return {"form": form, "opened": opened_by(form.values("scopes")), "ends": ends, "networks": networks}


def _first_call(key: Key, base_url: str) -> str:
    """A call to try the key with: one that uses nothing up, if it may make any."""
    paths = {opened.path for opened in opened_by(key.scopes)}
    bearer = '  -H "Authorization: Bearer $GATEPASS_API_KEY"'
    harmless = next((path for path in HARMLESS if path in paths), None)
    if key.mode is Mode.SANDBOX and "/scan" in paths:
        body = f'{{"event_id": "{sandbox.EVENT_ID}", "card_number": "TEST_VALID"}}'
    elif harmless is not None:
        return f"curl -s {base_url}{harmless} \\\n{bearer}"
    else:
        body = '{"event_id": "<EVENT_ID>", "card_number": "<CARD_NUMBER>"}'
    return f"curl -s {base_url}/scan \\\n{bearer} \\\n  --json '{body}'"
