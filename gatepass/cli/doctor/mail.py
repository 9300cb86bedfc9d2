"""The findings about mail: whether the mail server can be reached, is encrypted, and takes our letters."""

from collections.abc import AsyncGenerator
from typing import Final

from gatepass.base.settings import Settings
from gatepass.cli.doctor.report import Finding
from gatepass.domain.mail import Encryption, smtp_server
from gatepass.domain.mail.message import Sender
from gatepass.worker.mail.connection import Connection, ServerAway

REMEDY: Final = "Letters wait meanwhile. Correct GATEPASS_SMTP_URL and GATEPASS_MAIL_FROM: docs/operate/mail.md."
LOCAL: Final = {"localhost", "127.0.0.1", "::1"}


async def of_mail(settings: Settings) -> AsyncGenerator[Finding, None]:
    """Nothing, if no mail is sent."""
    if settings.smtp_url is None or settings.mail_from is None:
        return
    server = smtp_server(settings.smtp_url.get_secret_value())
    connection = Connection(server, Sender(settings.mail_from).address)
    place = f"{server.host}:{server.port}"
    try:
        await connection.check()
    except ServerAway as away:
        yield Finding(False, f"The mail server {place} cannot be used: {away}.", REMEDY)
    else:
        yield Finding(True, f"The mail server {place} takes letters.")
    finally:
        await connection.close()
    if server.encryption is Encryption.NEVER and server.host not in LOCAL:
        line = "Mail is not encrypted: whoever is between reads the password and the links of cards."
        yield Finding(True, line, "Take ?starttls=never out of GATEPASS_SMTP_URL.", is_warning=True)
