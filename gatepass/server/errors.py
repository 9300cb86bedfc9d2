"""Why a server does not start."""


class CannotListen(Exception):  # noqa: N818  its text is all that the operator sees
    """This machine cannot listen at this address."""
