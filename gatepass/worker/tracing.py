"""The spans of delivery attempts.

An attempt has no link to the call that caused the message: the message does not hold its trace. It tells the receiver,
who is a stranger, nothing of a trace either.
"""

from gatepass.base.clock import Clock
from gatepass.base.encryption import Vault
from gatepass.base.tracing.span import Attributes, Kind
from gatepass.base.tracing.tracer import Tracer
from gatepass.domain.webhooks.queue import Attempt, Claimed, Result
from gatepass.worker.delivery import Deliverer, Sends


class TracedDeliverer(Deliverer):
    """Only a draw decides which attempts are traced. The receiver's URL is left out: it may hold a secret."""

    def __init__(self, sender: Sends, vault: Vault, clock: Clock, tracer: Tracer) -> None:
        super().__init__(sender, vault, clock)
        self._tracer = tracer

    async def attempt(self, claimed: Claimed) -> Result:
        if not self._tracer.is_drawn():
            return await super().attempt(claimed)
        span = self._tracer.root("deliver webhook", Kind.CLIENT, _known_before(claimed))
        try:
            result = await super().attempt(claimed)
            attempt = result.attempt
            span.attributes |= _known_after(attempt)
            if not attempt.succeeded:
                span.fail_with(attempt.error or str(attempt.status))
        except BaseException as error:
            span.fail(error)
            raise
        finally:
            self._tracer.end(span)
        return result


def _known_before(claimed: Claimed) -> Attributes:
    return {
        "http.request.method": "POST",
        "http.request.resend_count": claimed.attempt - 1,
        "gatepass.organization.id": str(claimed.organization_id),
        "gatepass.mode": claimed.mode,
        "gatepass.webhook.type": claimed.type,
        "gatepass.webhook.endpoint.id": str(claimed.endpoint_id),
        "gatepass.webhook.delivery.id": str(claimed.delivery_id),
    }


def _known_after(attempt: Attempt) -> Attributes:
    milliseconds = {"dns": attempt.dns_ms, "connect": attempt.connect_ms, "answer": attempt.answer_ms}
    found: Attributes = {f"gatepass.webhook.{name}_ms": int(ms) for name, ms in milliseconds.items() if ms is not None}
    if attempt.status is not None:
        found["http.response.status_code"] = attempt.status
    return found
