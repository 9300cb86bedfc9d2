"""Fill an empty pretix: an event that has begun, its check-in list, a scanner, and paid tickets.

This runs in pretix's own venv: python seed.py COUNT FILE. It writes a scanner's configuration to the file, as JSON.
"""
# Django must be set up before a model is imported. Our own venv has neither Django nor pretix.
# ruff: noqa: E402
# pyright: basic, reportMissingImports=false

import json
import os
import secrets
import sys
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pretix.settings")
django.setup()

from django.conf import settings
from django.db import transaction
from django.utils.timezone import now
from django_scopes import scopes_disabled
from pretix.base.models import Device, Event, Gate, Order, OrderPayment, OrderPosition, Organizer

BATCH = 2_000
PRICE = Decimal(25)


def seed(count: int) -> dict[str, Any]:
    """Returns the organizer, the list, the scanner's token and the tickets' secrets."""
    organizer = Organizer.objects.create(name="Bench", slug="bench")
    event = open_event(organizer)
    gate_list = event.checkin_lists.create(name="Main gate", all_products=True)
    scanner = enrol_scanner(organizer)
    sold: list[str] = []
    for first in range(0, count, BATCH):
        with transaction.atomic():
            sold += sell(event, range(first, min(first + BATCH, count)))
    return {"organizer": organizer.slug, "checkin_list": gate_list.pk, "token": scanner.api_token, "secrets": sold}


def open_event(organizer: Any) -> Any:
    event = Event.objects.create(
        organizer=organizer,
        name="Gate",
        slug="gate",
        currency="EUR",
        date_from=now() - timedelta(hours=1),
        date_to=now() + timedelta(hours=8),
        live=True,
        plugins=settings.PRETIX_PLUGINS_DEFAULT,
    )
    event.settings.set("timezone", "UTC")
    general = event.items.create(name="General", default_price=PRICE, admission=True)
    event.quotas.create(name="All", size=None).items.add(general)
    return event


def enrol_scanner(organizer: Any) -> Any:
    return Device.objects.create(
        organizer=organizer,
        gate=Gate.objects.create(organizer=organizer, name="North 2"),
        name="scanner-7",
        all_events=True,
        security_profile="pretixscan",
        api_token=secrets.token_hex(32),
        initialized=now(),
    )


def sell(event: Any, serials: range) -> list[str]:
    """Make one paid order for each ticket. Returns the tickets' secrets."""
    channel = event.organizer.sales_channels.get(identifier="web")
    orders = Order.objects.bulk_create([order(event, channel, serial) for serial in serials])
    OrderPayment.objects.bulk_create([payment(each) for each in orders])
    general = event.items.get()
    tickets = [ticket(each, general, serial) for each, serial in zip(orders, serials, strict=True)]
    return [each.secret for each in OrderPosition.objects.bulk_create(tickets)]


def order(event: Any, channel: Any, serial: int) -> Any:
    return Order(
        organizer=event.organizer,
        event=event,
        code=f"A{serial:07}",
        status=Order.STATUS_PAID,
        email=f"visitor{serial}@example.org",
        locale="en",
        sales_channel=channel,
        datetime=now(),
        expires=now() + timedelta(days=10),
        total=PRICE,
    )


def payment(paid: Any) -> Any:
    return OrderPayment(
        order=paid,
        local_id=1,
        provider="manual",
        state=OrderPayment.PAYMENT_STATE_CONFIRMED,
        amount=PRICE,
        payment_date=now(),
    )


def ticket(paid: Any, item: Any, serial: int) -> Any:
    name = f"Visitor {serial}"
    return OrderPosition(
        organizer=paid.organizer,
        order=paid,
        positionid=1,
        item=item,
        price=PRICE,
        tax_rate=Decimal(0),
        tax_value=Decimal(0),
        attendee_name_cached=name,
        attendee_name_parts={"_scheme": "full", "full_name": name},
        secret=secrets.token_hex(16),
        pseudonymization_id=f"P{serial:07}",
    )


if __name__ == "__main__":
    with scopes_disabled():
        scanner = seed(int(sys.argv[1]))
    Path(sys.argv[2]).write_text(json.dumps(scanner))
