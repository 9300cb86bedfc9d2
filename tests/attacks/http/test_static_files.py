"""Paths: out of the folders that are served, into the ones that are not."""

import asyncio

import pytest

from tests.processes import GatepassProcess

PATHS = [
    "/studio/static/../app.py",
    "/studio/static/%2e%2e/app.py",
    "/studio/static/..%2fapp.py",
    "/studio/static/%2e%2e%2f%2e%2e%2fpyproject.toml",
    "/studio/static/....//app.py",
    "/studio/static/..\\app.py",
    "/studio/static/%5c..%5capp.py",
    "/studio/static//etc/passwd",
    "/studio/static/%2fetc%2fpasswd",
    "/studio/static/studio.css%00.png",
    "/studio/static/studio.css/",
    "/studio/static/.",
    "/studio/static/",
    "/studio/static/%252e%252e/app.py",
    "/studio/static/fonts/../../app.py",
    "/studio/docs/../app.py",
    "/studio/docs/%2e%2e%2fpyproject.toml",
    "/studio/docs/..%2f..%2f.env",
    "/covers/../studio/app.py",
    "/covers/%2e%2e/%2e%2e/etc/passwd",
    "/covers/x",
    "/docs/../app.py",
    "/docs/%2e%2e/app.py",
    "/.env",
    "/.git/config",
    "/metrics",
    "/debug",
    "/openapi.json/../../../etc/passwd",
    "/api/public/v1/../../../studio/live/home",
    "/studio/static/studio.css?/../../app.py",
    "/studio;/static/../app.py",
]


async def answer_to(server: GatepassProcess, path: str) -> bytes:
    """The answer to a path as it stands: a client library would tidy it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        return await asyncio.wait_for(reader.read(), 60)
    finally:
        writer.close()


@pytest.mark.parametrize("path", PATHS)
async def test_no_file_that_is_not_public(server: GatepassProcess, path: str) -> None:
    answer = await answer_to(server, path)
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split(b" ")[1])
    assert status in ((200,) if "css?" in path else (303, 307, 400, 401, 404)), answer[:300]
    for inside in (b"import ", b"root:", b"[project]", b"GATEPASS_", b"[core]", b"# HELP"):
        assert inside not in body
