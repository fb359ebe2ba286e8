"""Passkeys: where they are used, and what exactly is signed with one. Pure.

A passkey is a key on a person's own device (WebAuthn). Countersign keeps the public half of it, and asks for a
signature over a challenge that names the purpose, the subject, its version and fingerprint, and the person.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Protocol
from urllib.parse import urlsplit

LINK_GOOD_FOR = timedelta(minutes=5)
"""From the making of a link to its page until its last use: long enough to read terms and to find the device."""

_READ_OUT_DIGITS = 20
CONFIRMED_WITHIN = timedelta(hours=24)
"""How long a new passkey waits for another approver's confirmation."""

NO_ADDRESS = (
    "Passkeys are not set up: Countersign has no address that browsers reach. An admin sets COUNTERSIGN_PUBLIC_URL to"
    " the https address of its web server and starts it again. Nothing was changed."
)
NO_ANCHORS = (
    "Nobody can add a passkey yet: the audit log's end is not kept outside the database, so somebody who writes to the"
    " database could bring back the click that confirms the very first one. An admin sets COUNTERSIGN_ANCHORS_FILE or"
    " COUNTERSIGN_ANCHORS_COMMAND (the audit channel is not enough), and starts Countersign again. Nothing was changed."
)


def anchors_unreadable(place: str) -> str:
    """Where a place for anchors is set and does not answer."""
    return (
        f"Nobody can add a passkey now: {place} cannot be read, where the audit log's end is kept outside the database."
        " An admin makes it readable, or corrects COUNTERSIGN_ANCHORS_FILE or COUNTERSIGN_ANCHORS_COMMAND. Nothing was"
        " changed."
    )


NOT_KEPT_YET = (
    "Your passkey counts as soon as the end of the audit log is kept outside the database, where it could not be kept"
    " so far. Nothing was recorded. Tell an admin, and try again."
)
NOT_KEPT_IN_COPY = (
    "Your passkey doesn't count in this copy of the database: it was added just before the copy was made, and nothing"
    " outside tells of it. Nothing was recorded. If the newer database can't be put back, an admin runs `countersign"
    " keys reset-passkeys` at the machine; then everybody adds a passkey again."
)
IN_SAFE_MODE = (
    "In safe mode nobody can add a passkey, as the newer database may still be put back. If it can't be, and nobody"
    " has a passkey here that works, an admin runs `countersign keys reset-passkeys` at the machine. Then passkeys can"
    " be added, the first one confirmed by a click. Nothing was changed."
)
NO_TWO_OTHERS = (
    "If there are no two others with a passkey, name another approver who adds one first, or let an admin run"
    " `countersign keys reset-passkeys` at the machine: it ends everybody's, and all add new ones in one room."
)
"""What helps a team of two where one has lost a passkey."""
HOW_TO_ADD = "Add one with /countersign passkey add."


class Hidden(Protocol):
    """A secret text that shows itself only when asked, as the token of a link does."""

    def reveal(self) -> str: ...


class Purpose(StrEnum):
    """What a page is opened for, and what a signature counts for; it counts for nothing else."""

    ADD = "add"
    APPROVE = "approve"
    CONFIRM = "confirm"
    RESOLVE = "resolve"
    CONSENT = "consent"


@dataclass(frozen=True, slots=True)
class Site:
    """Where browsers reach the page. `rp_id` is the host to which a passkey belongs; empty = there is no page."""

    base_url: str = ""
    rp_id: str = ""
    origin: str = ""

    @classmethod
    def at(cls, base_url: str) -> Site:
        """For the web server at this address. Raises ValueError, in words, where browsers allow no passkeys."""
        if not base_url:
            return cls()
        parts = urlsplit(base_url)
        host = (parts.hostname or "").lower()
        if not host or _is_ip_address(host):
            raise ValueError(f"{base_url} has no host name, and passkeys work with a host name only")
        if not host.isascii():
            raise ValueError(
                f"{base_url} has letters in its host that browsers write in another way, and passkeys belong to the"
                " host as browsers write it: give it as it is copied from their address bar, with xn--"
            )
        if parts.scheme != "https" and not (host == "localhost" or host.endswith(".localhost")):
            raise ValueError(f"{base_url} isn't an https address, and browsers allow passkeys on https only")
        usual = {"https": 443, "http": 80}[parts.scheme]
        port = "" if parts.port in (None, usual) else f":{parts.port}"
        return cls(base_url, host, f"{parts.scheme}://{host}{port}")

    def link(self, token: Hidden) -> str:
        """The token stands in the fragment, which no browser sends and no crawler fetches."""
        return f"{self.base_url}/passkey#{token.reveal()}"


def _is_ip_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Bound:
    """What one signature is about. `digest` is of the terms that were shown, `nonce` is this link's alone."""

    purpose: str
    subject: str
    version: int
    digest: str
    person: str
    nonce: str

    def challenge(self) -> bytes:
        """32 bytes: SHA-256 over canonical JSON (sorted keys, no spaces, UTF-8) of these six fields, after a line
        that says what it is."""
        canonical = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(b"countersign-passkey-v1\n" + canonical.encode()).digest()


@dataclass(frozen=True, slots=True)
class Assertion:
    """A signature by a passkey, with all that is needed to check it again. Binary values are base64url.

    `public_key` is in the form that the authenticator gave it (COSE), `rp_id` and `origin` are of the page.
    """

    bound: Bound
    passkey: str
    credential_id: str
    public_key: str
    rp_id: str
    origin: str
    authenticator_data: str
    client_data_json: str
    signature: str

    def as_json(self) -> dict[str, Any]:
        """As it is stored with a decision and in the audit log."""
        return asdict(self)

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Assertion:
        """Raises ValueError for anything else than `as_json` gives."""
        try:
            bound = Bound(**stored["bound"])
            return cls(**{**stored, "bound": bound})
        except (KeyError, TypeError):
            raise ValueError("this isn't an assertion of a passkey") from None


def base64url(raw: bytes) -> str:
    """Without padding, as WebAuthn writes binary values."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def unbase64url(text: str) -> bytes:
    """Raises ValueError for what isn't base64url."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def link_digest(token: Hidden) -> str:
    """What is kept of a token. It has 256 random bits, so its plain digest cannot be guessed back."""
    return hashlib.sha256(token.reveal().encode()).hexdigest()


def key_digest(public_key: str) -> str:
    """Hex: by which exactly this key is confirmed."""
    return hashlib.sha256(unbase64url(public_key)).hexdigest()


def read_out(public_key: str) -> str:
    """The fingerprint of a key as its person reads it out to an auditor: `3f9a 12bc 77de 0412 aa91`."""
    digits = key_digest(public_key)[:_READ_OUT_DIGITS]
    return " ".join(digits[at : at + 4] for at in range(0, len(digits), 4))


def terms_of_consent(kind: str, subject: str, terms: Mapping[str, Any], asked_by: str) -> str:
    """The fingerprint, in hex, of something that one person asked for and another confirms."""
    fixed = {"kind": kind, "subject": subject, "terms": dict(terms), "asked_by": asked_by}
    canonical = json.dumps(fixed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(b"countersign-consent-v1\n" + canonical.encode()).hexdigest()


def evidence_digest(evidence: str) -> str:
    """SHA-256 in hex: the audit log keeps it in place of what a person wrote."""
    return hashlib.sha256(evidence.encode()).hexdigest()


def terms_of_resolution(digest: str, verdict: str, evidence: str) -> str:
    """The fingerprint, in hex, of how somebody says that the request with this `digest` ended."""
    canonical = json.dumps([digest, verdict, evidence_digest(evidence)], separators=(",", ":"))
    return hashlib.sha256(b"countersign-resolution-v1\n" + canonical.encode()).hexdigest()
