"""The reference of the SDK for JavaScript, from its own declarations and comments."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from tools.reference.typescript import Declaration, declarations, resources

MODELS: Final = ("card", "device", "event", "incident", "item", "scan", "ticket", "webhook")
TAKEN: Final = (
    "events",
    "ticket_categories",
    "cards",
    "card_tokens",
    "tickets",
    "scans",
    "devices",
    "incidents",
    "webhook_endpoints",
    "options",
)
MESSAGES: Final = ("cards", "events", "message", "tickets")
WIDE: Final = re.compile(r"\s*\n\s*")


def generate() -> str:
    return "\n\n".join(_parts())


def _parts() -> Iterator[str]:
    client = declarations("client.ts")
    yield "## Client"
    yield f"### Gatepass\n\n`new Gatepass(options: GatepassOptions)`\n\n{client['Gatepass'].doc}"
    yield from _methods(client["Gatepass"])
    yield from _record(client["GatepassOptions"])
    yield from _record(client["CallOptions"])
    yield from _resources(client["Gatepass"])
    yield "## Lists"
    yield from _all(declarations("http/pages.ts")[name] for name in ("Pages", "Page"))
    yield "## Card tokens"
    yield from _all(declarations("tokens.ts")[name] for name in ("CardKeys", "TokenReading"))
    yield "## @gatepass/sdk/webhooks"
    yield from _all(one for one in declarations("webhooks.ts").values() if one.kind != "class")
    yield "## @gatepass/sdk/queue"
    yield from _all(_queue())
    yield "## @gatepass/sdk/gate"
    yield from _all([declarations("gate/gate.ts")["Gate"]])
    yield "## Errors"
    errors = [one for one in declarations("errors.ts").values() if one.kind == "class"]
    yield _table("error", "thrown when", [(one.name, one.doc) for one in errors])
    yield "## What calls take"
    yield from _all(_taken())
    yield "## What is returned"
    yield from _all(_interfaces("models", MODELS))
    yield "## Messages"
    for name in MESSAGES:
        for one in declarations(f"messages/{name}.ts").values():
            yield from _message(one)


def _queue() -> Iterator[Declaration]:
    """The queue, how it is opened in Node, and what it returns."""
    opened, kept = declarations("queue/node.ts"), declarations("queue/queue.ts")
    yield replace(kept["ScanQueue"], members=[*opened["ScanQueue"].members, *kept["ScanQueue"].members])
    yield from (one for one in opened.values() if one.kind == "function")
    yield from (one for one in kept.values() if one.kind == "interface")
    yield from (declarations("queue/scan.ts")["Verdict"], declarations("queue/sender.ts")["Drained"])


def _interfaces(folder: str, names: tuple[str, ...]) -> Iterator[Declaration]:
    for name in names:
        yield from (one for one in declarations(f"{folder}/{name}.ts").values() if one.kind in ("interface", "type"))


def _resources(client: Declaration) -> Iterator[str]:
    found = resources()
    for member in client.members:
        if not member.is_method:
            kind = found[member.text]
            yield f"## client.{member.name}"
            if kind.doc:
                yield kind.doc
            yield from _methods(kind)
    yield "## client.webhooks"
    yield from _methods(declarations("webhooks.ts")["Webhooks"])


def _taken() -> Iterator[Declaration]:
    yield from _interfaces("resources", TAKEN)
    yield declarations("http/pages.ts")["PageOptions"]
    yield declarations("http/settings.ts")["SettingsOptions"]
    yield declarations("arguments.ts")["Time"]


def _all(these: Iterable[Declaration]) -> Iterator[str]:
    for one in these:
        if one.kind == "interface":
            yield from _record(one)
        elif one.kind == "type":
            text = one.head.removeprefix("export type ").removesuffix(";").replace("= | ", "= ")
            yield "\n\n".join(part for part in (f"### {one.name}", f"`{text}`", one.doc) if part)
        elif one.kind == "class":
            yield f"### {one.name}\n\n{one.doc}"
            yield from _methods(one)
        else:
            head = re.sub(r"^export (async )?function\*? ", "", one.head)
            yield f"### {one.name}\n\n`{head}`\n\n{one.doc}"


def _record(one: Declaration) -> Iterator[str]:
    yield "\n\n".join(part for part in (f"### {one.name}", _extends(one), one.doc) if part)
    rows = [(member.name, f"`{member.text.removesuffix(' | undefined')}`", member.doc) for member in one.members]
    if any(doc for _, _, doc in rows):
        lines = [f"| `{name}` | {_cell(text)} | {_cell(doc)} |" for name, text, doc in rows]
        yield "\n".join(["| field | type | |", "|---|---|---|", *lines])
    elif rows:
        yield _table("field", "type", [(name, text) for name, text, _ in rows])


def _extends(one: Declaration) -> str:
    return (
        f"It has the fields of {', '.join(f'`{name}`' for name in one.extends.split(', '))}, too."
        if one.extends
        else ""
    )


def _message(one: Declaration) -> Iterator[str]:
    if one.kind == "interface":
        yield from _record(one)
        return
    said = re.fullmatch(r'Message<("[\w.]+"|string), (.+)>', one.extends)
    if said is None:
        yield from _record(one)
    elif said[1] == "string":
        yield f"### {one.name}\n\n{one.doc}"
    else:
        yield f"### {one.name}\n\n{one.doc} `type` is `{said[1]}`, `data` is `{said[2]}`."


def _methods(kind: Declaration) -> Iterator[str]:
    for member in kind.members:
        if member.is_method:
            waits = "static " if "static" in member.words else ""
            waits += "await " if "async" in member.words and "*" not in member.words else ""
            if "get" in member.words.split():
                yield f"**`{member.text.replace('()', '', 1)}`** {member.doc}".strip()
                continue
            yield f"**`{waits}{member.text}`**"
            if member.doc:
                yield member.doc


def _table(first: str, second: str, rows: list[tuple[str, str]]) -> str:
    lines = [f"| `{name}` | {_cell(text)} |" for name, text in rows]
    return "\n".join([f"| {first} | {second} |", "|---|---|", *lines])


def _cell(text: str) -> str:
    return WIDE.sub(" ", text).replace("|", "\\|")
