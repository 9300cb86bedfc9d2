"""The interface description, OpenAPI 3.1: served at `/openapi.json` and committed as `docs/openapi.json`.

    python -m gatepass.api.openapi > docs/openapi.json

Paths and models come from the routes, statuses from the errors table, examples from the sandbox; the
words are in `description/`. A route that nobody described stops the build.
"""

import json
import sys
from typing import Any, Final

from gatepass.api import webhook
from gatepass.api.description import answers, operations, schemas, webhooks
from gatepass.api.description.introduction import introduction
from gatepass.base.settings import BASE_PATH
from gatepass.base.wire_name import LIVE_KEY_PREFIX, SANDBOX_KEY_PREFIX

Json = dict[str, Any]

# Of the interface, not of the service.
VERSION: Final = "1.0.0"

TAGS: Final = {
    "Events": "The catalogue of your organization.",
    "Cards": "What a card token is worth.",
    "Scans": "Tickets, activated at the gate.",
    webhook.TAG: "Where messages are sent to, and what became of them.",
    webhooks.TAG: "What we send to you.",
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
        "webhooks": webhooks.webhooks(),
        "components": {
            "securitySchemes": {operations.SECURITY: SECURITY_SCHEME},
            "headers": answers.HEADERS,
            "responses": answers.shared(),
            "schemas": {
                **schemas.of_models(operations.models()),
                **schemas.of_requests(),
                "Error": schemas.error(),
                "ErrorDetails": schemas.error_details(),
                **webhooks.message_schemas(),
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
