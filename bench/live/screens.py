"""Screens with the live page of an event: each reads its stream and prints the figure that it shows, and when.

python -m bench.live.screens URL COOKIE COUNT > shown.txt        a line for each change: screen, Unix time, activated
"""

import asyncio
import re
import sys
import time
from urllib.parse import urlsplit

from gatepass.studio.web import cookies

SHOWN = re.compile(rb'data-figure=\\"activated\\">([0-9,]+)<')
LARGEST_MESSAGE = 2**20


async def screen(number: int, url: str, cookie: str) -> None:
    target = urlsplit(url)
    reader, writer = await asyncio.open_connection(target.hostname, target.port, limit=LARGEST_MESSAGE)
    lines = (f"GET {target.path} HTTP/1.1", f"Host: {target.netloc}", f"Cookie: {cookies.SESSION}={cookie}", "", "")
    writer.write("\r\n".join(lines).encode())
    status = await reader.readline()
    if b" 200 " not in status:
        sys.exit(f"a stream did not open: {status.decode()}")
    while line := await reader.readline():
        found = SHOWN.search(line)
        if found:
            print(number, f"{time.time():.4f}", found[1].decode().replace(",", ""), flush=True)


async def screens(url: str, cookie: str, count: int) -> None:
    await asyncio.gather(*(screen(number, url, cookie) for number in range(count)))


if __name__ == "__main__":
    asyncio.run(screens(sys.argv[1], sys.argv[2], int(sys.argv[3])))
