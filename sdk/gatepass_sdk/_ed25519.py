"""Verification of Ed25519 signatures (RFC 8032, section 5.1.7) in plain Python, so that a gate needs no other package.

Verification has no secret, so it need not run in constant time. It takes a few milliseconds. It is as strict as
libsodium, which the service uses: numbers in canonical form only, no points of small order. So a token gets the same
verdict at the gate and from the service. Points are (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z.
"""

import hashlib
from typing import Final, TypeAlias

Point: TypeAlias = tuple[int, int, int, int]

P: Final = 2**255 - 19
ORDER: Final = 2**252 + 27742317777372353535851937790883648493
D: Final = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE: Final = pow(2, (P - 1) // 4, P)
NEUTRAL: Final[Point] = (0, 1, 1, 0)


def verify(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the owner of this public key signed this message."""
    if len(public_key) != 32 or len(signature) != 64:
        return False
    key, commitment = _point(public_key), _point(signature[:32])
    answer = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or answer >= ORDER or _is_small(key) or _is_small(commitment):
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + public_key + message).digest(), "little") % ORDER
    return _equal(_combined(answer, _negative(key), challenge), commitment)


def is_public_key(encoded: bytes) -> bool:
    """Whether a phone can have made this key: canonical, on the curve, and of the full prime order."""
    point = _point(encoded) if len(encoded) == 32 else None
    return point is not None and not _is_small(point) and _equal(_combined(0, point, ORDER), NEUTRAL)


def _point(encoded: bytes) -> Point | None:
    """The point with this y and this sign of x, if it is on the curve and in canonical form."""
    number = int.from_bytes(encoded, "little")
    sign, y = number >> 255, number & ((1 << 255) - 1)
    if y >= P:
        return None
    x_squared = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x_squared, (P + 3) // 8, P)
    if (x * x - x_squared) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - x_squared) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


def _add(one: Point, other: Point) -> Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c = 2 * one[3] * other[3] * D % P
    d = 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def _double(point: Point) -> Point:
    a, b = point[0] * point[0] % P, point[1] * point[1] % P
    c = 2 * point[2] * point[2] % P
    h = a + b
    e = h - (point[0] + point[1]) ** 2 % P
    g = a - b
    f = c + g
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def _negative(point: Point) -> Point:
    return (P - point[0], point[1], point[2], P - point[3])


def _combined(of_base: int, point: Point, of_point: int) -> Point:
    """of_base · BASE + of_point · point, both in one pass over the bits."""
    both = _add(BASE, point)
    total = NEUTRAL
    for bit in range(max(of_base.bit_length(), of_point.bit_length()) - 1, -1, -1):
        total = _double(total)
        match (of_base >> bit & 1, of_point >> bit & 1):
            case (1, 1):
                total = _add(total, both)
            case (1, 0):
                total = _add(total, BASE)
            case (0, 1):
                total = _add(total, point)
            case _:
                pass
    return total


def _equal(one: Point, other: Point) -> bool:
    return (one[0] * other[2] - other[0] * one[2]) % P == 0 and (one[1] * other[2] - other[1] * one[2]) % P == 0


def _is_small(point: Point) -> bool:
    """Whether its order is 1, 2, 4 or 8: such a key would accept signatures that nobody made."""
    return _equal(_double(_double(_double(point))), NEUTRAL)


def _base() -> Point:
    found = _point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
    if found is None:
        raise AssertionError
    return found


BASE: Final = _base()


def times_base(scalar: int) -> bytes:
    """The point of this scalar, encoded. Not for secrets: its time depends on the scalar."""
    x, y, z, _ = _combined(scalar, NEUTRAL, 0)
    inverse = pow(z, P - 2, P)
    return (y * inverse % P | (x * inverse % P & 1) << 255).to_bytes(32, "little")
