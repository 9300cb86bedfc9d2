"""The endpoints that the studio shows for a scope are those that the API allows with it."""

import pytest

from gatepass.api.openapi.operations import NOTES
from gatepass.api.routes import routers
from gatepass.domain.keys import (
    PRESETS,
    PURPOSES,
    SCOPE_ENDPOINTS,
    SCOPE_PERMISSIONS,
    ApiEndpoint,
    Mode,
    Scope,
    endpoints_for,
    withheld,
)
from gatepass.domain.staff import Role


def test_each_scope_opens_the_endpoints_that_need_it() -> None:
    """test_openapi calls each route and asserts that it needs the scope in its notes."""
    routes = {
        scope: {
            ApiEndpoint(method, route.path, NOTES[route.name].summary)
            for route in routers.ROUTES
            for method in route.methods or ()
            if NOTES[route.name].scope is scope
        }
        for scope in Scope
    }
    assert {scope: set(opened) for scope, opened in SCOPE_ENDPOINTS.items()} == routes
    assert PURPOSES.keys() == SCOPE_ENDPOINTS.keys()


def test_admin_opens_everything() -> None:
    assert set(endpoints_for(["admin"])) == {opened for endpoints in SCOPE_ENDPOINTS.values() for opened in endpoints}


def test_no_scope_opens_nothing() -> None:
    assert endpoints_for([]) == []
    assert endpoints_for(["nonsense"]) == []


@pytest.mark.parametrize("name", PRESETS)
def test_no_preset_can_change_a_webhook(name: str) -> None:
    opened = endpoints_for(PRESETS[name].scopes)
    assert opened
    changed = {one.path for one in opened if one.method != "GET"}
    assert not [path for path in changed if path.startswith("/webhook")]
    assert name == "shop" or changed <= {"/scan"}


def test_no_preset_has_the_scope_that_has_every_other() -> None:
    assert not [name for name, preset in PRESETS.items() if Scope.ADMIN in preset.scopes]


def test_each_scope_says_who_may_give_it() -> None:
    assert SCOPE_PERMISSIONS.keys() == set(Scope)


@pytest.mark.parametrize("role", Role)
def test_a_scope_of_a_later_version_is_given_by_owners(role: Role) -> None:
    """Such a key is met while processes of two versions run; it is rolled by an owner, and never makes a page fail."""
    assert bool(withheld(Mode.LIVE, ["seats:write"], role)) is (role is not Role.OWNER)
    assert withheld(Mode.SANDBOX, ["seats:write"], role) == {}


def test_a_gate_can_do_its_work() -> None:
    paths = {opened.path for opened in endpoints_for(PRESETS["gate"].scopes)}
    assert paths == {"/events", "/events/{id}", "/card/verify", "/card/keys", "/scan"}
