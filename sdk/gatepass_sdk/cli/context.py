"""The context of a command: identity, client, printer, and the options that all commands share."""

import inspect
from collections.abc import Callable
from functools import cached_property, wraps
from types import TracebackType
from typing import Annotated, Any, Final, Self, cast

import httpx2
import typer

from gatepass_sdk import Gatepass
from gatepass_sdk._transport import DIRECT
from gatepass_sdk.cli import profiles
from gatepass_sdk.cli.errors import CommandError, is_not_our_api, no_api_at
from gatepass_sdk.cli.output import Printer
from gatepass_sdk.cli.profiles import Identity
from gatepass_sdk.errors import APIStatusError

ProfileName = Annotated[
    str | None,
    typer.Option("--profile", "-p", metavar="NAME", help="Whose key to use.", autocompletion=profiles.names),
]
BaseUrl = Annotated[str | None, typer.Option("--base-url", metavar="URL", help="Where Gatepass is.")]
Timeout = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", min=0.1, help="How long a call may take in all.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON: one object, or one a line.")]


class Context:
    """Everything is made when it is first used, so commands that work offline need no key."""

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
        return httpx2.Client(mounts=DIRECT, event_hooks={"response": [self._note_headers]})

    @cached_property
    def client(self) -> Gatepass:
        return Gatepass(
            self.identity.api_key,
            base_url=self.identity.base_url,
            deadline=self.timeout,
            scan_deadline=self.timeout,
            http_client=self.http,
        )

    def is_without_command(self, typer_context: typer.Context) -> bool:
        """Whether a group was called without a command. Options before a command would be lost: an error."""
        if typer_context.invoked_subcommand is None:
            return True
        if self._profile or self._base_url or self.timeout or self.out.as_json:
            raise CommandError(
                f"Give options after the command: {typer_context.command_path} {typer_context.invoked_subcommand} …"
            )
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


def with_context(command: Callable[..., None]) -> Callable[..., None]:
    """Add the shared options to a command. It gets a context made of them as its first argument."""

    @wraps(command)
    def run(*, profile: str | None, base_url: str | None, timeout: float | None, as_json: bool, **own: Any) -> None:
        with Context(profile, base_url, timeout, as_json=as_json) as context:
            try:
                command(context, **own)
            except APIStatusError as error:
                if is_not_our_api(error):
                    raise no_api_at(context.identity.base_url) from None
                raise

    _, *own = inspect.signature(command).parameters.values()
    # typer reads the options from the signature.
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
