"""The SDK's reference, from its own signatures and docstrings."""

import dataclasses
import inspect
import re
from collections.abc import Iterator
from typing import Any, Final

import gatepass_sdk
from gatepass.domain.keys import Mode, make_key
from gatepass_sdk import AsyncGatepass, Gatepass, GatepassError, testing

MODULE: Final = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z])|~")
# The classes of all messages, which a signature names as one.
ANY_MESSAGE: Final = MODULE.sub("", str(gatepass_sdk.WebhookEvent))
# An annotation in quotes. A default value that is a string keeps its quotes.
QUOTED: Final = re.compile(r"(-> |: )'([^']*)'")
WIDE: Final = re.compile(r"\n\s*\n")


def generate() -> str:
    return "\n\n".join(_parts())


def _parts() -> Iterator[str]:
    exported = {name: getattr(gatepass_sdk, name) for name in gatepass_sdk.__all__}
    classes = {name: kind for name, kind in exported.items() if inspect.isclass(kind)}
    errors = {name: kind for name, kind in classes.items() if issubclass(kind, GatepassError)}
    records = {name: kind for name, kind in classes.items() if dataclasses.is_dataclass(kind)}
    clients = {"Gatepass": Gatepass, "AsyncGatepass": AsyncGatepass}
    yield "## Clients"
    for name, kind in clients.items():
        yield f"### {name}\n\n`{name}{_signature(kind)}`"
        yield from _class(kind)
    yield from _resources()
    rest = {name: kind for name, kind in classes.items() if name not in errors | records | clients}
    yield "## What else there is"
    for name, kind in rest.items():
        yield f"### {name}"
        yield from _class(kind)
    for name, function in exported.items():
        if inspect.isfunction(function):
            yield f"### {name}\n\n`{name}{_signature(function)}`"
            yield _sentences(function.__doc__)
    yield "## gatepass_sdk.testing"
    for name in testing.__all__:
        kind: Any = getattr(testing, name)
        if dataclasses.is_dataclass(kind):
            yield from _record(name, getattr(testing, name))
        else:
            yield f"### {name}"
            yield from _class(kind)
    yield "## Errors"
    yield _table("error", "raised when", ((f"`{name}`", _sentences(kind.__doc__)) for name, kind in errors.items()))
    yield "## What is returned"
    for name, kind in records.items():
        yield from _record(name, kind)


def _resources() -> Iterator[str]:
    """The resources of a client: `client.scans` and the others."""
    with Gatepass(make_key(Mode.SANDBOX, "a"), base_url="http://127.0.0.1:8000/api/public/v1") as client:
        found = {name: value for name, value in vars(client).items() if not name.startswith("_")}
    for name, value in found.items():
        yield f"## client.{name}"
        yield from _class(type(value))


def _class(kind: type) -> Iterator[str]:
    text = _sentences(kind.__doc__)
    if text:
        yield text
    yield from _methods(kind)


def _record(name: str, kind: type) -> Iterator[str]:
    yield f"### {name}"
    text = _sentences(kind.__doc__)
    if text and not text.startswith(f"{name}("):
        yield text
    fields = dataclasses.fields(kind)
    yield _table("field", "type", ((f"`{field.name}`", f"`{_named(field.type)}`") for field in fields))
    yield from _methods(kind)


def _methods(kind: type) -> Iterator[str]:
    """The public ones in the order of the source, those inherited from our own classes first."""
    ours = [one for one in reversed(kind.__mro__) if one.__module__.startswith("gatepass_sdk")]
    named = {name: value for one in ours for name, value in vars(one).items() if not name.startswith("_")}
    for name, value in named.items():
        function: Any = value.fget if isinstance(value, property) else getattr(kind, name)
        if isinstance(value, property):
            type_name = _named(inspect.signature(function).return_annotation)
            yield f"**`{name}`**: `{type_name}`. {_sentences(function.__doc__)}".strip()
        elif inspect.isroutine(function):
            waits = "await " if inspect.iscoroutinefunction(function) else ""
            yield f"**`{waits}{name}{_signature(function)}`**"
            if function.__doc__:
                yield _sentences(function.__doc__)


def _signature(callable_: Any) -> str:
    signature = inspect.signature(callable_)
    kept = [one for name, one in signature.parameters.items() if name not in ("self", "cls")]
    return _named(str(signature.replace(parameters=kept)))


def _named(annotation: Any) -> str:
    """The annotation without the modules of its names."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return MODULE.sub("", QUOTED.sub(r"\1\2", text)).replace(ANY_MESSAGE, "WebhookEvent")


def _sentences(docstring: str | None) -> str:
    return inspect.cleandoc(docstring or "")


def _table(first: str, second: str, rows: Iterator[tuple[str, str]]) -> str:
    cells = [(a, WIDE.sub(" ", b).replace("\n", " ").replace("|", "\\|")) for a, b in rows]
    return "\n".join([f"| {first} | {second} |", "|---|---|", *[f"| {a} | {b} |" for a, b in cells]])
