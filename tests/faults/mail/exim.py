"""A real mail server: exim4 with a configuration of its own, which delivers whatever it takes into a Maildir."""

import getpass
import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Final

import trustme

from tests.postgres import free_port
from tests.processes import wait_until_listening

PROGRAM: Final = shutil.which("exim4", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
CONFIGURATION: Final = """
primary_hostname = mail.test
exim_user = {user}
exim_group = {group}
spool_directory = {folder}/spool
log_file_path = {folder}/log/%slog
pid_file_path = {folder}/exim.pid
daemon_smtp_ports = {port}
local_interfaces = 127.0.0.1
tls_advertise_hosts = *
tls_certificate = {folder}/certificate.pem
acl_smtp_mail = encrypted
acl_smtp_rcpt = everybody
smtp_accept_max = 50
smtp_accept_queue_per_connection = 0
queue_run_max = 2

begin acl
encrypted:
  deny condition = ${{if eq{{$tls_in_cipher}}{{}}}}
       message = STARTTLS first
  accept
everybody:
  accept

begin routers
all:
  driver = accept
  transport = maildir

begin transports
maildir:
  driver = appendfile
  directory = {folder}/Maildir
  maildir_format
  create_directory
  envelope_to_add
  user = {user}
  group = {group}

begin retry
* * F,1h,1m
"""


@dataclass(frozen=True)
class Exim:
    port: int
    folder: Path

    def environment(self) -> dict[str, str]:
        """The settings of a worker that sends by this server, and trusts its certificate."""
        return {
            "GATEPASS_SMTP_URL": f"smtp://127.0.0.1:{self.port}",
            "GATEPASS_MAIL_FROM": "Gatepass <cards@gatepass.test>",
            "GATEPASS_MAIL_DOMAIN_RATE": "10000",
            "SSL_CERT_FILE": str(self.folder / "authority.pem"),
        }

    def count(self) -> int:
        arrived = self.folder / "Maildir/new"
        return len(list(arrived.iterdir())) if arrived.exists() else 0

    def letters(self) -> list[EmailMessage]:
        """What stands in the Maildir, parsed."""
        files = (self.folder / "Maildir/new").iterdir()
        return [message_from_bytes(file.read_bytes(), policy=policy.default) for file in files]


@contextmanager
def exim() -> Generator[Exim]:
    """Exim never delivers as root, so it works as `nobody` there, in a folder that such a user can enter."""
    assert PROGRAM is not None
    folder, port = Path(tempfile.mkdtemp(prefix="gatepass-exim-")), free_port()
    user, group = ("nobody", "nogroup") if os.geteuid() == 0 else (getpass.getuser(), str(os.getegid()))
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "authority.pem")
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(folder / "certificate.pem")
    configuration = folder / "exim.conf"
    configuration.write_text(CONFIGURATION.format(user=user, group=group, folder=folder, port=port))
    for path in (folder, folder / "certificate.pem"):
        if os.geteuid() == 0:
            shutil.chown(path, user, group)
    with (folder / "output.log").open("wb") as output:
        process = subprocess.Popen(
            [PROGRAM, "-C", str(configuration), "-bdf", "-q5m"], stdout=output, stderr=subprocess.STDOUT
        )
    try:
        wait_until_listening(process, port)
        yield Exim(port, folder)
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(folder)
