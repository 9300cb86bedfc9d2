"""The fields of a guest that not everybody sees. `SEES` in `staff/role.py` says which role sees which."""

from enum import StrEnum


class GuestField(StrEnum):
    """The value ends the sentence "Your role may not …"."""

    NAME = "see the names of card holders"
    EMAIL = "see the e-mail addresses of card holders"
    NUMBER = "see whole card numbers"
