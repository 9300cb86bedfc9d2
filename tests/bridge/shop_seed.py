"""Fill an empty pretix for the bridge: an event with two items, a check-in list, and a token for its API.

This runs in pretix's own venv: python shop_seed.py FILE. It writes what the tests need to know to the file, as JSON.
"""
# Our own venv has neither Django nor pretix.
# pyright: basic, reportMissingImports=false

import json
import sys
from pathlib import Path
from typing import Any

# That of bench/pretix. It sets up Django.
from seed import PRICE, open_event  # isort: skip
from django_scopes import scopes_disabled
from pretix.base.models import Organizer


def seed() -> dict[str, Any]:
    organizer = Organizer.objects.create(name="Harbour", slug="harbour")
    event = open_event(organizer)
    general = event.items.get()
    vip = event.items.create(name="VIP", default_price=PRICE, admission=True)
    event.quotas.get().items.add(vip)
    sellers = organizer.teams.create(name="Sellers", all_events=True, all_event_permissions=True)
    # No more than README.md of the bridge says.
    bridge = organizer.teams.create(
        name="Bridge",
        all_events=True,
        limit_event_permissions={"event.orders:read": True, "event.orders:checkin": True},
    )
    return {
        "organizer": organizer.slug,
        "event": event.slug,
        "checkin_list": event.checkin_lists.create(name="Gates", all_products=True).pk,
        "token": sellers.tokens.create(name="tests").token,
        "bridge_token": bridge.tokens.create(name="bridge").token,
        "items": {"general": general.pk, "vip": vip.pk},
    }


if __name__ == "__main__":
    with scopes_disabled():
        told = seed()
    Path(sys.argv[1]).write_text(json.dumps(told))
