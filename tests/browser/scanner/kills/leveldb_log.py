"""The log of a LevelDB: records in blocks of 32 KiB, each with a checksum, its length and its kind."""

import struct
from functools import cache
from typing import Final

BLOCK: Final = 32 * 1024
HEADER: Final = struct.Struct("<IHB")
# CRC-32C, the lowest bit first; and what LevelDB adds to it.
POLYNOMIAL: Final = 0x82F63B78
MASK: Final = 0xA282EAD8
ALL_ONES: Final = 0xFFFFFFFF


def is_whole(log: bytes) -> bool:
    """Whether every record can be read. What is written behind one that cannot is lost, sooner or later."""
    at = 0
    while at < len(log):
        left = BLOCK - at % BLOCK
        if left < HEADER.size:  # the end of a block is too short for a record
            at += left
            continue
        if at + HEADER.size > len(log):
            return False
        checksum, size, kind = HEADER.unpack_from(log, at)
        record = log[at + HEADER.size : at + HEADER.size + size]
        if HEADER.size + size > left or len(record) < size or checksum != _masked(bytes([kind]) + record):
            return False
        at += HEADER.size + size
    return True


def _masked(data: bytes) -> int:
    crc, table = ALL_ONES, _table()
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= ALL_ONES
    return ((crc >> 15 | crc << 17) + MASK) & ALL_ONES


@cache
def _table() -> list[int]:
    table: list[int] = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table
