"""Mail: letters are written in the transaction of what they tell of, and sent by the worker, at least once."""

from gatepass.domain.mail.address import AddressNotSendable, domain_of, is_sendable, sendable
from gatepass.domain.mail.kinds import LetterKind
from gatepass.domain.mail.mailer import NO_ORGANIZATION, Mailer, NewLetter, values_context
from gatepass.domain.mail.rendering import Rendered, one_line, rendered
from gatepass.domain.mail.smtp_url import Encryption, SmtpServer, smtp_server

__all__ = [
    "NO_ORGANIZATION",
    "AddressNotSendable",
    "Encryption",
    "LetterKind",
    "Mailer",
    "NewLetter",
    "Rendered",
    "SmtpServer",
    "domain_of",
    "is_sendable",
    "one_line",
    "rendered",
    "sendable",
    "smtp_server",
    "values_context",
]
