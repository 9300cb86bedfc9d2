"""CSV files that are made to cost, each a short text that is repeated to any size."""

from dataclasses import dataclass

SIZE = 60_000
HEAD = b"name,note\n"


@dataclass(frozen=True)
class Bomb:
    """`unit` is repeated to any size. `told` is part of the answer, or empty if the file is taken."""

    unit: bytes
    told: str = ""
    head: bytes = HEAD
    foot: bytes = b""

    def content(self, size: int = SIZE) -> bytes:
        return self.head + self.unit * (size // len(self.unit)) + self.foot


LONG = "longer than 10 KB"
NOT_TEXT = "neither UTF-8"
BOMBS = {
    "an open quote and many lines": Bomb(b"x\n", LONG, HEAD + b'"'),
    "an open quote and no line": Bomb(b"x", LONG, HEAD + b'"'),
    "an open quote in the last line": Bomb(b"x,y\n", "never closed", HEAD, b'"x,y'),
    "rows of the longest quoted cell": Bomb(b'"' + b"\nx" * 5_000 + b'"\n'),
    "rows of many quoted lines": Bomb(b'"\n"\n'),
    "rows of nine quotes": Bomb(b'"\n' * 9, "never closed"),
    "quotes within cells": Bomb(b'x"""\n'),
    "runs of quotes": Bomb(b'"' * 9_998 + b"\n"),
    "runs of an odd number of quotes": Bomb(b'"' * 9_999 + b"\n", LONG),
    "a run of quotes without a line end": Bomb(b'"', LONG),
    "quotes and commas": Bomb(b'"",' * 3_000 + b"x\n"),
    "a quote behind each comma": Bomb(b',"', LONG),
    "rows of one character": Bomb(b"1\n"),
    "empty lines": Bomb(b"\n", "nothing below"),
    "lines of commas only": Bomb(b",\n", "nothing below"),
    "a row of a million columns": Bomb(b",", LONG),
    "rows of ten thousand columns": Bomb(b"," * 10_000 + b"x\n"),
    "a heading of a million columns": Bomb(b"a,", LONG, b""),
    "a heading of fifty-one columns": Bomb(b"1\n", "more than 50 columns", b"a," * 50 + b"a\n"),
    "a heading of quotes": Bomb(b'""', LONG, b""),
    "NUL everywhere": Bomb(b"\0", LONG),
    "NUL in each cell": Bomb(b"\0,\0\n"),
    "NUL in the heading": Bomb(b"1,2\n", "", b"na\0me,note\n"),
    "carriage returns only": Bomb(b"x,y\r"),
    "mixed line ends": Bomb(b"x,y\r\nx,y\rx,y\n\r"),
    "line separators of Unicode": Bomb("x\u2028y\u2029z\x85\n".encode()),
    "vertical tabs and form feeds": Bomb(b"x\v\f\x1c\x1d\n"),
    "UTF-16 little": Bomb("x,y\n".encode("utf-16-le"), NOT_TEXT, b"\xff\xfe"),
    "UTF-16 big": Bomb("x,y\n".encode("utf-16-be"), NOT_TEXT, b"\xfe\xff"),
    "UTF-16 without a mark": Bomb("x,y\n".encode("utf-16-le"), "", "name\n".encode("utf-16-le")),
    "UTF-32": Bomb("x,y\n".encode("utf-32-le"), NOT_TEXT, b"\xff\xfe\0\0"),
    "a lone surrogate": Bomb(b"\xed\xa0\x80\n"),
    "a long form of a slash": Bomb(b"\xc0\xaf\n"),
    "a character beyond Unicode": Bomb(b"\xf4\x90\x80\x80\n", NOT_TEXT),
    "a character that is cut off": Bomb(b"x,y\n", "", HEAD + b"\xe2\x82\n"),
    "many byte order marks": Bomb(b"\xef\xbb\xbfx\n", "", b"\xef\xbb\xbf\xef\xbb\xbf" + HEAD),
    "one giant cell": Bomb(b"x", LONG),
    "a giant cell of emoji": Bomb("\U0001f600".encode(), LONG),
    "combining characters": Bomb("e\u0301\u0302\u0303\n".encode()),
    "all delimiters at once": Bomb(b"a,b;c\td\n"),
    "delimiters in the heading only": Bomb(b"x\n", "", b"a;b\tc,d;\t\n"),
    "quoted delimiters in the heading": Bomb(b"x;y\n", "", b'",,,,,,,";b\n'),
    "formulas": Bomb(b'=1;\'=2,"\t@3"\n'),
    "apostrophes before signs": Bomb(b"'" * 4_000 + b"=1\n"),
    "separators that might begin a cell": Bomb(b"';" * 2_000 + b"=1\n"),
}
