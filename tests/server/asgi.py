"""Calls of an application without a server."""

import asyncio

import httpx2


class TaskTransport(httpx2.ASGITransport):
    """Each call has a task of its own, as in a server: its context, with its deadline, ends with it."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return await asyncio.create_task(super().handle_async_request(request))
