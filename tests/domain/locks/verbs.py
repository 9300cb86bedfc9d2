"""Every verb that changes an organization, as something that happens in a `World`, in a transaction of its own."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from gatepass.base.database import Tx
from tests.domain.locks import card_verbs, event_verbs, ticket_verbs
from tests.domain.locks.world import World


@dataclass(frozen=True)
class Verb:
    """`before` makes what it needs and other verbs do not, once; `shortly_before` in each world anew.

    What maintenance would find in any organization is made shortly before.
    """

    name: str
    act: Callable[[Tx, World], Awaitable[object]]
    before: Callable[[Tx, World], Awaitable[None]] | None = None
    shortly_before: Callable[[Tx, World], Awaitable[None]] | None = None


# In the name of each what it is about. Those with `before` begin in another world than the others.
VERBS: Final = {
    verb.name: verb
    for verb in (
        *(
            Verb(act.__name__, act)
            for act in (
                ticket_verbs.issue_to_ann,
                ticket_verbs.issue_to_ann_elsewhere,
                ticket_verbs.issue_to_new_address,
                ticket_verbs.undo_what_is_unused,
                ticket_verbs.issue_on_spare_card,
                ticket_verbs.issue_many,
                ticket_verbs.cancel,
                ticket_verbs.cancel_used,
                event_verbs.cancel_ticket_of_matinee,
                ticket_verbs.undo_activation,
                ticket_verbs.activate,
                ticket_verbs.transfer_to_new_address,
                ticket_verbs.transfer_to_ben,
                ticket_verbs.transfer_to_spare_card,
                ticket_verbs.replace_ann,
                ticket_verbs.replace_ben,
                ticket_verbs.merge_ann_into_spare,
                ticket_verbs.merge_spare_into_ben,
                ticket_verbs.merge_ben_into_ann,
                ticket_verbs.let_ann_in,
                card_verbs.register_ann,
                card_verbs.register_member,
                card_verbs.register_ben_as_member,
                card_verbs.card_for_ann,
                card_verbs.correct_ann,
                card_verbs.correct_ben,
                card_verbs.forget_ann,
                card_verbs.erase_ann,
                card_verbs.suspend_ann,
                card_verbs.revoke_ann,
                card_verbs.revoke_spare,
                card_verbs.change_link,
                event_verbs.cancel_night,
                ticket_verbs.cancel_matinee,
                event_verbs.end_night,
                event_verbs.publish_draft,
                event_verbs.delete_draft,
                event_verbs.edit_night,
                event_verbs.shrink_vip,
                event_verbs.remove_vip,
            )
        ),
        Verb("enrol_phone", card_verbs.enrol_phone, shortly_before=card_verbs.sign_anew),
        Verb("cancel_some", ticket_verbs.cancel_some, shortly_before=ticket_verbs.cancel_matinee),
        Verb("end_past", event_verbs.end_past, shortly_before=event_verbs.make_over),
        Verb("reopen_night", event_verbs.reopen_night, shortly_before=event_verbs.end_by_itself),
        Verb("apply_guests", event_verbs.apply_guests, event_verbs.check_guests),
        *(
            Verb(act.__name__, act, event_verbs.guests_are_in)
            for act in (
                event_verbs.undo_guests,
                event_verbs.replace_ivo,
                event_verbs.transfer_ivo,
                event_verbs.cancel_ivo,
                event_verbs.issue_to_ivo,
                event_verbs.register_ivo,
            )
        ),
    )
}
