"""Prometheus metrics of mail. Labels are bounded: outcomes only, never an address or a domain."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from gatepass.domain.mail.queue import Waiting

SECONDS: Final = (0.5, 1, 2.5, 5, 15, 60, 300, 900, 3600, 21600, 86400, 345600)
OUTCOMES: Final = ("sent", "refused", "put_off", "dropped", "expired", "unreadable")


class MailMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self.attempts = Counter(
            "gatepass_mail_attempts", "Attempts to send a letter, by outcome", ["outcome"], registry=registry
        )
        # They begin at 0: of a series that begins later, Prometheus does not see the first increase.
        for outcome in OUTCOMES:
            self.attempts.labels(outcome)
        self.doubtful = Counter(
            "gatepass_mail_doubtful",
            "Letters that are sent again although they may have arrived: a worker or a connection died",
            registry=registry,
        )
        self.sent_after = Histogram(
            "gatepass_mail_sent_seconds",
            "From the writing of a letter to its acceptance by the mail server",
            buckets=SECONDS,
            registry=registry,
        )
        self.server_up = Gauge("gatepass_mail_server_up", "0 while the mail server cannot be used", registry=registry)
        self.waiting = Gauge("gatepass_mail_due", "Letters that are due and not sent", registry=registry)
        self.oldest = Gauge(
            "gatepass_mail_due_seconds_max", "For how long the first of the due letters has been", registry=registry
        )
        self.server_up.set(1)

    def export(self, waiting: Waiting) -> None:
        self.waiting.set(waiting.due)
        self.oldest.set(waiting.seconds)
