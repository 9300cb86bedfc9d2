"""`gatepass-cli gate status`, `upload` and `retire`."""

from typing import Annotated

import typer

from gatepass_sdk.cli.context import AsJson
from gatepass_sdk.cli.errors import ExitCode, sentence
from gatepass_sdk.cli.gate.options import Directory, KeyFile, directory_of, opened
from gatepass_sdk.cli.output import Printer, note
from gatepass_sdk.gate import Gate, GateStatus, Uploaded


def status(*, directory: Directory = None, key_file: KeyFile = None, as_json: AsJson = False) -> None:
    """Print what this gate is, what waits for its upload, and how old its manifest is. Also while it runs."""
    out, found = Printer(as_json=as_json), Gate.status_of(directory_of(directory), key_file=key_file)
    fields = _status_fields(found)
    if as_json:
        rejected = [{"sequence": one.sequence, "code": one.code} for one in found.rejected]
        out.data({**fields, "rejected": rejected})
        return
    out.fields(fields)
    for one in found.rejected:
        out.line(f"Entry {one.sequence} of {one.occurred_at:%Y-%m-%d %H:%M:%S}Z was rejected: {one.code}.", "red")


def upload(
    *,
    again: Annotated[bool, typer.Option("--again", help="Also what the service has rejected before.")] = False,
    directory: Directory = None,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Upload what this gate decided without the service. A gate that runs does so by itself."""
    with opened(directory, key_file) as gate:
        _print(gate.upload(again=again), Printer(as_json=as_json))


def retire(*, directory: Directory = None, key_file: KeyFile = None, as_json: AsJson = False) -> None:
    """Admit nobody any more: delete the manifest, and upload what waits. Retire it in the studio too."""
    with opened(directory, key_file) as gate:
        _print(gate.retire(), Printer(as_json=as_json))


def _print(done: Uploaded, out: Printer) -> None:
    counts = {"activated": done.activated, "recorded": done.recorded, "rejected": done.rejected}
    counts |= {"incidents": done.incidents, "waiting": done.waiting}
    if out.as_json:
        out.data({**counts, "missing": done.missing})
    else:
        out.line(", ".join(f"{count:,} {name}" for name, count in counts.items()))
        for first, last in done.missing:
            note(f"The service has no entries {first} to {last} of this gate.")
    if done.stopped_by is not None:
        note(f"{sentence(done.stopped_by)} The rest stays: run it again.")
    if done.waiting:
        raise typer.Exit(ExitCode.NO_ANSWER)


def _status_fields(found: GateStatus) -> dict[str, object]:
    device = found.device
    known: dict[str, object] = {"status": "not paired"}
    if device is not None:
        known = {"device_id": device.id, "name": device.name, "event_id": device.event_id, "gate": device.gate}
        known |= {"status": device.status}
    return {
        **known,
        "waiting": found.waiting,
        "last_sequence": found.last_sequence,
        "clock_ahead_seconds": round(found.clock_offset.total_seconds(), 1),
        "manifest_issued_at": found.manifest_issued_at,
        "manifest_expires_at": found.manifest_expires_at,
        "cards": found.cards,
    }
