"""The least that a scan's answer needs of ASGI: read the body, send an answer. It imports nothing of ours."""

from typing import Any

BODY = b'{"data":{"ticket_id":"019a9f2c-0000-7000-8000-000000000000","tier":"standard","category_name":"Standing"}}'
HEADERS = [
    (b"content-length", b"%d" % len(BODY)),
    (b"content-type", b"application/json"),
    (b"x-request-id", b"req_019a9f2c00007000800000000000abcd"),
    (b"ratelimit", b'"scan";r=199;t=1'),
    (b"ratelimit-policy", b'"scan";q=200;w=1'),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
]


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    while (await receive()).get("more_body", False):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": list(HEADERS)})
    await send({"type": "http.response.body", "body": BODY})
