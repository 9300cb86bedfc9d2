"""The desk that every command works at: who it is, a client, a printer, and the options that all commands share."""

import inspect
from collections.abc import Callable
from functools import cached_property, wraps
from types import TracebackType
from typing import Annotated, Any, Final, Self, cast

import httpx2
import typer

from gatepass_sdk import Gatepass
from gatepass_sdk.cli import profiles
from gatepass_sdk.cli.printing import Printer
from gatepass_sdk.cli.profiles import Identity
from gatepass_sdk.cli.trouble import Trouble

ProfileName = Annotated[
    str | None,
    typer.Option("--profile", "-p", metavar="NAME", help="Whose key to use.", autocompletion=profiles.names),
]
BaseUrl = Annotated[str | None, typer.Option("--base-url", metavar="URL", help="Where Gatepass is.")]
Timeout = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", min=0.1, help="How long a call may take in all.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON: one object, or one a line.")]


class Desk:
    """Nothing is looked up before it is needed: what works offline needs no key."""

    def __init__(
        self, profile: str | None, base_url: str | None, timeout: float | None = None, *, as_json: bool
    ) -> None:
        self._profile = profile
        self._base_url = base_url
        self.timeout = timeout
        self.out = Printer(as_json=as_json)
        self.last_headers: httpx2.Headers = httpx2.Headers()

    @cached_property
    def identity(self) -> Identity:
        return profiles.identity(self._profile, self._base_url)

    @cached_property
    def http(self) -> httpx2.Client:
        return httpx2.Client(event_hooks={"response": [self._note_headers]})

    @cached_property
    def client(self) -> Gatepass:
        return Gatepass(
            self.identity.api_key,
            base_url=self.identity.base_url,
            deadline=self.timeout,
            scan_deadline=self.timeout,
            http_client=self.http,
        )

    def is_alone(self, context: typer.Context) -> bool:
        """Whether a group was called without a command. Options before a command would be lost, so they are refused."""
        if context.invoked_subcommand is None:
            return True
        if self._profile or self._base_url or self.timeout or self.out.as_json:
            raise Trouble(f"Give options after the command: {context.command_path} {context.invoked_subcommand} …")
        return False

    def _note_headers(self, response: httpx2.Response) -> None:
        self.last_headers = response.headers

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if "http" in self.__dict__:
            self.http.close()


def at_desk(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options that all share, which it finds done in its first argument."""

    @wraps(command)
    def run(*, profile: str | None, base_url: str | None, timeout: float | None, as_json: bool, **own: Any) -> None:
        with Desk(profile, base_url, timeout, as_json=as_json) as desk:
            command(desk, **own)

    _, *own = inspect.signature(command).parameters.values()
    # typer reads the options from here.
    cast("Any", run).__signature__ = inspect.Signature([*own, *SHARED])
    return run


def _option(name: str, annotation: Any, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


SHARED: Final = (
    _option("profile", ProfileName, None),
    _option("base_url", BaseUrl, None),
    _option("timeout", Timeout, None),
    _option("as_json", AsJson, False),
)
