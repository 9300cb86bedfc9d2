"""The two ceremonies of WebAuthn: making a passkey, and showing that one has it.

What a browser sends is a stranger's text: it is bounded and read by type before the library sees it, and whatever the
library makes of it, it is accepted or it is not.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final
from uuid import UUID

import msgspec
import webauthn
from webauthn.helpers import base64url_to_bytes, options_to_json, parse_client_data_json
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)
from webauthn.registration.verify_registration_response import VerifiedRegistration

from gatepass.domain.staff.party import Party

RP_NAME: Final = "Gatepass"
# A real answer has one or two KiB.
LONGEST_ANSWER: Final = 16_384
# As long as the challenge.
TIMEOUT_MS: Final = 300_000
# The library compares counts before it looks at the signature. Ours is compared after it, and in the database: so that
# no forger can make a key suspect, and no two answers can share a count.
NOT_COMPARED_YET: Final = 0


class _Response(msgspec.Struct):
    clientDataJSON: str  # noqa: N815  the standard's own names
    attestationObject: str | None = None  # noqa: N815
    authenticatorData: str | None = None  # noqa: N815
    signature: str | None = None
    userHandle: str | None = None  # noqa: N815


class Answer(msgspec.Struct):
    """What a browser sends, with all that we look at."""

    id: str
    rawId: str  # noqa: N815
    type: str
    response: _Response

    def challenge(self) -> bytes:
        """The challenge that this says it answers, or nothing."""
        with suppress(Exception):  # whatever a stranger's bytes bring about
            return parse_client_data_json(base64url_to_bytes(self.response.clientDataJSON)).challenge
        return b""

    def credential_id(self) -> bytes:
        with suppress(ValueError):
            return base64url_to_bytes(self.rawId)
        return b""

    def names(self, person_id: UUID) -> bool:
        """Whether the authenticator names this person as the owner."""
        with suppress(ValueError):
            return base64url_to_bytes(self.response.userHandle or "") == person_id.bytes
        return False


def read_answer(text: str) -> Answer | None:
    if len(text) > LONGEST_ANSWER:
        return None
    with suppress(msgspec.MsgspecError, RecursionError, UnicodeError):
        return msgspec.json.decode(text, type=Answer)
    return None


def creation_options(
    party: Party, challenge: bytes, person_id: UUID, email: str, name: str, have: Sequence[bytes] = ()
) -> str:
    """What `navigator.credentials.create` is called with. An authenticator that has one of ours makes no second."""
    return options_to_json(
        webauthn.generate_registration_options(
            rp_id=party.id,
            rp_name=RP_NAME,
            user_id=person_id.bytes,
            user_name=email,
            user_display_name=name or email,
            challenge=challenge,
            timeout=TIMEOUT_MS,
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED,
                user_verification=UserVerificationRequirement.REQUIRED,
            ),
            exclude_credentials=[PublicKeyCredentialDescriptor(id=id) for id in have],
        )
    )


def request_options(party: Party, challenge: bytes, have: Sequence[bytes] = ()) -> str:
    """What `navigator.credentials.get` is called with. Without a list, any passkey for this domain will do."""
    return options_to_json(
        webauthn.generate_authentication_options(
            rp_id=party.id,
            challenge=challenge,
            timeout=TIMEOUT_MS,
            allow_credentials=[PublicKeyCredentialDescriptor(id=id) for id in have],
            user_verification=UserVerificationRequirement.REQUIRED,
        )
    )


def verified_creation(party: Party, challenge: bytes, answer: Answer) -> VerifiedRegistration | None:
    with suppress(Exception):  # whatever a stranger's bytes bring about is a refusal
        return webauthn.verify_registration_response(
            credential=_plain(answer),
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            require_user_verification=True,
        )
    return None


def verified_count(party: Party, challenge: bytes, answer: Answer, public_key: bytes) -> int | None:
    """The authenticator's count, if the answer is signed with this key. It is still to be compared."""
    with suppress(Exception):  # whatever a stranger's bytes bring about is a refusal
        return webauthn.verify_authentication_response(
            credential=_plain(answer),
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            credential_public_key=public_key,
            credential_current_sign_count=NOT_COMPARED_YET,
            require_user_verification=True,
        ).new_sign_count
    return None


def _plain(answer: Answer) -> dict[str, Any]:
    return msgspec.to_builtins(answer)
