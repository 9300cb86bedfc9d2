"""API keys: the list, and creating one. A key is shown once, right after it is created."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.base.database import Tx
from gatepass.domain import audit_log, keys, sandbox
from gatepass.domain.actors import find_actors
from gatepass.domain.keys import (
    PRESETS,
    PURPOSES,
    SCOPE_ENDPOINTS,
    Key,
    KeyFilter,
    Mode,
    Preset,
    Scope,
    endpoints_for,
    withheld,
)
from gatepass.domain.request_log import UsedFrom, used_for, used_from
from gatepass.domain.staff import NotPermitted, Permission
from gatepass.studio.keys.forms import EXPIRIES, Expiry, KeyNameForm, NewKeyForm, default_expiry, networks_in
from gatepass.studio.web import one_time_secret
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import UNPROCESSABLE, Context
from gatepass.studio.web.forms import Form
from gatepass.studio.web.paging import PAGE, place_in, rest_of

router = APIRouter(prefix="/keys")

Reader = Annotated[Context, may(Permission.KEYS_READ)]
Writer = Annotated[Context, may(Permission.KEYS_WRITE)]
# A key gives access to the organization's data, so creating one needs re-authentication.
ConfirmedWriter = Annotated[Context, may(Permission.KEYS_WRITE, confirmed=True)]

# The period for which a key's page shows its uses.
RECENTLY: Final = timedelta(hours=24)
FORBIDDEN: Final = 403
HARMLESS: Final = ("/events", "/card/keys", "/webhooks")
SHOWN: Final = (
    (KeyFilter.USABLE, "Active"),
    (KeyFilter.UNUSED, "Unused for 90 days"),
    (KeyFilter.ENDED, "Expired or revoked"),
    (KeyFilter.ALL, "All"),
)


@router.get("")
async def listed(context: Reader) -> Response:
    named = context.request.query_params.get("show", KeyFilter.USABLE)
    shown = KeyFilter(named) if named in list(KeyFilter) else KeyFilter.USABLE
    after = place_in(context)
    async with context.db.autocommit() as tx:
        found, place = await keys.keys_of(
            tx, context.organization_id, context.mode, shown=shown, at=context.at, after=after, limit=PAGE
        )
        actors = await find_actors(tx, context.organization_id, [key.created_by for key in found])
    return context.page(
        "keys/list.html",
        keys=found,
        actors=actors,
        shown=shown,
        choices=SHOWN,
        newest_first=True,
        **rest_of(context, "keys", place),
    )


@router.get("/new")
async def new(context: ConfirmedWriter) -> Response:
    preset = _presets(context).get(context.request.query_params.get("preset", ""))
    scopes = sorted(preset.scopes) if preset else []
    form = Form.of(name=preset.name if preset else None, scopes=scopes, expiry=default_expiry(context.mode))
    return context.page("keys/new.html", **_new_facts(context, form))


@router.get("/preview")
async def preview(context: Writer) -> Response:
    """The calls that a key with these scopes may make, while somebody still chooses."""
    query = context.request.query_params
    form = Form({name: query.getlist(name) for name in ("scopes", "expiry", "networks")})
    return context.part("keys/preview.html", **_preview_facts(context, form))


@router.post("")
async def make(context: ConfirmedWriter) -> Response:
    form = await context.form()
    wanted = form.read(NewKeyForm)
    if wanted is None:
        return context.page("keys/new.html", status=UNPROCESSABLE, **_new_facts(context, form))
    try:
        async with context.transaction() as tx:
            issued = await keys.issue(
                tx,
                context.organization_id,
                wanted.name,
                context.mode,
                wanted.scopes,
                cell=context.studio.settings.cell,
                by=context.by,
                at=context.at,
                expires_at=wanted.expiry.after(context.at),
                allowed_networks=networks_in(wanted.networks),
            )
    except NotPermitted as refusal:
        form.errors[refusal.param or ""] = str(refusal)
        return context.page("keys/new.html", status=FORBIDDEN, **_new_facts(context, form))
    return redirect_to_new_key(context, issued)


@router.get("/{key_id}")
async def one(context: Reader, key_id: UUID) -> Response:
    return await _page_of(context, key_id)


@router.get("/{key_id}/made")
async def made(context: ConfirmedWriter, key_id: UUID) -> Response:
    """The key itself, once."""
    async with context.db.autocommit() as tx:
        key = await keys.find_key(tx, context.organization_id, context.mode, key_id)
    secret = one_time_secret.read(context, key_id)
    if secret is None:
        return context.go(f"keys/{key_id}", "The key was shown already. If you have lost it, roll it.")
    base_url = context.studio.settings.base_url
    response = context.page(
        "keys/made.html", key=key, secret=secret, base_url=base_url, try_it=_first_call(key, base_url)
    )
    one_time_secret.clear(response)
    return response


@router.post("/{key_id}/name")
async def rename(context: Writer, key_id: UUID) -> Response:
    form = await context.form()
    wanted = form.read(KeyNameForm)
    if wanted is None:
        return await _page_of(context, key_id, form)
    async with context.transaction() as tx:
        await keys.rename(tx, context.organization_id, context.mode, key_id, wanted.name, by=context.by, at=context.at)
    return context.go(f"keys/{key_id}", "The key has a new name.")


async def _page_of(context: Context, key_id: UUID, form: Form | None = None) -> Response:
    async with context.db.autocommit() as tx:
        key = await keys.find_key(tx, context.organization_id, context.mode, key_id)
        history = await audit_log.of_subject(tx, context.organization_id, key_id)
        users = await users_of(tx, context, key)
        used = await used_for(tx, context.organization_id, key.id, since=context.at - RECENTLY)
        mentioned = [key.created_by, key.revoked_by, *(change.actor for change in history)]
        actors = await find_actors(tx, context.organization_id, mentioned)
    facts: dict[str, Any] = {
        "key": as_last_used(key, users),
        "history": history,
        "users": users,
        "actors": actors,
        "opened": endpoints_for(key.scopes),
        "withheld": withheld_from(context, key.scopes),
        "calls": {(one.method, one.path): one.calls for one in used},
    }
    form, status = (Form.of(name=key.name), 200) if form is None else (form, UNPROCESSABLE)
    return context.page("keys/one.html", status=status, form=form, **facts)


async def users_of(tx: Tx, context: Context, key: Key) -> list[UsedFrom]:
    """The addresses that used the key in the last 24 hours."""
    return await used_from(tx, context.organization_id, key.id, since=context.at - RECENTLY)


def as_last_used(key: Key, users: list[UsedFrom]) -> Key:
    """The last use is stored on the key some seconds late; the request log may have a newer one."""
    if not users or (key.last_used_at is not None and key.last_used_at >= users[0].last_at):
        return key
    return replace(key, last_used_at=users[0].last_at, last_used_from=users[0].address)


def withheld_from(context: Context, scopes: Iterable[str]) -> dict[str, str]:
    """The scopes that this person may not give to a key, and why."""
    return withheld(context.mode, scopes, context.role)


def redirect_to_new_key(context: Context, issued: keys.IssuedKey) -> Response:
    """Redirect to the page that shows a new key."""
    response = context.go(f"keys/{issued.id}/made")
    one_time_secret.store(context, response, issued.id, issued.text)
    return response


def _new_facts(context: Context, form: Form) -> dict[str, Any]:
    chosen = context.request.query_params.get("preset")
    return {
        "presets": _presets(context),
        "chosen": chosen,
        "opens": SCOPE_ENDPOINTS,
        "purposes": PURPOSES,
        "expiries": EXPIRIES,
        "not_yours": withheld_from(context, Scope),
        **_preview_facts(context, form),
    }


def _presets(context: Context) -> dict[str, Preset]:
    """The presets whose scopes this person may give."""
    return {name: preset for name, preset in PRESETS.items() if not withheld_from(context, preset.scopes)}


def _preview_facts(context: Context, form: Form) -> dict[str, Any]:
    expiry = form.value("expiry")
    ends = Expiry(expiry).after(context.at) if expiry in list(Expiry) else None
    try:
        networks = networks_in(form.value("networks")[:10_000])
    except ValueError:
        networks = []
    chosen = form.values("scopes")
    return {
        "form": form,
        "opened": endpoints_for(chosen),
        "ends": ends,
        "networks": networks,
        "withheld": withheld_from(context, chosen),
    }


def _first_call(key: Key, base_url: str) -> str:
    """A command to try the key: a call without effects, if its scopes allow one."""
    paths = {opened.path for opened in endpoints_for(key.scopes)}
    bearer = '  -H "Authorization: Bearer $GATEPASS_API_KEY"'
    harmless = next((path for path in HARMLESS if path in paths), None)
    if key.mode is Mode.SANDBOX and "/scan" in paths:
        body = f'{{"event_id": "{sandbox.EVENT_ID}", "card_number": "TEST_VALID"}}'
    elif harmless is not None:
        return f"curl -s {base_url}{harmless} \\\n{bearer}"
    else:
        body = '{"event_id": "<EVENT_ID>", "card_number": "<CARD_NUMBER>"}'
    return f"curl -s {base_url}/scan \\\n{bearer} \\\n  --json '{body}'"
