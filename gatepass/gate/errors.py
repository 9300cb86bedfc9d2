"""Refusals of the scanner's pages, in plain text: nobody but a mistyped address gets one."""

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response


async def no_such_page(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  registered for nothing else
    if error.status_code == 405:
        return PlainTextResponse("This path does not take this method.\n", 405, {"Allow": "GET, HEAD"})
    return PlainTextResponse("There is nothing at this path. The scanner is at /gate.\n", error.status_code)


def cross_site() -> Response:
    return PlainTextResponse("This request came from another site.\n", 403)
