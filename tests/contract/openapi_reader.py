"""Read the interface description as a client would: its operations, its examples, its schemas."""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from gatepass.api.openapi import document

Json = dict[str, Any]

DOCUMENT: Json = document.document()


def resolved(part: Json) -> Json:
    """The part itself, or the part that its `$ref` names."""
    if "$ref" not in part:
        return part
    found: Any = DOCUMENT
    for step in part["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return found


def faults(schema: Json, value: object) -> list[str]:
    """Why the value does not fit the schema; empty if it does."""
    whole = {**schema, "components": DOCUMENT["components"]}
    validator = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
    return [error.message for error in validator.iter_errors(value)]


def operations() -> Iterator[tuple[str, str, Json]]:
    """Method, path and operation of each call that can be made."""
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def answer_schema(operation: Json, status: int) -> Json:
    return resolved(operation["responses"][str(status)])["content"]["application/json"]["schema"]


def message_schema(type: str) -> Json:
    """The schema of a webhook's body."""
    return DOCUMENT["webhooks"][type]["post"]["requestBody"]["content"]["application/json"]["schema"]


def codes(operation: Json) -> dict[str, set[str]]:
    """The error codes of an operation, by status."""
    return {
        status: set(answer_schema(operation, int(status))["allOf"][0]["properties"]["code"]["enum"])
        for status in operation["responses"]
        if status.startswith(("4", "5"))
    }


def examples() -> Iterator[tuple[str, Json, object]]:
    """Where each example stands, the schema that it belongs to, and its value."""
    for part in ("paths", "webhooks"):
        for path, methods in DOCUMENT[part].items():
            for operation in methods.values():
                yield from _of_operation(path, operation)
    for name, header in DOCUMENT["components"]["headers"].items():
        yield from _of(f"header {name}", header)


def _of_operation(path: str, operation: Json) -> Iterator[tuple[str, Json, object]]:
    for parameter in operation.get("parameters", []):
        yield from _of(f"{path} {parameter['name']}", parameter)
    for content in operation.get("requestBody", {}).get("content", {}).values():
        yield from _of(f"{path} body", content)
    for status, response in operation["responses"].items():
        for content in resolved(response).get("content", {}).values():
            yield from _of(f"{path} {status}", content)


def _of(where: str, holder: Json) -> Iterator[tuple[str, Json, object]]:
    if "example" in holder:
        yield where, holder["schema"], holder["example"]
    for name, example in holder.get("examples", {}).items():
        yield f"{where} {name}", holder["schema"], example["value"]
