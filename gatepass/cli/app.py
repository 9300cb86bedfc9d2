"""A group of commands whose help shows the type of an option only if the option takes a value."""

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> Any:
        return _without_types_of_flags(super().get_params(ctx))


class _Group(TyperGroup):
    def get_params(self, ctx: Any) -> Any:
        return _without_types_of_flags(super().get_params(ctx))


class App(typer.Typer):
    """As typer's own, with `-h`, and no `<bool>` behind a flag."""

    def __init__(self, name: str, **more: Any) -> None:
        super().__init__(name=name, cls=_Group, no_args_is_help=True, **more)

    def command(self, *arguments: Any, **more: Any) -> Any:
        return super().command(*arguments, **{"cls": _Command, **more})


def _without_types_of_flags(params: list[Any]) -> list[Any]:
    for param in params:
        if isinstance(param, TyperOption) and param.is_flag and param.metavar is None:
            param.metavar = ""
    return params
