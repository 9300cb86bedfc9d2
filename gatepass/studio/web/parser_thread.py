"""The parser thread: large input is parsed beside the event loop, a small piece at a time.

Scans share the interpreter lock with it. They wait for one piece at most, whoever uploads how many files: there is one
thread, and every upload queues for each of its pieces.
"""

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

T = TypeVar("T")

# The worst content of this size takes 3 ms: lines of one character, or parts of a form that hold nothing.
PIECE: Final = 4 * 1024
THREAD: Final = ThreadPoolExecutor(1, thread_name_prefix="parser")


async def parse(work: Callable[[bytes], T], piece: bytes) -> T:
    """The result of `work` for one of the `pieces`."""
    return await asyncio.get_running_loop().run_in_executor(THREAD, work, piece)


def pieces(content: bytes) -> Generator[bytes]:
    return (content[at : at + PIECE] for at in range(0, len(content), PIECE))
