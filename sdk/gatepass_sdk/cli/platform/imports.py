"""`gatepass-cli import`: a file of guests becomes tickets. It can be interrupted, and run again."""

import csv
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from gatepass_sdk import Event, GatepassError, NewTicket, TicketResult
from gatepass_sdk.cli.context import Context, with_context
from gatepass_sdk.cli.errors import CommandError, ExitCode
from gatepass_sdk.cli.output import note
from gatepass_sdk.cli.platform.holders import holder_of
from gatepass_sdk.cli.platform.tickets import category_of
from gatepass_sdk.cli.progress import bar

COLUMNS: Final = ("external_id", "name", "email", "locale", "category", "card_number")


@with_context
def import_tickets(
    context: Context,
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="A CSV file in UTF-8.")],
    event: Annotated[str, typer.Option("--event", "-e", metavar="ID", help="The event.")],
    category: Annotated[
        str | None, typer.Option("--category", "-c", metavar="NAME", help="For rows that have none: a name or an id.")
    ] = None,
) -> None:
    """Issue a ticket for each row of a CSV file.

    Its first line names the columns: external_id, and name, email, locale, category or card_number. If it is
    interrupted, run it again: a row whose external_id has its ticket gets no second one.
    """
    total = sum(1 for _ in _rows(file))
    rows = _Rows(file, context.client.events.retrieve(event), category)
    report = _Report(context)
    try:
        with bar("Importing", total) as advance:
            for wanted, result in context.client.tickets.create_all(rows.requests(report)):
                report.add(rows.numbers.popleft(), wanted.get("external_id"), result)
                advance(report.count)
    except GatepassError:
        note(f"{report.count:,} of {total:,} rows are done. Run it again: no row is issued twice.")
        raise
    report.end()


class _Report:
    """Prints the rows that were refused, and counts the others. With `--json` it prints every row."""

    def __init__(self, context: Context) -> None:
        self._out = context.out
        self._new = self._known = self._refused = 0

    @property
    def count(self) -> int:
        return self._new + self._known + self._refused

    def add(self, row: int, external_id: str | None, result: TicketResult) -> None:
        if result.data is None:
            self.refuse(row, external_id, result.error or "", code=result.code, param=result.param)
            return
        self._new, self._known = self._new + (result.status == 201), self._known + (result.status != 201)
        if self._out.as_json:
            self._out.data({"row": row, "external_id": external_id, "status": result.status, "ticket": result.data.raw})

    def refuse(self, row: int, external_id: str | None, sentence: str, **known: Any) -> None:
        self._refused += 1
        if self._out.as_json:
            self._out.data({"row": row, "external_id": external_id, "error": sentence, **known})
        else:
            self._out.line(f"row {row}  {external_id or '-'}  {sentence}", "red")

    def end(self) -> None:
        if self._out.as_json:
            self._out.data({"issued": self._new, "already_issued": self._known, "refused": self._refused})
        else:
            known = f", {self._known:,} were there already" if self._known else ""
            refused = f", {self._refused:,} rows were refused" if self._refused else ""
            self._out.line(f"{self._new:,} tickets were issued{known}{refused}.")
        raise typer.Exit(ExitCode.REFUSED if self._refused else ExitCode.DONE)


class _Rows:
    """The rows of the file as requests. `numbers` are those of the rows whose result is to come."""

    def __init__(self, file: Path, event: Event, category: str | None) -> None:
        self._file = file
        self._event = event
        self._category = category
        self.numbers: deque[int] = deque()

    def requests(self, report: _Report) -> Iterator[NewTicket]:
        for number, row in _rows(self._file):
            category = row.get("category") or self._category
            category_id = category_of(self._event, category) if category else None
            if not row.get("external_id"):
                report.refuse(number, None, "It has no external_id, by which an import can be run again.")
            elif category_id is None:
                sentence = f"The event has no category {category!r}." if category else "It has no category."
                report.refuse(number, row["external_id"], sentence, param="category")
            else:
                self.numbers.append(number)
                yield self._request(row, category_id)

    def _request(self, row: dict[str, str], category_id: str) -> NewTicket:
        wanted = NewTicket(event_id=self._event.id, category_id=category_id, external_id=row["external_id"])
        if row.get("card_number"):
            wanted["card_number"] = row["card_number"]
        else:
            holder = holder_of(row.get("name") or None, row.get("email") or None, row.get("locale") or None)
            wanted["holder"] = holder or {}
        return wanted


def _rows(file: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row that is not empty with the number of its line, by the names of its columns."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as text:
            head = text.readline()
            names = [name.strip().casefold() for name in next(csv.reader([head], delimiter=_separator(head)), [])]
            if "external_id" not in names:
                known = ", ".join(COLUMNS)
                raise CommandError(f"The first line of {file} names the columns, external_id among them: {known}.")
            lines = csv.reader(text, delimiter=_separator(head))
            for values in lines:
                if any(value.strip() for value in values):
                    row = zip(names, (value.strip() for value in values), strict=False)
                    yield lines.line_num + 1, dict(row)
    except UnicodeDecodeError:
        raise CommandError(f"{file} is not in UTF-8. Save it as CSV UTF-8.") from None
    except csv.Error as error:
        raise CommandError(f"{file} cannot be read as CSV: {error}.") from None


def _separator(head: str) -> str:
    """Spreadsheets of many countries write a semicolon."""
    return max(",;\t", key=head.count)
