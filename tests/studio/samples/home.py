"""What the home page's routes need to be walked."""

from tests import make


async def ids(house: make.House) -> dict[str, str]:
    return {}


FORMS = {"POST /studio/{mode}/home/try": dict[str, str]()}
# The key that it makes for itself is noted as the studio's own.
UNNOTED = {"POST /studio/{mode}/home/try"}
# Pieces of pages, for htmx.
PARTS = {"GET /studio/{mode}/home/try/webhook"}
