"""/livez: the process answers. /readyz: it can serve, because the database does and has our schema."""

from fastapi import APIRouter
from starlette.responses import JSONResponse

from gatepass.api.admission import House
from gatepass.base.refusals import Overloaded, Unavailable
from gatepass.domain import schema
from gatepass.migrations import runner

router = APIRouter(include_in_schema=False)


@router.get("/livez")
async def livez() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(house: House) -> JSONResponse:
    try:
        async with house.db.reading() as tx:
            installed = await schema.installed(tx)
    except (Unavailable, Overloaded):
        return JSONResponse({"status": "unavailable", "reason": "PostgreSQL does not answer."}, 503)
    if installed != runner.head():
        return JSONResponse({"status": "unavailable", "reason": "The database needs `gatepass migrate`."}, 503)
    return JSONResponse({"status": "ok"})
