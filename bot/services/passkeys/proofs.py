"""A signature by a passkey that counts for one decision; and the same, checked again before anything is sent.

It counts for the person, the purpose, the subject, its version and the terms that were shown, and for nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from bot.domain.errors import CountersignError, NotAllowed, PasskeyNeeded, Stale
from bot.domain.passkeys import HOW_TO_ADD, NO_ANCHORS, Assertion, Bound, Purpose
from bot.domain.requests import Decision, Request
from bot.services.anchor_places import Unreadable
from bot.services.core import Core
from bot.services.passkeys import ceremonies
from storage import audit
from storage.errors import ChangedOutside, NotReadYet
from storage.operators import Passkey, PasskeyLink, passkeys, passkeys_on_record
from storage.transaction import Confirmed, PasskeysOnRecord, Tx

Outside = Mapping[str, Sequence[audit.Anchor]] | None
"""Where the audit chain ended, by the name of each place outside the database that keeps it; None where it isn't known.
The audit channel is no such place: Slack gives the newest of its messages only."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What came from the page of a link that is used up: a signature of the person's device on it, already checked."""

    link: PasskeyLink
    assertion: Assertion


class Copied(NotAllowed):
    """The device's counter stands still or went back: the passkey may exist twice."""

    def __init__(self, passkey_id: str) -> None:
        super().__init__(
            "This passkey may have been copied: its counter went back. Nothing was recorded, and the passkey no longer"
            f" works. Tell an admin. {HOW_TO_ADD}",
            "passkey_copied",
        )
        self.passkey_id = passkey_id


def bound_of(link: PasskeyLink) -> Bound:
    """What a signature on this link's page is about."""
    return Bound(link.purpose, link.subject, link.version, link.digest, link.slack_id, link.nonce)


async def usable(tx: Tx, core: Core, slack_id: str) -> list[Passkey]:
    """The passkeys of this person that count now, on this address: by their rows, and by the audit chain, which knows
    who confirmed them and that they have not ended. Raises `ChangedOutside` where the chain isn't whole."""
    on_record = kept_outside((await passkeys_on_record.of(tx)).counting, core.anchors.kept_seq)
    return [
        one
        for one in await passkeys.of_person(tx, slack_id)
        if _counts(one, on_record) and one.key is not None and one.key.rp_id == core.passkeys.rp_id
    ]


def kept_outside(on_record: Mapping[str, Confirmed], kept_seq: int) -> dict[str, Confirmed]:
    """Those whose adding is known outside the database: else the log can be cut off before it unnoticed."""
    return {name: one for name, one in on_record.items() if one.seq <= kept_seq}


async def counting(tx: Tx, found: Sequence[Passkey]) -> list[Passkey]:
    """Those of them that count now, on whatever address; none where the audit chain isn't whole."""
    try:
        on_record = (await passkeys_on_record.of(tx)).counting
    except (ChangedOutside, NotReadYet):
        return []
    return [one for one in found if _counts(one, on_record)]


def _counts(one: Passkey, on_record: Mapping[str, Confirmed]) -> bool:
    """Is it the key that others confirmed, as this person's, and has it not ended? A row can be put back."""
    if one.key is None or not one.is_active:
        return False
    return on_record.get(one.id) == Confirmed(one.key.slack_id, one.key.public_key)


async def outside(core: Core) -> Outside:
    """What is known of the chain's end outside the database. Read before a transaction: it may take seconds."""
    try:
        return (await core.anchors.read_each()) or None
    except Unreadable:
        return None


async def require_click_is_enough(tx: Tx, known: Outside, consent_id: str) -> None:
    """A click confirms the very first passkey alone. Raises `PasskeyNeeded`, NotAllowed where nothing outside the
    database tells that there was none, and `NotReadYet`."""
    if await is_first(tx, known):
        return
    if known is None and not await passkeys.ever_added(tx):
        raise NotAllowed(NO_ANCHORS, "no_anchors")
    raise PasskeyNeeded(Purpose.CONSENT, consent_id)


async def is_first(tx: Tx, known: Outside) -> bool:
    """Has nobody had a passkey that counted, since they were last reset?

    That is believed of a chain that is whole and has all that is known of it outside the database and in the memory of
    this process: else somebody who writes to the database could bring the click back that confirms the first one.
    """
    found = await _believed(tx, known)
    return found is not None and not found.had_one


async def confirmers_needed(tx: Tx, slack_id: str, passkey_id: str, known: Outside) -> int:
    """How many others confirm this passkey of this person, as known now; two where that isn't known for sure."""
    found = await _believed(tx, known)
    return 2 if found is None else passkeys_on_record.confirmers_needed(found, passkey_id, slack_id)


async def _believed(tx: Tx, known: Outside) -> PasskeysOnRecord | None:
    try:
        found = await passkeys_on_record.of(tx)
    except ChangedOutside:
        return None
    if known is None or not passkeys_on_record.has_all(found, known, tx):
        return None
    if await passkeys_on_record.is_copy_in_doubt(tx):
        return None
    keys = await passkeys.ever_added(tx)
    since = {key.slack_id for key in keys if found.reset_at is None or key.added_at > found.reset_at}
    return replace(found, had_one=found.had_one | since)


async def check(
    tx: Tx,
    core: Core,
    proof: Proof,
    purpose: Purpose,
    *,
    subject: str,
    person: str,
    version: int = 0,
    digest: str,
) -> Assertion:
    """The signature on exactly this, by a passkey of this person. Raises NotAllowed and Stale."""
    link = proof.link
    if (link.purpose, link.subject, link.slack_id) != (purpose, subject, person):
        raise NotAllowed("This page was opened for something else. Nothing was recorded.", "passkey_other")
    if (link.version, link.digest) != (version, digest):
        raise Stale(
            "It changed after this page was opened, for example as somebody else approved it. Nothing was recorded."
            " Open it again in Slack."
        )
    if proof.assertion.passkey not in {one.id for one in await usable(tx, core, person)}:
        raise _unknown()
    return proof.assertion


async def signed(tx: Tx, core: Core, link: PasskeyLink, answer: Mapping[str, Any]) -> Assertion:
    """What the device answered, checked, and its counter moved on. Raises NotAllowed, Stale and `Copied`.

    Called as soon as the answer comes: while Slack is asked, a later signature of the same device may arrive first.
    """
    assertion, found = await _assertion(tx, core, link, answer)
    count = ceremonies.sign_count(assertion)
    known = found.key.sign_count if found.key else 0
    if (count or known) and count <= known:
        # In two tabs, the later answer may come first. A copy counts the same again, or is asked after that.
        is_of_before = found.used_at is not None and link.made_at < found.used_at
        raise _out_of_turn() if count < known and is_of_before else Copied(found.id)
    if not await passkeys.used(tx, found, count):
        raise Stale(
            "This passkey was used at the same time elsewhere. Nothing was recorded. Start again in Slack."
        )
    return assertion


def _out_of_turn() -> NotAllowed:
    text = (
        "Your device has answered a later page meanwhile, so this answer doesn't count. Nothing was recorded. Press the"
        " button in Slack again."
    )
    return NotAllowed(text, "passkey_out_of_turn")


def _unknown() -> NotAllowed:
    text = f"This passkey isn't one of yours that works here. Nothing was recorded. {HOW_TO_ADD}"
    return NotAllowed(text, "passkey_unknown")


async def _assertion(
    tx: Tx, core: Core, link: PasskeyLink, answer: Mapping[str, Any]
) -> tuple[Assertion, Passkey]:
    """What the device answered, with the passkey it is by. Raises NotAllowed where it is none of this person's."""
    response = answer.get("response")
    if not isinstance(response, Mapping):
        raise NotAllowed("The page sent no signature. Nothing was recorded.", "passkey_not_genuine")
    credential_id = str(answer.get("id", ""))
    for one in await usable(tx, core, link.slack_id):
        if one.key is not None and one.key.credential_id == credential_id:
            break
    else:
        raise _unknown()
    texts = [str(response.get(name, "")) for name in ("authenticatorData", "clientDataJSON", "signature")]
    assertion = Assertion(
        bound_of(link),
        one.id,
        credential_id,
        one.key.public_key,
        core.passkeys.rp_id,
        core.passkeys.origin,
        *texts,
    )
    return assertion, one


class Standing(StrEnum):
    """What a stored approval's signature is worth now."""

    HOLDS = "holds"
    NONE = "none"  # it was given by a click
    ENDED = "ended"  # by a passkey that counts no more
    ELSEWHERE = "elsewhere"  # at an address that Countersign no longer has
    WRONG = "wrong"  # it isn't the signature of this person on these terms


async def standing(tx: Tx, core: Core, request: Request, decision: Decision) -> Standing:
    """What the stored signature of this approval is worth: checked again, whatever else the database says of it."""
    if not decision.assertion:
        return Standing.NONE
    try:
        assertion = Assertion.read(decision.assertion)
        bound = assertion.bound
        about = (bound.purpose, bound.subject, bound.person)
        if about != (Purpose.APPROVE, request.id, decision.actor):
            return Standing.WRONG
        if not await _has_had_digest(tx, request, bound.digest):
            return Standing.WRONG
        ceremonies.sign_count(assertion)
        found = await passkeys.get(tx, assertion.passkey)
        on_record = (await passkeys_on_record.of(tx)).counting
    except NotReadYet:
        raise
    except (ValueError, CountersignError):
        return Standing.WRONG
    if found is None or found.key is None or found.state == "waiting":
        return Standing.WRONG
    known = (found.key.slack_id, found.key.public_key, found.key.credential_id)
    if known != (decision.actor, assertion.public_key, assertion.credential_id):
        return Standing.WRONG
    if not _counts(found, on_record):
        return Standing.ENDED
    is_here = (assertion.rp_id, assertion.origin) == (core.passkeys.rp_id, core.passkeys.origin)
    return Standing.HOLDS if is_here else Standing.ELSEWHERE


async def _has_had_digest(tx: Tx, request: Request, digest: str) -> bool:
    """Is it the fingerprint of these very terms, now or before they were signed again under another master key?"""
    reached = {digest}
    async for entry in audit.about(tx, f"request:{request.id}"):
        if entry.action == audit.SIGNED_AGAIN and audit.is_genuine(tx, entry):
            body = audit.body_of(entry)
            if body.get("before") in reached:
                reached.add(body["digest"])
    return request.digest in reached


def needed_for(core: Core, request: Request) -> bool:
    """Does the policy of now ask for a passkey to approve this, to confirm it, or to say how it ended?"""
    return core.policy.of(request.kind).needs_passkey(request.exposure_usd)
