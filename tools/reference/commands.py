"""The commands, from the text of their `--help`."""

import inspect
from collections.abc import Iterator
from typing import Any, Final

import typer

import gatepass.cli.main
import gatepass_sdk.cli.main

PROGRAMS: Final = {"gatepass-cli": gatepass_sdk.cli.main.app, "gatepass": gatepass.cli.main.make_app()}


def generate() -> str:
    return "\n\n".join(part for name, app in PROGRAMS.items() for part in _program(name, app))


def _program(name: str, app: typer.Typer) -> Iterator[str]:
    command = typer.main.get_command(app)
    yield f"## {name}"
    yield _help(command)
    yield from _subcommands(name, command)


def _subcommands(name: str, command: Any) -> Iterator[str]:
    for sub in getattr(command, "commands", {}).values():
        if sub.hidden:
            continue
        whole = f"{name} {sub.name}"
        if getattr(sub, "commands", None):
            yield from _subcommands(whole, sub)
        else:
            yield from _command(whole, sub)


def _command(name: str, command: Any) -> Iterator[str]:
    options = [one for one in command.params if one.param_type_name == "option" and not getattr(one, "hidden", False)]
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    named = " ".join(_name(one) for one in arguments)
    yield f"### {name}"
    yield f"`{name} {named}`" if named else f"`{name}`"
    yield _help(command)
    rows = [(f"`{', '.join([*one.opts, *one.secondary_opts])}`", one.help or "") for one in options]
    rows += [(f"`{_name(one)}`", one.help or "") for one in arguments]
    if rows:
        yield "\n".join(["| | |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)])


def _name(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _help(command: Any) -> str:
    return inspect.cleandoc(command.help or "").replace("\f", "")
