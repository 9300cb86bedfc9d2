"""TLS to PostgreSQL and Valkey: what an operator reads when it fails. Neither a password nor a key is in it."""

import ssl
from typing import Final

# asyncpg has no class of its own for a server, or somebody between, that answers N to an SSLRequest.
NO_TLS: Final = "rejected SSL upgrade"


def tls_fault(error: BaseException | None) -> str | None:
    """Why TLS failed, from this error or one that caused it; None if it was not TLS."""
    while error is not None:
        match error:
            case ssl.SSLCertVerificationError():
                return f"its certificate is not trusted: {error.verify_message.rstrip('.')}"
            case ssl.SSLError():
                return f"TLS failed: {error.reason or 'the handshake was not completed'}"
            case ConnectionError() if NO_TLS in str(error):
                return "it does not offer TLS, which sslmode demands"
            case _:
                error = error.__cause__ or error.__context__
    return None
