"""The API's reference, from its OpenAPI document: each operation with a call to paste, then each object."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from tools.reference.calls import CALLS

Json = dict[str, Any]

ANSWERS: Final = Path(__file__).with_name("answers.json")
SCHEMA: Final = "#/components/schemas/"
METHODS: Final = ("get", "post", "patch", "delete")


def generate(document: str) -> str:
    return "\n\n".join(Reference(json.loads(document)).parts())


class Reference:
    def __init__(self, document: Json) -> None:
        self._document = document
        self._answers: dict[str, Json | str] = json.loads(ANSWERS.read_text(encoding="utf-8"))

    def parts(self) -> Iterator[str]:
        operations = {
            found["operationId"]: (method, path, found)
            for path, methods in self._document["paths"].items()
            for method, found in methods.items()
            if method in METHODS
        }
        if set(operations) != set(CALLS):
            raise ValueError(f"calls.py and the document differ in: {set(operations) ^ set(CALLS)}")
        for tag in self._document["tags"]:
            if tag["name"] == "Messages":
                continue
            yield f"## {tag['name']}\n\n{tag['description']}"
            for name in CALLS:
                if tag["name"] in operations[name][2]["tags"]:
                    yield from self._operation(*operations[name])
        yield from self._messages()
        yield from self._objects()

    def _operation(self, method: str, path: str, found: Json) -> Iterator[str]:
        yield f"### {found['summary']}"
        yield f"`{method.upper()} {path}`"
        yield found["description"]
        parameters = [self._resolved(parameter) for parameter in found.get("parameters", [])]
        if parameters:
            rows = [(p["name"], p["in"], self._type(p["schema"]), p.get("description", "")) for p in parameters]
            yield _table(("parameter", "in", "type", "what it is"), [(f"`{a}`", *rest) for a, *rest in rows])
        if "requestBody" in found:
            schema = self._resolved(found["requestBody"]["content"]["application/json"]["schema"])
            yield f"Body. {schema['description']}"
            yield self._fields(schema)
        name = found["operationId"]
        yield f"```bash\n{CALLS[name]}\n```"
        yield _answer(self._answers[name])
        yield _table(("answer", "codes, or what it is"), self._outcomes(found))

    def _outcomes(self, found: Json) -> Iterator[tuple[str, str]]:
        for status, response in found["responses"].items():
            content = self._resolved(response).get("content", {}).get("application/json", {})
            values = [example["value"] for example in content.get("examples", {}).values()]
            codes = dict.fromkeys(f"`{value['code']}`" for value in values if "code" in value)
            named = self._type(content["schema"]) if "schema" in content and not codes else ""
            yield status, ", ".join(codes) or f"{self._resolved(response)['description']} {named}".strip()

    def _messages(self) -> Iterator[str]:
        yield "## Messages"
        yield (
            "What we post to your endpoint. Each has `id`, `type`, `organization_id`, `created_at` and `data`; see "
            "[Webhooks](../guides/webhooks.md)."
        )
        for type, methods in self._document["webhooks"].items():
            schema = self._resolved(methods["post"]["requestBody"]["content"]["application/json"]["schema"])
            data = self._resolved(_property(schema, "data"))
            yield f"### `{type}`\n\n{methods['post']['description']}\n\n{self._fields(data)}"

    def _objects(self) -> Iterator[str]:
        yield "## Objects"
        parts = set(re.findall(rf'"{SCHEMA}(\w+)"', json.dumps(self._document["components"]["schemas"])))
        for name, schema in self._document["components"]["schemas"].items():
            # A body stands with its call, unless it is a part of another one, too.
            if (name.endswith("Request") and name not in parts) or name in self._message_bodies():
                continue
            yield f"### {name}"
            if "description" in schema:
                yield schema["description"]
            if "enum" in schema:
                yield "One of " + ", ".join(f"`{value}`" for value in schema["enum"]) + "."
            elif _properties(schema):
                yield self._fields(schema)

    def _message_bodies(self) -> set[str]:
        contents = [
            m["post"]["requestBody"]["content"]["application/json"] for m in self._document["webhooks"].values()
        ]
        return {content["schema"].get("$ref", "").removeprefix(SCHEMA) for content in contents}

    def _fields(self, schema: Json) -> str:
        required = schema.get("required", [])
        rows = [
            (f"`{name}`" + ("" if name in required else ", optional"), self._type(field), self._description(field))
            for name, field in _properties(schema).items()
        ]
        return _table(("field", "type", "what it is"), rows)

    def _description(self, field: Json) -> str:
        return field.get("description", "").replace("\n", " ").replace("|", "\\|")

    def _type(self, schema: Json) -> str:
        """The type in a word or two, with a link if it is one of the objects."""
        if "$ref" in schema:
            name = schema["$ref"].removeprefix(SCHEMA)
            return f"[{name}](#{name.lower()})"
        if "anyOf" in schema:
            return " or ".join(self._type(one) for one in schema["anyOf"])
        if "enum" in schema or "const" in schema:
            return " or ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
        named = schema.get("type", "any")
        kinds: list[str] = named if isinstance(named, list) else [named]
        if "array" in kinds and "items" in schema:
            kinds = [f"list of {self._type(schema['items'])}" if kind == "array" else kind for kind in kinds]
        return " or ".join(schema.get("format", kind) if kind == "string" else kind for kind in kinds)

    def _resolved(self, value: Json) -> Json:
        if "$ref" not in value:
            return value
        found = self._document
        for part in value["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        return found


def _answer(answer: Json | str) -> str:
    if isinstance(answer, str):
        return f"```text\n{answer}\n```"
    return f"```json\n{json.dumps(answer, indent=2, ensure_ascii=False)}\n```"


def _properties(schema: Json) -> Json:
    return {
        **schema.get("properties", {}),
        **{k: v for one in schema.get("allOf", []) for k, v in _properties(one).items()},
    }


def _property(schema: Json, name: str) -> Json:
    return _properties(schema)[name]


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *map(list, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
