"""Receivers of webhooks: one in this process with a behaviour that tests choose, and `load_receiver` as a process."""

import asyncio
import json
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
import weakref
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import trustme

TIMEOUT = 60.0


class Authority:
    """A certificate authority. `pem` is for SSL_CERT_FILE; `cert` and `key` are those of a server on loopback."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="authority-"))
        weakref.finalize(self, shutil.rmtree, self._folder)
        self._ca = trustme.CA()
        self.pem = self._path("authority.pem")
        self.cert, self.key = self._path("cert.pem"), self._path("key.pem")
        issued = self.issue("127.0.0.1", "::1", "localhost", "receiver.test")
        self._ca.cert_pem.write_to_path(self.pem)
        issued.private_key_pem.write_to_path(self.key)
        for part in issued.cert_chain_pems:
            part.write_to_path(self.cert, append=True)

    def _path(self, name: str) -> str:
        return str(self._folder / name)

    def issue(self, *names: str) -> trustme.LeafCert:
        return self._ca.issue_cert(*names)

    def server(self, *names: str) -> ssl.SSLContext:
        """For a server with these names; by default for one on loopback."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        if names:
            self.issue(*names).configure_cert(context)
        else:
            context.load_cert_chain(self.cert, self.key)
        return context

    def client(self) -> ssl.SSLContext:
        """Trusts this authority and no other."""
        return ssl.create_default_context(cafile=self.pem)


@cache
def authority() -> Authority:
    """One for all tests of a process."""
    return Authority()


@dataclass(frozen=True)
class Received:
    """`headers` by their lower-case names; `at` in seconds of the clock."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float

    def json(self) -> Any:
        return json.loads(self.body)


# The answer to a message: a status, or a function that writes bytes (and may hang, or break off).
Behaviour = Callable[[Received, asyncio.StreamWriter], Awaitable[None]]
Answer = int | Behaviour


class Receiver:
    """Keeps every message and answers with `answers`, one for each message, then with `otherwise`."""

    def __init__(self, answers: Sequence[Answer] = (), otherwise: Answer = 200) -> None:
        self.answers: deque[Answer] = deque(answers)
        self.otherwise = otherwise
        self.messages: list[Received] = []
        self.connections = 0
        self.port = 0
        self.scheme = "http"
        self._changed = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()

    def url(self, path: str = "/hook", host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"

    async def wait(self, count: int, seconds: float = TIMEOUT) -> list[Received]:
        """Wait for `count` messages; all of them."""
        await self.wait_for(lambda: len(self.messages) >= count, seconds)
        return list(self.messages)

    async def wait_for(self, predicate: Callable[[], bool], seconds: float = TIMEOUT) -> None:
        """Wait until it holds; checked after each message and each connection."""
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(predicate)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until either side ends it."""
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        try:
            self.connections += 1
            await self._notify()
            while (received := await _read(reader)) is not None:
                self.messages.append(received)
                await self._notify()
                answer = self.answers.popleft() if self.answers else self.otherwise
                await (status(answer) if isinstance(answer, int) else answer)(received, writer)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def close(self) -> None:
        """Cancel the answers that still hang."""
        for task in list(self._tasks):
            task.cancel()
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()


@asynccontextmanager
async def receiving(
    *,
    answers: Sequence[Answer] = (),
    otherwise: Answer = 200,
    tls: ssl.SSLContext | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
) -> AsyncGenerator[Receiver]:
    """A receiver in this event loop, on HTTP or with TLS."""
    receiver = Receiver(answers, otherwise)
    server = await asyncio.start_server(receiver.serve, host, port, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    receiver.scheme = "https" if tls else "http"
    try:
        yield receiver
    finally:
        server.close()
        await receiver.close()
        await server.wait_closed()


async def _read(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        line, *lines = head.rstrip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    except asyncio.IncompleteReadError:
        return None
    return Received(line.split()[1], headers, body, time.time())


def status(number: int, body: bytes = b"", delay: float = 0, **headers: str) -> Behaviour:
    """A whole answer; headers by their names with `_` for `-`."""
    lines = [f"HTTP/1.1 {number} Answer", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    written = "\r\n".join([*lines, "", ""]).encode() + body

    async def answer(_received: Received, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(delay)
        writer.write(written)
        await writer.drain()

    return answer


async def hang(_received: Received, _writer: asyncio.StreamWriter) -> None:
    """Takes the message and never answers."""
    await asyncio.Event().wait()


async def reset(_received: Received, writer: asyncio.StreamWriter) -> None:
    """Takes the message and resets the connection."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
    raise ConnectionResetError


@dataclass
class ReceiverProcess:
    """A receiver in a process of its own, for load and for tests that kill."""

    process: subprocess.Popen[str]
    port: int
    tls: Authority | None
    log: Path | None = None

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/hook"

    def count(self) -> int:
        context = self.tls.client() if self.tls else None
        with urllib.request.urlopen(self.url.replace("/hook", "/count"), context=context, timeout=TIMEOUT) as answer:
            return int(answer.read())

    def received(self) -> list[tuple[str, int, str, float]]:
        """The whole lines of the log: event, attempt, delivery, time."""
        assert self.log
        lines = [line.split() for line in self.log.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return [(event, int(attempt), delivery, float(at)) for event, attempt, delivery, at in lines]

    def stop(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)
        if self.process.stdout:
            self.process.stdout.close()


@contextmanager
def receiver_process(
    *, tls: Authority | None = None, log: Path | None = None, port: int = 0, options: Sequence[str] = ()
) -> Generator[ReceiverProcess]:
    """`options` are those of the command line: --status, --delay, --hang."""
    command = [sys.executable, "-m", "tests.load_receiver", "--port", str(port), *options]
    command += ["--tls", tls.cert, tls.key] if tls else []
    command += ["--log", str(log)] if log else []
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1])
    assert process.stdout
    receiver = ReceiverProcess(process, int(process.stdout.readline() or "0"), tls, log)
    try:
        yield receiver
    finally:
        receiver.stop()
