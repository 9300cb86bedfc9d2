"""One PDF of many parts, each drawn alone: memory does not grow with the file, and a killed worker loses one part.

A part is a whole document of fpdf2. Its objects get the numbers that follow those of the part before; its tree of pages
becomes a branch of the tree of the file, which the end writes together with the table of offsets. Nothing that a person
typed stands outside of a stream, so that references can be found and renumbered by their form alone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

HEADER: Final = b"%PDF-1.4\n%\xc7\xec\x8f\xa2\n"
# The catalogue and the root of the pages stand at the end of the file, and have the first numbers.
CATALOGUE, ROOT = 1, 2
FIRST_OBJECT: Final = 3

REFERENCE: Final = re.compile(rb"(?<![\w.])(\d{1,9}) 0 R\b")
TABLE: Final = re.compile(rb"xref\n0 (\d+)\n")
ENTRY_BYTES: Final = 20
PAGES_OF_PART: Final = b"/Type /Pages"
# In the trailer: the catalogue and the description of a document.
HEADS: Final = re.compile(rb"/(?:Root|Info) (\d+) 0 R")


class UnknownForm(Exception):  # noqa: N818  a fault of ours: another version of fpdf2 writes otherwise
    """This document is not as fpdf2 writes it."""


@dataclass(frozen=True, slots=True)
class PdfPart:
    """`offsets` are those of its objects, from the beginning of the part. Its first object is its branch of pages."""

    content: bytes
    offsets: list[int]
    pages: int


def beginning() -> bytes:
    return HEADER


def part_of(document: bytes, first: int) -> PdfPart:
    """The objects of a document, numbered from `first` on, without its catalogue and its description."""
    objects = _objects(document)
    tree = next((number for number, body in objects.items() if PAGES_OF_PART in body), None)
    left_out = {int(number) for number in HEADS.findall(document, document.rfind(b"\ntrailer\n"))}
    if tree is None or len(left_out) != 2:
        raise UnknownForm
    kept = [tree, *(number for number in objects if number != tree and number not in left_out)]
    numbers = {number: first + place for place, number in enumerate(kept)}
    content, offsets = bytearray(), list[int]()
    for number in kept:
        body = _renumbered(objects[number], numbers)
        if number == tree:
            body = body.replace(PAGES_OF_PART, PAGES_OF_PART + b"\n/Parent %d 0 R" % ROOT, 1)
        offsets.append(len(content))
        content += b"%d 0 obj\n%sendobj\n" % (numbers[number], body)
    count = re.search(rb"/Count (\d+)", objects[tree])
    if count is None:
        raise UnknownForm
    return PdfPart(bytes(content), offsets, int(count[1]))


def ending(branches: Sequence[tuple[int, int]], offsets: Sequence[int], size: int, title: str) -> bytes:
    """The end of a file that has `size` bytes so far.

    `branches` are the first object and the number of pages of each part, `offsets` those of the objects of all parts.
    """
    kids = b" ".join(b"%d 0 R" % first for first, _ in branches)
    count = sum(pages for _, pages in branches)
    heads = [
        b"%d 0 obj\n<<\n/Type /Catalog\n/Pages %d 0 R\n>>\nendobj\n" % (CATALOGUE, ROOT),
        b"%d 0 obj\n<<\n/Type /Pages\n/Count %d\n/Kids [%s]\n>>\nendobj\n" % (ROOT, count, kids),
    ]
    info = FIRST_OBJECT + len(offsets)
    description = b"%d 0 obj\n<<\n/Title <%s>\n>>\nendobj\n" % (
        info,
        ("\ufeff" + title).encode("utf-16-be").hex().encode(),
    )
    own = [size, size + len(heads[0])]
    table_at = size + sum(map(len, heads)) + len(description)
    lines = [b"%010d 00000 n \n" % offset for offset in (*own, *offsets, table_at - len(description))]
    table = b"xref\n0 %d\n0000000000 65535 f \n" % (info + 1) + b"".join(lines)
    trailer = b"trailer\n<<\n/Size %d\n/Root %d 0 R\n/Info %d 0 R\n>>\nstartxref\n%d\n%%%%EOF\n"
    return b"".join(heads) + description + table + trailer % (info + 1, CATALOGUE, info, table_at)


def _objects(document: bytes) -> dict[int, bytes]:
    """The body of each object by its number: what stands between `obj` and `endobj`."""
    start = document.rfind(b"startxref\n")
    at = int(document[start + len(b"startxref\n") :].split(b"\n", 1)[0]) if start >= 0 else -1
    table = TABLE.match(document, at) if at >= 0 else None
    if table is None:
        raise UnknownForm
    count = int(table[1])
    entries = [table.end() + ENTRY_BYTES * number for number in range(1, count)]
    places = [int(document[entry : entry + 10]) for entry in entries]
    in_order = sorted(places)
    ends = dict(zip(in_order, [*in_order[1:], at], strict=True))
    found: dict[int, bytes] = {}
    for number, place in enumerate(places, 1):
        head = b"%d 0 obj\n" % number
        whole = document[place : ends[place]]
        last = whole.rfind(b"endobj")
        if not whole.startswith(head) or last < 0:
            raise UnknownForm
        found[number] = whole[len(head) : last]
    return found


def _renumbered(body: bytes, numbers: dict[int, int]) -> bytes:
    """A body with other numbers in its references. What is in a stream stays."""
    dictionary, stream, rest = body.partition(b"\nstream\n")
    return REFERENCE.sub(lambda found: b"%d 0 R" % numbers[int(found[1])], dictionary) + stream + rest
