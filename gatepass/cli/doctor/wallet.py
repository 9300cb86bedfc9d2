"""The findings about wallets: whether their certificates and keys are good, and for how long."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from gatepass.base.settings import Settings
from gatepass.cli.doctor.report import Finding
from gatepass.domain.wallets import Wallets, WalletSettingsError

RENEW: Final = "Renew it in Apple's developer account, replace the files and restart: docs/operate/wallets.md."


def of_wallets(settings: Settings, at: datetime) -> Iterator[Finding]:
    """Nothing, if no wallet is set up."""
    try:
        wallets = Wallets.of(settings)
    except WalletSettingsError as error:
        yield Finding(False, str(error))
        return
    if wallets.apple is not None:
        ends_at = wallets.apple.ends_at
        if not wallets.apple.is_valid(at):
            yield Finding(False, f"The certificate for Apple Wallet ended on {ends_at:%Y-%m-%d}.", RENEW)
        elif wallets.apple.is_ending(at):
            days = (ends_at - at).days
            line = f"The certificate for Apple Wallet ends in {days} days, on {ends_at:%Y-%m-%d}."
            yield Finding(True, line, RENEW, is_warning=True)
        else:
            yield Finding(True, f"Cards are offered for Apple Wallet; the certificate ends on {ends_at:%Y-%m-%d}.")
    if wallets.google is not None:
        yield Finding(True, "Cards are offered for Google Wallet.")
