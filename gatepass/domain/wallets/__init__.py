"""Cards in the wallets of phones: passes for Apple Wallet with their update service, links for Google Wallet."""

from gatepass.domain.wallets.apple_certificate import WARN_BEFORE, AppleCertificate, WalletSettingsError
from gatepass.domain.wallets.archive import MEDIA_TYPE
from gatepass.domain.wallets.google_pass import GoogleIssuer
from gatepass.domain.wallets.identity import SERVICE
from gatepass.domain.wallets.pushes import BEGINNING, DuePush, Place, claim, compare_some, forget, put_off, told
from gatepass.domain.wallets.registrations import (
    DEVICE,
    PUSH_TOKEN,
    Changes,
    Opened,
    changes_of,
    open_pass,
    register,
    unregister,
)
from gatepass.domain.wallets.wallets import Offered, Wallets

__all__ = [
    "BEGINNING",
    "DEVICE",
    "MEDIA_TYPE",
    "PUSH_TOKEN",
    "SERVICE",
    "WARN_BEFORE",
    "AppleCertificate",
    "Changes",
    "DuePush",
    "GoogleIssuer",
    "Offered",
    "Opened",
    "Place",
    "WalletSettingsError",
    "Wallets",
    "changes_of",
    "claim",
    "compare_some",
    "forget",
    "open_pass",
    "put_off",
    "register",
    "told",
    "unregister",
]
