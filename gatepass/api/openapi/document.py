"""The interface description, OpenAPI 3.1: served at `/openapi.json` and committed as `docs/openapi.json`.

    python -m gatepass.api.openapi.document > docs/openapi.json

Paths and models come from the routes, statuses from the table of refusals, examples from the sandbox, the
texts from `text.py` and the notes. A route without notes stops the build.
"""

import json
import sys
from typing import Any, Final

from gatepass.api.openapi import operations, responses, schemas, webhook_messages
from gatepass.api.openapi.introduction import introduction
from gatepass.api.routes import ticket_schemas, webhook_schemas
from gatepass.api.routes.devices import registry as devices
from gatepass.base.settings import BASE_PATH
from gatepass.base.wire_constants import LIVE_KEY_PREFIX, SANDBOX_KEY_PREFIX

Json = dict[str, Any]

# The version of the interface, not of the service.
VERSION: Final = "1.0.0"

TAGS: Final = {
    "Events": "The catalogue of your organization.",
    "Cards": "The cards that people carry, their holders, and what a card token is worth.",
    ticket_schemas.TAG: "Tickets, issued on cards or to people, cancelled and transferred.",
    "Scans": "Tickets, activated at the gate.",
    "Incidents": "Where somebody was let in against the record.",
    "Gates": "What devices at the gates need to admit without a network.",
    devices.TAG: "What scans at your gates, and what it works for.",
    webhook_schemas.TAG: "Where messages are sent to, and what became of them.",
    webhook_messages.TAG: "What we send to you.",
}


def document() -> Json:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Gatepass",
            "version": VERSION,
            "summary": "Card-based event identity.",
            "description": introduction(),
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": BASE_PATH}],
        "tags": [{"name": name, "description": description} for name, description in TAGS.items()],
        "paths": operations.paths(),
        "webhooks": webhook_messages.webhooks(),
        "components": {
            "securitySchemes": {operations.SECURITY: SECURITY_SCHEME},
            "headers": responses.HEADERS,
            "responses": responses.shared(),
            "schemas": {
                **schemas.of_models(operations.models()),
                **schemas.of_requests(),
                "Error": schemas.error(),
                "ErrorDetails": schemas.error_details(),
                **webhook_messages.message_schemas(),
            },
        },
    }


def written() -> str:
    """The document as it is committed and served."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


SECURITY_SCHEME: Final[Json] = {
    "type": "http",
    "scheme": "bearer",
    "description": f"An API key of your organization: `{LIVE_KEY_PREFIX}…` or `{SANDBOX_KEY_PREFIX}…`.",
}

if __name__ == "__main__":
    sys.stdout.write(written())
