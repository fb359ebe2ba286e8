"""What the page for passkeys shows, and what its answer does.

Opening the page uses the link up, and its answer uses the page up, whatever comes of it. What is decided then goes the
same way as a click in Slack: the services for approvals and confirmations judge it, with the signature as an addition.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from bot.domain.errors import CountersignError, NotAllowed
from bot.domain.ids import short_code
from bot.domain.money import format_usd
from bot.domain.passkeys import LINK_GOOD_FOR, Purpose, link_digest
from bot.partner.secret import Secret
from bot.services import audit, people
from bot.services.audit import audited_refusal
from bot.services.core import Core
from bot.services.operators import confirmation_answers, confirmations, programs
from bot.services.passkeys import ceremonies, enrolment, links, proofs
from bot.services.requests import approvals, request_lookups
from bot.view_models import RequestView
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
_MOST_ROWS = 500


class PageRefused(CountersignError):
    """The page ends here; the text is for the person. `status`: 410 = this link works no more, 403 = refused."""

    def __init__(self, sentence: str, reason: str, status: int = 410) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.status = status


@dataclass(frozen=True, slots=True)
class Page:
    """For the browser alone. `token` is the page's own; `options` are for WebAuthn, as JSON.

    `rows`: the rows of a batch. `warnings`: what speaks against it.
    """

    token: Secret = field(repr=False)
    person: str
    heading: str
    lead: str
    lines: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    rows: tuple[str, ...]
    button: str
    options: Mapping[str, Any]
    expires_in_s: int


@dataclass(frozen=True, slots=True)
class Done:
    """What came of it, in words, and the window in Slack that waits for it (empty = none)."""

    title: str
    text: str
    view_id: str


async def open_link(core: Core, token: Secret) -> Page:
    """Use the link up, and get what the page shows. Raises `PageRefused`."""
    found = await _link(core, token)
    own = Secret(core.ids.token())
    try:
        shown = await _shown(core, found, own)
    except CountersignError as refusal:
        raise PageRefused(str(refusal), refusal.reason, 403) from None
    async with core.store.begin() as tx:
        opened = await passkey_links.open_page(tx, found.token_digest, link_digest(own))
        if opened is not None:
            await _record(tx, core, found, "passkey.page_opened")
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
    used = found.page_digest is not None if action == _OPEN else found.spent_at is not None
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
    async with core.store.begin() as tx:
        found = await passkey_links.spend(tx, digest)
        if found is not None:
            await _record(tx, core, found, "passkey.page_used")
    if found is None:
        async with core.store.read() as tx:
            known = await passkey_links.of_page(tx, digest)
        raise PageRefused(_UNKNOWN, "unknown") if known is None else await _refused(core, known, _USE)
    try:
        return await _do(core, found, answer, await _proof(core, found, answer))
    except proofs.Copied as copied:
        await enrolment.end_copied(core, copied.passkey_id)
        raise PageRefused(str(copied), copied.reason, 403) from None
    except CountersignError as refusal:
        raise PageRefused(str(refusal), refusal.reason, 403) from None


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
            text = f"You approved {request.id}: {request.headline}."
            missing = request.approvals_needed - verdict.approvals
            if missing > 0:
                more = "1 more approval" if missing == 1 else f"{missing} more approvals"
                return Done("Approve", f"{text} It needs {more} before anything is sent.", link.view_id)
            paused = await programs.paused_now(core, request.program)
            waits = "It is sent after the time that the policy sets for stopping it" if verdict.waits else ""
            then = paused or f"{waits or 'It is sent now'}. Its message in Slack shows the result."
            return Done("Approve", f"{text} {then}", link.view_id)
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
            text = f"Your answer on {request.id} is recorded: {link.terms['verdict']}. It is {request.state} now."
            return Done("Resolve the outcome", text, link.view_id)
        case Purpose.CONSENT:
            said = await confirmation_answers.give(core, link.subject, who, proof=proof)
            return Done("Confirm", f"You confirmed it. {said}", link.view_id)


async def _shown(core: Core, link: PasskeyLink, own: Secret) -> Page:
    """From the database, as it is now. Raises what would be refused anyway."""
    actor = await people.require_member(core, link.slack_id, action=_OPEN)
    purpose = Purpose(link.purpose)
    left_s = max(1, int((link.expires_at - core.clock.now()).total_seconds()))
    if purpose is Purpose.ADD:
        return await _adding(core, link, own, actor.name, left_s)
    async with core.store.read() as tx:
        mine = [one.key.credential_id for one in await proofs.usable(tx, core, actor.id) if one.key]
    if not mine:
        raise NotAllowed(
            "You have no passkey that works here. Add one with /countersign passkey add.", "no_passkey"
        )
    options = {"get": ceremonies.assertion_options(core.passkeys, proofs.bound_of(link).challenge(), mine)}
    if purpose is Purpose.CONSENT:
        asked = await confirmations.existing(core, link.subject)
        title, text = await confirmations.words_of(core, asked)
        return Page(own, actor.name, title, text, (), (), (), "Confirm with passkey", options, left_s)
    if purpose is Purpose.APPROVE:
        await approvals.require_may_approve(core, link.subject, actor.id)
    view = await request_lookups.request_view(core, link.subject)
    return Page(
        token=own,
        person=actor.name,
        heading=view.request.headline,
        lead=_lead(purpose, link, view),
        lines=_lines(view),
        warnings=(*([view.paused] if view.paused else []), *(c.text for c in view.concerns)),
        rows=tuple(f"{row.number}. {row.summary}" for row in view.batch.rows if not row.is_left_out)[
            :_MOST_ROWS
        ]
        if view.batch
        else (),
        button=f"{purpose.value.title()} with passkey",
        options=options,
        expires_in_s=left_s,
    )


async def _adding(core: Core, link: PasskeyLink, own: Secret, person: str, left_s: int) -> Page:
    async with core.store.read() as tx:
        options = await enrolment.options(tx, core, link, person)
    lead = (
        "Your device makes a key that stays on it. Countersign gets the public half only. From then on you approve with"
        " your fingerprint, your face or the device's PIN."
    )
    if "get" in options:
        lead += " First your device asks for a passkey that you have already, then it makes the new one."
    lines = (("For", person), ("Name", str(link.terms.get("name", ""))))
    return Page(own, person, "Add a passkey", lead, lines, (), (), "Add passkey", options, left_s)


def _lead(purpose: Purpose, link: PasskeyLink, view: RequestView) -> str:
    asked = view.request
    if purpose is Purpose.RESOLVE:
        verdict = (
            "it happened"
            if link.terms["verdict"] == "succeeded"
            else "it didn't happen, or all of it came back"
        )
        return f"You say how {asked.id} ended: {verdict}. Your evidence: {link.terms['evidence']}"
    if purpose is Purpose.CONFIRM:
        return f"{asked.requester_name} had this done immediately. You confirm that it was right."
    return f"{asked.requester_name} requests this. Approve only what you expect."


def _lines(view: RequestView) -> tuple[tuple[str, str], ...]:
    asked = view.request
    found = [
        ("Request", f"{asked.id} · {'live money' if view.live else 'sandbox money'}"),
        ("What", view.title),
    ]
    if asked.needs_whole_summary:
        found.append(("In full", asked.summary))
    if asked.subject_label:
        found.append(("Card", asked.subject_label))
    if asked.exposure_usd:
        found.append(("Amount", format_usd(asked.exposure_usd)))
    found += [("Requested by", asked.requester_name), ("Reason", asked.reason), *view.lines]
    found.append(("Check code", short_code(asked.digest)))
    return tuple(found)
