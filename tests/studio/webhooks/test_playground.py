"""The catalogue of message types, and the signature playground."""

import html
import re
from typing import Any

from gatepass.base.ids import new_id
from gatepass.domain.webhooks import MessageType, signature
from gatepass.domain.webhooks.signature import Secrets
from gatepass.studio.webhooks.playground import EXAMPLE_SECRET
from tests import factory
from tests.studio.browser_session import BrowserSession


async def test_the_catalogue_has_every_type_with_schema_and_example(user: BrowserSession) -> None:
    page = html.unescape(await user.see("webhooks/types"))
    for type in MessageType:
        assert f'id="{type}"' in page
        assert f'"type": "{type}"' in page
        assert f'"const": "{type}"' in page


async def test_the_playground_verifies_and_keeps_nothing(user: BrowserSession) -> None:
    secret, body = signature.new_secret(), b'{"a":1}'
    sent = signature.headers(
        Secrets(secret), body, event_id=new_id(), type="webhook.ping", delivery_id=new_id(), attempt=1,
        replayed=False, at=factory.now(),
    )  # fmt: skip
    pasted: dict[str, Any] = {
        "headers": "\r\n".join(f"{name}: {value}" for name, value in sent.items()),
        "body": body.decode(),
    }
    page = (await user.send("webhooks/playground", status=200, secret=secret, **pasted)).text
    assert page.count("Genuine") == 2
    assert secret not in html.unescape(page)
    other = signature.new_secret()
    page = (await user.send("webhooks/playground", status=200, secret=other, **pasted)).text
    assert page.count("Not genuine") == 2
    page = (await user.send("webhooks/playground", status=422, secret=other)).text
    assert "A secret and headers are needed." in page
    assert other not in html.unescape(page)


async def test_the_example_of_the_playground_is_genuine(user: BrowserSession) -> None:
    page = html.unescape(await user.see("webhooks/playground?example=1"))
    assert EXAMPLE_SECRET in page
    headers = re.findall(r"<textarea[^>]*name=\"headers\"[^>]*>([^<]*)<", page)[0]
    body = re.findall(r"<textarea[^>]*name=\"body\"[^>]*>([^<]*)<", page)[0]
    page = (await user.send("webhooks/playground", status=200, secret=EXAMPLE_SECRET, headers=headers, body=body)).text
    assert page.count("Genuine") == 2
