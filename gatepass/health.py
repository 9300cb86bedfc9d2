"""Both doors say how they are. /livez: the process answers. /readyz: so does the database, and it has our schema."""

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse

from gatepass.base.database import Database
from gatepass.base.refusals import Overloaded, Unavailable
from gatepass.domain import schema
from gatepass.migrations.head import head

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
    if installed != head():
        return JSONResponse({"status": "unavailable", "reason": "The database needs `gatepass migrate`."}, 503)
    return JSONResponse({"status": "ok"})
