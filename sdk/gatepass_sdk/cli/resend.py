"""`gatepass-cli resend`: after a restore, send again what gates have stored and the service has lost."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from gatepass_sdk.cli.arguments import moment
from gatepass_sdk.cli.context import Context, with_context
from gatepass_sdk.cli.errors import ExitCode, code_of, sentence
from gatepass_sdk.cli.output import note
from gatepass_sdk.queue import Resent, Verdict, resend_scans

HEADS: Final = ("what", "card", "event", "gate", "scanner", "occurred", "code", "details")


@with_context
def resend(
    context: Context,
    *,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="The files of all gates' queues.")
    ],
    since: Annotated[
        str, typer.Option("--since", metavar="TIME", help="To when the service was restored: a time, or 2h for ago.")
    ],
) -> None:
    """Send activations again that a restored service has lost.

    Give the files of all gates at once, before any gate scans again: then every ticket has the same winner as before.
    It may be run again. It prints what needs a person: conflicts, refusals, and activations whose file is missing.
    """
    after = moment(since, "--since")
    assert after is not None  # noqa: S101  it is required
    result = resend_scans(files, context.client, since=after)
    _print(context, result)
    raise typer.Exit(_exit_code(result))


def _print(context: Context, result: Resent) -> None:
    kinds = {"conflict": result.conflicts, "refused": result.refused, "missing": result.missing}
    if context.out.as_json:
        found = {what: [_fields(one) for one in verdicts] for what, verdicts in kinds.items()}
        counts = {"restored": result.restored, "present": result.present, "unanswered": result.unanswered}
        context.out.data({**counts, **found})
    else:
        rows = [_row(what, one) for what, verdicts in kinds.items() for one in verdicts]
        if rows:
            context.out.table(HEADS, rows, "")
        context.out.line(f"{result.restored:,} activations were lost and are restored, {result.present:,} were there.")
    if result.unanswered:
        reason = f" {sentence(result.stopped_by)}" if result.stopped_by else ""
        note(f"{result.unanswered:,} activations were not answered: run it again.{reason}")


def _row(what: str, one: Verdict) -> Sequence[object]:
    details = [f"{name}={value}" for name, value in one.details.items()]
    return (what, one.card, one.event_id, one.gate, one.scanner_id, one.occurred_at, one.code, details)


def _fields(one: Verdict) -> dict[str, Any]:
    return {
        "card_number": one.card,
        "event_id": one.event_id,
        "gate": one.gate,
        "scanner_id": one.scanner_id,
        "occurred_at": one.occurred_at.isoformat(),
        "idempotency_key": one.idempotency_key,
        "code": one.code,
        "details": dict(one.details),
    }


def _exit_code(result: Resent) -> ExitCode:
    if result.stopped_by is not None:
        return code_of(result.stopped_by)
    if result.unanswered:
        return ExitCode.NO_ANSWER
    return ExitCode.DONE if result.is_complete else ExitCode.REFUSED
