"""WebAuthn: registration of a passkey, and authentication with one.

The text of a browser is untrusted: its length is bounded and its types are checked before the library reads it, and any
exception of the library is a refusal.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit
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

RP_NAME: Final = "Gatepass"
# A real response has one or two KiB.
LONGEST_RESPONSE: Final = 16_384
# As long as the challenge is valid.
TIMEOUT_MS: Final = 300_000
# The library compares sign counts before it verifies the signature. We compare after it, in the database, so that a
# forged response cannot make a passkey suspect, and no two responses can have the same count.
NOT_COMPARED_YET: Final = 0


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """The domain that a passkey is bound to, and our one origin under it."""

    id: str
    origin: str


def relying_party(public_url: str) -> RelyingParty:
    """An IP address cannot be a domain, so in development it is `localhost`."""
    parts = urlsplit(public_url)
    host = parts.hostname or "localhost"
    host = "localhost" if host in ("127.0.0.1", "::1") else host
    return RelyingParty(host, f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else ""))


class _AuthenticatorResponse(msgspec.Struct):
    clientDataJSON: str  # noqa: N815  the names of the standard
    attestationObject: str | None = None  # noqa: N815
    authenticatorData: str | None = None  # noqa: N815
    signature: str | None = None
    userHandle: str | None = None  # noqa: N815


class CredentialResponse(msgspec.Struct):
    """The response of an authenticator, with the fields that we read."""

    id: str
    rawId: str  # noqa: N815
    type: str
    response: _AuthenticatorResponse

    def challenge(self) -> bytes:
        """The challenge that this claims to answer, or nothing."""
        with suppress(Exception):  # any exception on untrusted bytes
            return parse_client_data_json(base64url_to_bytes(self.response.clientDataJSON)).challenge
        return b""

    def credential_id(self) -> bytes:
        with suppress(ValueError):
            return base64url_to_bytes(self.rawId)
        return b""

    def names(self, person_id: UUID) -> bool:
        """Whether the authenticator names this person as the owner of the passkey."""
        with suppress(ValueError):
            return base64url_to_bytes(self.response.userHandle or "") == person_id.bytes
        return False


def read_response(text: str) -> CredentialResponse | None:
    if len(text) > LONGEST_RESPONSE:
        return None
    with suppress(msgspec.MsgspecError, RecursionError, UnicodeError):
        return msgspec.json.decode(text, type=CredentialResponse)
    return None


def registration_options(
    party: RelyingParty, challenge: bytes, person_id: UUID, email: str, name: str, have: Sequence[bytes] = ()
) -> str:
    """The argument of `navigator.credentials.create`. An authenticator that has one of `have` makes no second one."""
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


def authentication_options(party: RelyingParty, challenge: bytes, have: Sequence[bytes] = ()) -> str:
    """The argument of `navigator.credentials.get`. Without `have`, any passkey for this domain is accepted."""
    return options_to_json(
        webauthn.generate_authentication_options(
            rp_id=party.id,
            challenge=challenge,
            timeout=TIMEOUT_MS,
            allow_credentials=[PublicKeyCredentialDescriptor(id=id) for id in have],
            user_verification=UserVerificationRequirement.REQUIRED,
        )
    )


def verified_registration(
    party: RelyingParty, challenge: bytes, response: CredentialResponse
) -> VerifiedRegistration | None:
    with suppress(Exception):  # any exception on untrusted bytes is a refusal
        return webauthn.verify_registration_response(
            credential=_plain(response),
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            require_user_verification=True,
        )
    return None


def verified_sign_count(
    party: RelyingParty, challenge: bytes, response: CredentialResponse, public_key: bytes
) -> int | None:
    """The sign count, if this key signed the response. The caller has to compare it."""
    with suppress(Exception):  # any exception on untrusted bytes is a refusal
        return webauthn.verify_authentication_response(
            credential=_plain(response),
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            credential_public_key=public_key,
            credential_current_sign_count=NOT_COMPARED_YET,
            require_user_verification=True,
        ).new_sign_count
    return None


def _plain(response: CredentialResponse) -> dict[str, Any]:
    return msgspec.to_builtins(response)
