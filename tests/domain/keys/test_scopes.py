"""What the studio says that a scope opens is what the API opens with it."""

import pytest

from gatepass.api import public
from gatepass.api.description.operations import NOTES
from gatepass.domain.keys import OPENS, PRESETS, PURPOSES, Opened, Scope, opened_by


def test_each_scope_opens_the_endpoints_that_need_it() -> None:
    """That a route needs the scope in its notes is asserted by calling it, in test_openapi."""
    routes = {
        scope: {
            Opened(method, route.path, NOTES[route.name].summary)
            for route in public.ROUTES
            for method in route.methods or ()
            if NOTES[route.name].scope is scope
        }
        for scope in Scope
    }
    assert {scope: set(opened) for scope, opened in OPENS.items()} == routes
    assert PURPOSES.keys() == OPENS.keys()


def test_admin_opens_everything() -> None:
    assert set(opened_by(["admin"])) == {opened for endpoints in OPENS.values() for opened in endpoints}


def test_no_scope_opens_nothing() -> None:
    assert opened_by([]) == []
    assert opened_by(["nonsense"]) == []


@pytest.mark.parametrize("name", PRESETS)
def test_no_preset_can_change_an_endpoint(name: str) -> None:
    opened = opened_by(PRESETS[name].scopes)
    assert opened
    assert {one.path for one in opened if one.method != "GET"} <= {"/scan"}


def test_a_gate_can_do_its_work() -> None:
    paths = {opened.path for opened in opened_by(PRESETS["gate"].scopes)}
    assert paths == {"/events", "/events/{id}", "/card/verify", "/card/keys", "/scan"}
