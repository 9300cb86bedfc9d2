"""Objects that calls take: plain dictionaries whose keys the type checker knows."""

from typing import NotRequired, TypedDict


class HolderDetails(TypedDict, total=False):
    """A person: a name, an e-mail address, or both. The address finds the card that this person has."""

    name: str | None
    email: str | None
    locale: str | None


class NewTicket(TypedDict):
    """A ticket to be issued on a card or for a person: exactly one of `card_id`, `card_number` and `holder`."""

    event_id: str
    category_id: str
    card_id: NotRequired[str | None]
    card_number: NotRequired[str | None]
    holder: NotRequired[HolderDetails | None]
    external_id: NotRequired[str | None]
