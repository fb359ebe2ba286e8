"""What a browser is asked for, and whether what it answers is genuine, by the rules of WebAuthn.

The library is loaded when the first answer is checked: it takes a third of a second, and most starts never need it.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.domain.errors import NotAllowed
from bot.domain.passkeys import LINK_GOOD_FOR, Assertion, Site, base64url, unbase64url

log = logging.getLogger("countersign.passkeys")

Json = Mapping[str, Any]

# ES256, EdDSA and RS256, as every device has one of them (IANA COSE algorithms).
_ALGORITHMS = (-7, -8, -257)
_EC_BYTES = 32
_RSA_BYTES = 256  # 2048 bits
_TIMEOUT_MS = LINK_GOOD_FOR.seconds * 1000
_NOT_GENUINE = (
    "The answer of this device isn't a valid signature for what this page shows. Nothing was recorded. Start again in"
    " Slack."
)


@dataclass(frozen=True, slots=True)
class NewKey:
    """What a device made. Binary values are base64url."""

    credential_id: str
    public_key: str
    sign_count: int


def creation_options(
    site: Site, challenge: bytes, *, person: str, name: str, known: Sequence[str]
) -> dict[str, Any]:
    """What `navigator.credentials.create` is given, in JSON. `known`: credentials this person has already."""
    return {
        "challenge": base64url(challenge),
        "rp": {"id": site.rp_id, "name": "Countersign"},
        "user": {
            "id": base64url(hashlib.sha256(f"countersign {person}".encode()).digest()),
            "name": name,
            "displayName": name,
        },
        "pubKeyCredParams": [{"type": "public-key", "alg": alg} for alg in _ALGORITHMS],
        "timeout": _TIMEOUT_MS,
        "excludeCredentials": _credentials(known),
        "authenticatorSelection": {"residentKey": "preferred", "userVerification": "required"},
        "attestation": "none",
    }


def assertion_options(site: Site, challenge: bytes, known: Sequence[str]) -> dict[str, Any]:
    """What `navigator.credentials.get` is given, in JSON: one of the credentials `known` has to sign."""
    return {
        "challenge": base64url(challenge),
        "rpId": site.rp_id,
        "timeout": _TIMEOUT_MS,
        "allowCredentials": _credentials(known),
        "userVerification": "required",
    }


def _credentials(ids: Sequence[str]) -> list[dict[str, str]]:
    return [{"type": "public-key", "id": one} for one in ids]


def new_key(site: Site, challenge: bytes, answer: Json) -> NewKey:
    """The key that a device made for this challenge. Raises NotAllowed for anything that isn't one."""
    import webauthn

    try:
        made = webauthn.verify_registration_response(
            credential=dict(answer),
            expected_challenge=challenge,
            expected_rp_id=site.rp_id,
            expected_origin=site.origin,
            require_user_verification=True,
        )
        public_key = _as_usual(made.credential_public_key)
    except Exception as error:  # noqa: BLE001 - whatever a stranger sends, the library may stumble over it
        raise _not_genuine(error) from None
    return NewKey(base64url(made.credential_id), base64url(public_key), int(made.sign_count))


def _as_usual(public_key: bytes) -> bytes:
    """A key (COSE) with the fields of its algorithm and no others, so that every auditor's program reads it.

    Raises ValueError for one of another algorithm than devices are asked for.
    """
    from webauthn.helpers import decode_credential_public_key, encode_cbor
    from webauthn.helpers.decode_credential_public_key import (
        DecodedEC2PublicKey,
        DecodedOKPPublicKey,
        DecodedRSAPublicKey,
    )

    match decode_credential_public_key(public_key):
        case DecodedEC2PublicKey(alg=-7, crv=1, x=x, y=y) if len(x) == len(y) == _EC_BYTES:
            return encode_cbor({1: 2, 3: -7, -1: 1, -2: x, -3: y})
        case DecodedOKPPublicKey(alg=-8, crv=6, x=x) if len(x) == _EC_BYTES:
            return encode_cbor({1: 1, 3: -8, -1: 6, -2: x})
        case DecodedRSAPublicKey(alg=-257, n=n, e=e) if len(n) >= _RSA_BYTES:
            return encode_cbor({1: 3, 3: -257, -1: n, -2: e})
    raise ValueError("the key is of an algorithm that Countersign does not use")


def sign_count(assertion: Assertion) -> int:
    """Check a signature, and return how often its device says it has signed (0 = it does not count).

    Raises NotAllowed where it isn't by this key, for this challenge, on this page, by a verified person.
    """
    import webauthn

    answer = {
        "id": assertion.credential_id,
        "rawId": assertion.credential_id,
        "type": "public-key",
        "response": {
            "authenticatorData": assertion.authenticator_data,
            "clientDataJSON": assertion.client_data_json,
            "signature": assertion.signature,
        },
    }
    try:
        _require_usual(assertion)
        checked = webauthn.verify_authentication_response(
            credential=answer,
            expected_challenge=assertion.bound.challenge(),
            expected_rp_id=assertion.rp_id,
            expected_origin=assertion.origin,
            credential_public_key=unbase64url(assertion.public_key),
            credential_current_sign_count=0,  # compared by `proofs`, which says more of it
            require_user_verification=True,
        )
    except Exception as error:  # noqa: BLE001 - as above
        raise _not_genuine(error) from None
    return int(checked.new_sign_count)


def _require_usual(assertion: Assertion) -> None:
    """Raises ValueError for what a browser writes otherwise. The library overlooks junk between the letters of base64;
    an auditor's program, which reads what is stored, does not."""
    texts = (assertion.authenticator_data, assertion.client_data_json, assertion.signature)
    if any(base64url(unbase64url(text)) != text for text in texts):
        raise ValueError("it isn't written as browsers write it")
    said = json.loads(unbase64url(assertion.client_data_json).decode())
    if said["challenge"] != base64url(assertion.bound.challenge()):
        raise ValueError("the challenge isn't written as browsers write it")


def _not_genuine(error: Exception) -> NotAllowed:
    log.warning("passkeys.not_genuine", extra={"error": type(error).__name__})
    return NotAllowed(_NOT_GENUINE, "passkey_not_genuine")
