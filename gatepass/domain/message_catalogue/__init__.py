"""The catalogue of webhook messages: for each type a sentence, a schema and an example.

OpenAPI and the studio both show it, so it belongs to the domain.
"""

from gatepass.domain.message_catalogue.fields import (
    AN_ID,
    CARD_NUMBER,
    CARD_STATUS,
    ID,
    INCIDENT,
    MESSAGE_ID,
    TEXT,
    Json,
)
from gatepass.domain.message_catalogue.kinds import MESSAGES, MessageKind, example_of, schema_of

__all__ = [
    "AN_ID",
    "CARD_NUMBER",
    "CARD_STATUS",
    "ID",
    "INCIDENT",
    "MESSAGES",
    "MESSAGE_ID",
    "TEXT",
    "Json",
    "MessageKind",
    "example_of",
    "schema_of",
]
