"""A mutator of bytes: each change is drawn from a seeded generator, so that every run can be repeated."""

import random
from collections.abc import Callable, Sequence
from typing import Final

# Bytes that parsers look for, and texts that are more than they seem.
TOKENS: Final = (
    b"\0", b"\r", b"\n", b"\r\n", b"\r\n\r\n", b" ", b"\t", b'"', b"'", b",", b";", b":", b"=", b"&", b"%", b"%00",
    b"%zz", b"/", b"..", b"{", b"}", b"[", b"]", b"\\", b"\\u0000", b"\\ud800", b"null", b"true", b"NaN", b"-1", b"0",
    b"1e999", b"9" * 40, b"\xff", b"\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf0\x9f\x98\x80", b"--",
    b"<script>", b"{{7*7}}", b"'--", b"\x7f", b"\x1b[0m", b"HTTP/1.1", b"HTTP/9.9", b"chunked", b"Content-Length: 5",
    b"Transfer-Encoding: chunked", b"\xff\xd8\xff", b"\x89PNG", b"RIFF",
)  # fmt: skip
LENGTHS: Final = (b"0", b"1", b"-1", b"+5", b"99999", b"18446744073709551616", b"0x10", b"5, 5", b" ", b"1e3", b"007")

Change = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


def mutate(rng: random.Random, data: bytes, others: Sequence[bytes], changes: Sequence[Change]) -> bytes:
    """One to four of these changes. `others` are what a splice takes its other half from."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        data = rng.choice(changes)(rng, data, others)
    return data


def flip_bits(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def insert_token(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice(TOKENS) * rng.choice((1, 1, 1, 3, 200)) + data[at:]


def overwrite(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    token, at = rng.choice(TOKENS), rng.randint(0, len(data))
    return data[:at] + token + data[at + len(token) :]


def delete_piece(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + data[at + rng.choice((1, 2, 8, 64)) :]


def repeat_piece(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at, size = rng.randint(0, len(data)), rng.choice((1, 4, 16, 64))
    return data[:at] + data[at : at + size] * rng.choice((2, 3, 50)) + data[at + size :]


def truncate(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    return data[: rng.randint(0, len(data))]


def splice(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others) if others else data
    return data[: rng.randint(0, len(data))] + other[rng.randint(0, len(other)) :]


def duplicate_line(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    lines = data.split(b"\r\n")
    at = rng.randrange(len(lines))
    return b"\r\n".join([*lines[: at + 1], *lines[at:]])


def delete_line(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    lines = data.split(b"\r\n")
    del lines[rng.randrange(len(lines))]
    return b"\r\n".join(lines)


def swap_lines(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    lines = data.split(b"\r\n")
    rng.shuffle(lines)
    return b"\r\n".join(lines)


def lie_about_length(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    before, name, rest = data.partition(b"Content-Length: ")
    if not name:
        return before.replace(b"\r\n", b"\r\nContent-Length: " + rng.choice(LENGTHS) + b"\r\n", 1)
    return before + name + rng.choice(LENGTHS) + b"\r\n" + rest.partition(b"\r\n")[2]


def lie_about_chunks(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    head, _, body = data.partition(b"\r\n\r\n")
    kept = [line for line in head.split(b"\r\n") if not line.startswith(b"Content-Length")]
    size = rng.choice(
        (b"%x" % len(body), b"0", b"ffffffffffffffff", b"-1", b"5;x=y", b"zz", b"", b"%x" % (len(body) + 7))
    )
    chunks = b"\r\n".join([size, body, b"0", rng.choice((b"", b"X-Forwarded-For: 9.9.9.9", b"\0")), b"", b""])
    return b"\r\n".join(
        [*kept, b"Transfer-Encoding: " + rng.choice((b"chunked", b"Chunked", b"x, chunked")), b"", chunks]
    )


CONTENT: Final[Sequence[Change]] = (
    flip_bits, insert_token, overwrite, delete_piece, repeat_piece, truncate, splice,
)  # fmt: skip
FRAMING: Final[Sequence[Change]] = (
    *CONTENT, duplicate_line, delete_line, swap_lines, lie_about_length, lie_about_length, lie_about_chunks,
)  # fmt: skip
