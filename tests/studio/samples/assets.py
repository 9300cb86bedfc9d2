"""What the shell's own routes need to be walked."""

from tests import make


async def ids(house: make.House) -> dict[str, str]:
    return {"name": "studio.css"}


FORMS = {}
UNNOTED = set[str]()
DOWNLOADS = set[str]()
