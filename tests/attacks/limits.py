"""What a limit grants in the time that a test took: a bucket fills again while a busy machine sends its calls."""

import math
import time

from gatepass.domain.limits import Policy


def granted(policy: Policy, *, since: float) -> int:
    """The most calls that this policy lets through, since a moment of the monotonic clock."""
    return policy.burst + math.ceil(policy.per_second * (time.monotonic() - since))
