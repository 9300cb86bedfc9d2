"""Both doors say how they are. /livez: the process answers. /readyz: so does the database, and its schema serves us.

During an upgrade the database is ahead of the processes that are still to be restarted. They run on it, and say so:
a proxy that goes by /readyz must not take them all out at once.
"""

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse

from gatepass.base.database import Database
from gatepass.base.refusals import Overloaded, Unavailable
from gatepass.domain import schema
from gatepass.migrations.head import head, is_ahead

router = APIRouter(include_in_schema=False)


@router.get("/livez")
async def livez() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(request: Request) -> JSONResponse:
    db: Database = request.app.state.db
    try:
        async with db.reading() as tx:
            installed = await schema.installed(tx)
    except (Unavailable, Overloaded):
        return JSONResponse({"status": "unavailable", "reason": "PostgreSQL does not answer."}, 503)
    state = request.app.state
    # Schemas only go forward: whoever has met their own will not meet one that is older.
    state.has_met_its_schema = installed == head() or getattr(state, "has_met_its_schema", False)
    if not state.has_met_its_schema and not is_ahead(installed):
        return JSONResponse({"status": "unavailable", "reason": "The database needs `gatepass migrate`."}, 503)
    return JSONResponse({"status": "ok"})
