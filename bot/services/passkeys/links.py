"""One-time links to the page for passkeys. A link is one person's, works once, and for five minutes.

A token is made when the link is shown; only its digest is kept. With a link alone nothing can be decided: that takes
the person's device.
"""

from __future__ import annotations

from collections.abc import Mapping

from bot.domain.errors import NotAllowed, PasskeyNeeded
from bot.domain.passkeys import (
    HOW_TO_ADD,
    LINK_GOOD_FOR,
    NO_ADDRESS,
    NOT_KEPT_IN_COPY,
    NOT_KEPT_YET,
    Purpose,
    link_digest,
    terms_of_consent,
    terms_of_resolution,
)
from bot.partner.secret import Secret
from bot.services import audit, people
from bot.services.core import Core
from bot.services.passkeys import proofs, readiness
from bot.services.requests import batch_approval
from storage.operators import PasskeyLink, passkey_links, passkeys, passkeys_on_record
from storage.requests import confirmations, requests
from storage.transaction import Tx


async def make(
    tx: Tx,
    core: Core,
    purpose: Purpose,
    slack_id: str,
    *,
    subject: str,
    version: int = 0,
    digest: str,
    terms: Mapping[str, str] | None = None,
    view_id: str = "",
) -> Secret:
    """The address of a new page, for this person alone. `view_id`: the Slack window to update afterwards."""
    token = Secret(core.ids.token())
    link = PasskeyLink(
        token_digest=link_digest(token),
        slack_id=slack_id,
        purpose=purpose,
        subject=subject,
        version=version,
        digest=digest,
        nonce=core.ids.token(),
        terms=dict(terms or {}),
        view_id=view_id,
        made_at=tx.now,
        expires_at=tx.now + LINK_GOOD_FOR,
    )
    await passkey_links.make(tx, link)
    await audit.record(
        tx, core, slack_id, "passkey.link_made", f"passkey_link:{link.nonce[:12]}", recorded(link)
    )
    return Secret(core.passkeys.link(token))


def recorded(link: PasskeyLink) -> dict[str, str | int]:
    """What the audit log keeps of it: whom it concerns and what it is for, never its token."""
    return {
        "purpose": link.purpose,
        "subject": link.subject,
        "version": link.version,
        "digest": link.digest,
        "nonce": link.nonce,
    }


async def for_needed(core: Core, needed: PasskeyNeeded, slack_id: str, *, view_id: str = "") -> Secret:
    """The link for what a click was refused for. Raises NotAllowed for a person without a passkey."""
    await people.require_member(core, slack_id, action="passkey.link")
    purpose = Purpose(needed.purpose)
    await readiness.ready(core)
    async with core.store.begin() as tx:
        await require_passkey(tx, core, slack_id)
        version, digest = await _about(tx, purpose, needed)
        return await make(
            tx,
            core,
            purpose,
            slack_id,
            subject=needed.subject,
            version=version,
            digest=digest,
            terms=needed.terms,
            view_id=view_id,
        )


async def require_passkey(tx: Tx, core: Core, slack_id: str) -> None:
    """Raises NotAllowed, with what to do, for a person who has none that works here."""
    if not core.passkeys.base_url:
        raise NotAllowed(NO_ADDRESS, "no_public_address")
    if not await proofs.usable(tx, core, slack_id):
        if await proofs.counting(tx, await passkeys.of_person(tx, slack_id)):
            is_copy = await passkeys_on_record.is_copy_in_doubt(tx)
            raise NotAllowed(NOT_KEPT_IN_COPY if is_copy else NOT_KEPT_YET, "anchors_not_kept")
        raise NotAllowed(
            f"This needs your passkey, and you have none yet. Nothing was recorded. {HOW_TO_ADD}",
            "no_passkey",
        )


async def _about(tx: Tx, purpose: Purpose, needed: PasskeyNeeded) -> tuple[int, str]:
    """Version and fingerprint of what would be decided, as it is now."""
    if purpose is Purpose.CONSENT:
        consent = await confirmations.get(tx, needed.subject)
        if consent is None:
            raise NotAllowed("This was answered already. Nothing was changed.", "gone")
        return 0, terms_of_consent(consent.kind, consent.subject, consent.terms, consent.asked_by)
    request = await requests.get(tx, needed.subject)
    if request is None:
        raise NotAllowed(f"There is no {needed.subject}. Look at /requests.", "gone")
    await batch_approval.decided_on(tx, request)
    if purpose is Purpose.RESOLVE:
        return request.version, terms_of_resolution(request.digest, **needed.terms)
    return request.version, request.digest
