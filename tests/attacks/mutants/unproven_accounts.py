"""`gatepass` as it was before accounts had to be proven: a link resets nothing, and any account joins as it is."""

from typing import Any

from gatepass.cli.main import run
from gatepass.domain import staff
from gatepass.domain.staff import account, invitations
from gatepass.domain.staff.account import Removed


async def reset_nothing(*_: Any, **__: Any) -> Removed:
    return Removed(0, 0, 0, 0, 0, 0)


async def yes(*_: Any, **__: Any) -> bool:
    return True


async def no(*_: Any, **__: Any) -> bool:
    return False


account.reset = reset_nothing
staff.is_proven = yes
invitations.is_proven = yes  # pyright: ignore[reportPrivateImportUsage]
invitations.holds_anything = no  # pyright: ignore[reportPrivateImportUsage]

if __name__ == "__main__":
    run()
