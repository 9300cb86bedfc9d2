"""A server process that is stopped closes everything, and says nothing of it."""

import signal
import subprocess
import sys

import httpx2

from tests.postgres import free_port
from tests.processes import serve


def test_a_stop_leaves_no_error_in_the_log(settings_env: dict[str, str]) -> None:
    server = serve(settings_env, free_port())
    assert httpx2.get(f"{server.url}/readyz").status_code == 200
    assert server.stop() in (0, -signal.SIGTERM)
    assert [line for line in server.lines if '"level": "error"' in line or "Traceback" in line] == []


# While the server reads from others, a request arrives and the signal to stop. The tick that looks for it is due
# before the server reads again.
BUSY = """
import asyncio, os, signal, socket, threading, time
from gatepass.base.settings import Settings
from gatepass.server.connections import Connections
from gatepass.server.run import Server, bind, run

is_busy, is_sent, (other, reading) = threading.Event(), threading.Event(), socket.socketpair()

def read_from_others():
    reading.recv(1)
    is_busy.set()
    is_sent.wait()
    time.sleep(0.2)

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        asyncio.get_running_loop().add_reader(reading, read_from_others)
        for _ in range(2):
            await send({"type": (await receive())["type"] + ".complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})

def answer(connection, meanwhile):
    connection.sendall(b"GET / HTTP/1.1\\r\\nHost: gate\\r\\n\\r\\n")
    meanwhile()
    return connection.recv(4096)[:12]

def stop():
    os.kill(os.getpid(), signal.SIGTERM)
    is_sent.set()

def call():
    connection = socket.create_connection(bound.getsockname())
    print(answer(connection, lambda: None))
    other.send(b"x")
    is_busy.wait()
    print(answer(connection, stop))

bound = bind("127.0.0.1", 0)
caller = threading.Thread(target=call)
run(Server(app, Connections.of(Settings()), caller.start, lambda: None), bound)
caller.join()
"""


def test_a_request_that_has_arrived_is_read_and_answered_before_the_server_stops() -> None:
    done = subprocess.run([sys.executable, "-c", BUSY], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout == "b'HTTP/1.1 200'\n" * 2
