"""The service's short name on the wire. It is written here and nowhere else."""

from typing import Final

SHORT: Final = "svc"

LIVE_KEY_PREFIX: Final = f"{SHORT}_live_"
SANDBOX_KEY_PREFIX: Final = f"{SHORT}_test_"
TOKEN_PREFIX: Final = f"{SHORT.upper()}1"
PHONE_CODE_PREFIX: Final = f"{SHORT.upper()}2"
CARD_PREFIX: Final = SHORT.upper()
SHOULD_RETRY_HEADER: Final = f"x-{SHORT}-should-retry"
EVENT_HEADER: Final = f"x-{SHORT}-event"
SIGNATURE_HEADER: Final = f"x-{SHORT}-signature"
NEXT_SIGNATURE_HEADER: Final = f"{SIGNATURE_HEADER}-next"
DELIVERY_HEADER: Final = f"x-{SHORT}-delivery"
ATTEMPT_HEADER: Final = f"x-{SHORT}-attempt"
REPLAY_HEADER: Final = f"x-{SHORT}-replay"
MANIFEST_MAGIC: Final = f"{SHORT.upper()}M".encode()
MANIFEST_SIGNED: Final = f"{SHORT}-manifest-1".encode() + b"\0"
