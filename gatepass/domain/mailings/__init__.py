"""Mailings: the cards of an event, sent by mail to a selection or to everybody who has none yet."""

from gatepass.domain.mailings.audience import Audience, count, example
from gatepass.domain.mailings.card_letters import CardLetters, Recipient
from gatepass.domain.mailings.mailing import (
    MOST_CHOSEN,
    Mailing,
    MailingNotFound,
    MailingState,
    Progress,
    Undelivered,
    begin,
    find,
    of_event,
    progress,
    stop,
    undelivered,
)
from gatepass.domain.mailings.runner import advance, next_under_way, put_off
from gatepass.domain.mailings.single_letter import mail_card, recipient_of

__all__ = [
    "MOST_CHOSEN",
    "Audience",
    "CardLetters",
    "Mailing",
    "MailingNotFound",
    "MailingState",
    "Progress",
    "Recipient",
    "Undelivered",
    "advance",
    "begin",
    "count",
    "example",
    "find",
    "mail_card",
    "next_under_way",
    "of_event",
    "progress",
    "put_off",
    "recipient_of",
    "stop",
    "undelivered",
]
