"""Opening the page for passkeys, and what its answer does.

Opening the page uses the link up, and its answer uses the page up, whatever comes of it. What is decided then goes the
same way as a click in Slack: the services for approvals and confirmations judge it, with the signature as an addition.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from bot.domain.errors import CountersignError, LookupFailed, TooMuch
from bot.domain.passkeys import LINK_GOOD_FOR, Purpose, link_digest
from bot.domain.requests import Request, State
from bot.operations import after_approval
from bot.partner.secret import Secret
from bot.services import audit
from bot.services.audit import audited_refusal
from bot.services.core import Core
from bot.services.operators import confirmation_answers, programs
from bot.services.passkeys import enrolment, links, page_content, proofs, readiness
from bot.services.passkeys.page_content import Page
from bot.services.requests import approvals, request_lookups
from storage.errors import StorageError
from storage.log_record import PAGE_OPENED, PAGE_USED
from storage.operators import PasskeyLink, passkey_links
from storage.transaction import Tx

_OPEN, _USE = "passkey.open_page", "passkey.use_page"
_UNKNOWN = (
    "This link isn't valid: part of it is missing. Nothing was changed. Press the button in Slack again."
)
_USED = (
    "This link was used already, and each works once. Press the button in Slack again for a new one. If it was not you"
    " who used it, tell an admin."
)
_LATE = (
    f"This link is too old: it works for {LINK_GOOD_FOR.seconds // 60} minutes. Nothing was changed. Press the button"
    " in Slack again for a new one."
)


_REFUSED = 403


class PageRefused(CountersignError):
    """The page ends here; the text is for the person. `status`: 410 = this link works no more, 403 = refused; 503 =
    Slack cannot say who this is, and 429 = they did too much: nothing is refused, and it works again soon."""

    def __init__(self, sentence: str, reason: str, status: int = 410) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.status = status


@dataclass(frozen=True, slots=True)
class Done:
    """What came of it, in words, and the window in Slack that waits for it (empty = none)."""

    title: str
    text: str
    view_id: str


async def open_link(core: Core, token: Secret) -> Page:
    """Use the link up, and get what the page shows. Raises `PageRefused`."""
    found = await _link(core, token)
    await readiness.ready(core)
    own = Secret(core.ids.token())
    try:
        shown, terms = await page_content.of_link(core, found, own)
    except StorageError:
        raise
    except CountersignError as refusal:
        raise PageRefused(str(refusal), refusal.reason, _status(refusal)) from None
    async with core.store.begin() as tx:
        opened = await passkey_links.open_page(tx, found.token_digest, link_digest(own), terms)
        if opened is not None:
            await _record(tx, core, found, PAGE_OPENED)
    if opened is None:
        raise await _refused(core, found, _OPEN)
    return shown


async def _link(core: Core, token: Secret) -> PasskeyLink:
    async with core.store.read() as tx:
        found = await passkey_links.of_token(tx, link_digest(token))
    if found is None:
        raise PageRefused(_UNKNOWN, "unknown")
    if found.page_digest is not None or found.expires_at <= core.clock.now():
        raise await _refused(core, found, _OPEN)
    return found


async def _refused(core: Core, found: PasskeyLink, action: str) -> PageRefused:
    """That it works no more, on record as of the person whose link it was."""
    async with core.store.read() as tx:
        used = await passkey_links.is_used(tx, found, PAGE_OPENED if action == _OPEN else PAGE_USED)
    refusal = PageRefused(_USED, "used") if used else PageRefused(_LATE, "expired")
    try:
        async with _on_record(core, found, action):
            raise refusal
    except PageRefused:
        return refusal


def _on_record(core: Core, found: PasskeyLink, action: str) -> AbstractAsyncContextManager[None]:
    return audited_refusal(core, found.slack_id, action, f"passkey_link:{found.nonce[:12]}")


async def _record(tx: Tx, core: Core, found: PasskeyLink, action: str) -> None:
    subject = f"passkey_link:{found.nonce[:12]}"
    await audit.record(tx, core, found.slack_id, action, subject, links.recorded(found))


async def finish(core: Core, token: Secret, answer: Mapping[str, Any]) -> Done:
    """Use the page up with what the device answered, and do what it is for. Raises `PageRefused`."""
    digest = link_digest(token)
    await readiness.ready(core)
    async with core.store.begin() as tx:
        found = await passkey_links.spend(tx, digest)
        if found is not None:
            await _record(tx, core, found, PAGE_USED)
    if found is None:
        async with core.store.read() as tx:
            known = await passkey_links.of_page(tx, digest)
        raise PageRefused(_UNKNOWN, "unknown") if known is None else await _refused(core, known, _USE)
    try:
        return await _do(core, found, answer, await _proof(core, found, answer))
    except proofs.Copied as copied:
        await enrolment.end_copied(core, copied.passkey_id)
        raise PageRefused(str(copied), copied.reason, 403) from None
    except StorageError:
        raise
    except CountersignError as refusal:
        status = _status(refusal)
        then = "" if status == _REFUSED else " This page is used up: press the button in Slack again then."
        raise PageRefused(f"{refusal}{then}", refusal.reason, status) from None


def _status(refusal: CountersignError) -> int:
    if isinstance(refusal, TooMuch):
        return 429
    return 503 if isinstance(refusal, LookupFailed) else _REFUSED


async def _proof(core: Core, link: PasskeyLink, answer: Mapping[str, Any]) -> proofs.Proof | None:
    """The signature in the answer, checked; None where a first passkey is added, as there is nothing to sign with."""
    is_new = Purpose(link.purpose) is Purpose.ADD
    async with _on_record(core, link, _USE), core.store.begin() as tx:
        if is_new and not await proofs.usable(tx, core, link.slack_id):
            return None
        given = answer.get("proof") if is_new else answer
        return proofs.Proof(
            link, await proofs.signed(tx, core, link, given if isinstance(given, dict) else {})
        )


async def _do(core: Core, link: PasskeyLink, answer: Mapping[str, Any], proof: proofs.Proof | None) -> Done:
    who = link.slack_id
    match Purpose(link.purpose):
        case Purpose.ADD:
            async with _on_record(core, link, "passkey.add"):
                return Done("Add a passkey", await enrolment.finish(core, link, answer, proof), link.view_id)
        case Purpose.APPROVE:
            request, verdict = await approvals.approve(
                core, link.subject, who, shown_digest=link.digest, proof=proof
            )
            paused = await programs.paused_now(core, request.program)
            view = await request_lookups.request_view(core, request.id)
            unread = page_content.was_unread(link)
            then = after_approval.follows(
                request, verdict.approvals, paused, view.waits_for, sent_from=view.sent_from, unread=unread
            )
            return Done("Approve", f"You approved {request.id}: {request.headline}. {then}", link.view_id)
        case Purpose.CONFIRM:
            request = await approvals.confirm(core, link.subject, who, proof=proof)
            return Done("Confirm", f"You confirmed {request.id}: {request.headline}.", link.view_id)
        case Purpose.RESOLVE:
            request = await approvals.resolve(
                core,
                link.subject,
                who,
                verdict=str(link.terms["verdict"]),
                evidence=str(link.terms["evidence"]),
                proof=proof,
            )
            return Done("Resolve the outcome", _resolved(request), link.view_id)
        case Purpose.CONSENT:
            said = await confirmation_answers.give(core, link.subject, who, proof=proof)
            return Done("Confirm", f"You confirmed it. {said}", link.view_id)


def _resolved(found: Request) -> str:
    if found.state is State.UNRESOLVED:
        return (
            f"Your answer on {found.id} is recorded. It stays unresolved until a second person records the same. You"
            " can correct your answer with Resolve."
        )
    return f"{found.id} has ended: {found.state}, confirmed by two people."
