"""Errors of a command: a sentence for people, and an exit code for scripts."""

import json
import sys
from enum import IntEnum
from typing import Any

from gatepass_sdk.errors import (
    APIConnectionError,
    APIStatusError,
    AuthenticationError,
    BadRequest,
    ConfigurationError,
    GatepassError,
    PermissionDenied,
    RateLimited,
    ServerError,
)


class ExitCode(IntEnum):
    """These numbers are an interface: scripts compare with them."""

    DONE = 0
    REFUSED = 1
    WRONG_USAGE = 2
    KEY = 3
    NO_ANSWER = 4
    SERVICE = 5


EXIT_CODES = """Exit codes: 0 done; 1 refused by a rule (used, expired, revoked, not found, not valid);
2 wrong usage; 3 no key, a wrong key, or one without the scope; 4 no answer, so the outcome may be unknown;
5 the service has a fault or is too busy. Of several cards the highest counts."""


class CommandError(Exception):
    def __init__(self, message: str, code: ExitCode = ExitCode.WRONG_USAGE) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


def is_not_our_api(error: GatepassError) -> bool:
    """Whether the path of a call is unknown where the base URL leads: it is no answer about a card."""
    return isinstance(error, APIStatusError) and error.code in ("not_found", "method_not_allowed")


def no_api_at(base_url: str) -> CommandError:
    return CommandError(
        f"There is no Gatepass API at {base_url}. Check --base-url or GATEPASS_BASE_URL: it ends with /api/public/v1."
    )


def code_of(error: GatepassError) -> ExitCode:
    """The exit code of this error."""
    if isinstance(error, APIConnectionError) or error.outcome_unknown:
        return ExitCode.NO_ANSWER
    if isinstance(error, AuthenticationError | PermissionDenied | ConfigurationError):
        return ExitCode.KEY
    if isinstance(error, ServerError | RateLimited):
        return ExitCode.SERVICE
    if is_not_our_api(error) or (isinstance(error, BadRequest) and error.code == "invalid_request"):
        return ExitCode.WRONG_USAGE
    return ExitCode.REFUSED


def error_fields(error: GatepassError) -> dict[str, Any]:
    """The fields of an error, for `--json`."""
    known: dict[str, Any] = {"error": error.message}
    if isinstance(error, APIStatusError):
        known |= {"code": error.code, "status": error.status, "request_id": error.request_id}
        known |= {"param": error.param} if error.param else {}
        known |= {"details": dict(error.details)} if error.details else {}
    if error.idempotency_key is not None:
        known |= {"idempotency_key": error.idempotency_key, "outcome_unknown": error.outcome_unknown}
    return known


def sentence(error: GatepassError) -> str:
    """The error as a sentence, with the request id that support needs."""
    named = error.request_id if isinstance(error, APIStatusError) else None
    return f"{error.message} ({named})" if named else error.message


def print_error(error: CommandError | GatepassError, *, as_json: bool) -> ExitCode:
    """Print the error to stderr. Returns its exit code."""
    if isinstance(error, CommandError):
        code, text, known = error.code, error.message, {"error": error.message}
    else:
        code, text, known = code_of(error), sentence(error), error_fields(error)
    print(json.dumps({**known, "exit_code": code}) if as_json else text, file=sys.stderr)
    return code
