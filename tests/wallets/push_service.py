"""Apple's push service as far as we need it: a real HAProxy speaks HTTP/2, and asks for the certificate of a pass type.

Behind it stands a receiver that keeps every push and answers as the test wants.
"""

import ssl
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.attacks.proxy import Proxy, start_proxy
from tests.receivers import Answer, Receiver, authority, receiving
from tests.wallets.authority import root

CONFIG = """
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s

frontend push
    bind 127.0.0.1:PORT ssl crt CERTIFICATE alpn ALPN ca-file ROOT verify required
    http-request set-header x-client-certificate %[ssl_c_s_dn(UID)]
    default_backend receiver

backend receiver
    server one 127.0.0.1:UPSTREAM
"""


@dataclass
class PushService:
    url: str
    receiver: Receiver
    proxy: Proxy

    def pushed(self) -> list[str]:
        """The push tokens, in the order in which they came."""
        return [message.path.removeprefix("/3/device/") for message in self.receiver.messages]


@asynccontextmanager
async def push_service(
    folder: Path, answers: Sequence[Answer] = (), otherwise: Answer = 200, alpn: str = "h2"
) -> AsyncGenerator[PushService]:
    config = _config(folder, alpn)
    async with receiving(answers=answers, otherwise=otherwise) as receiver:
        proxy = start_proxy(folder, receiver.port, config)
        try:
            yield PushService(f"https://localhost:{proxy.port}", receiver, proxy)
        finally:
            if proxy.process.poll() is None:
                proxy.stop()


def trusting(context: ssl.SSLContext) -> ssl.SSLContext:
    """The same context, which trusts the authority of the tests."""
    context.load_verify_locations(authority().pem)
    return context


def _config(folder: Path, alpn: str) -> str:
    server = authority()
    crt, trusted = folder / "server.pem", folder / "root.pem"
    crt.write_text(Path(server.cert).read_text() + Path(server.key).read_text())
    trusted.write_bytes(root().pem())
    return CONFIG.replace("CERTIFICATE", str(crt)).replace("ROOT", str(trusted)).replace("ALPN", alpn)
