"""What the page for passkeys shows: from the database and, of a request, from the API now; never from the link.

An approver reads there what the window in Slack shows, private values in full: it is what the device signs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.domain.errors import NotAllowed, Stale
from bot.domain.ids import short_code
from bot.domain.money import format_usd
from bot.domain.passkeys import HOW_TO_ADD, Purpose, terms_of_consent, terms_of_resolution
from bot.domain.requests import DecisionKind, Request
from bot.operations import Line, after_approval, urgency
from bot.partner.secret import Secret
from bot.services import people
from bot.services.core import Core
from bot.services.operators import confirmation_answers, confirmations
from bot.services.passkeys import ceremonies, enrolment, proofs
from bot.services.requests import approvals, request_lookups
from bot.view_models import BulkRowView, Confirmation
from storage.operators import PasskeyLink

_OPEN = "passkey.open_page"
_UNREAD = {"read": "no"}


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


async def of_link(core: Core, link: PasskeyLink, own: Secret) -> tuple[Page, Mapping[str, str]]:
    """The page, whose secret is `own`, and the link's terms from then on. Raises what would be refused anyway."""
    actor = await people.require_reader(core, link.slack_id, action=_OPEN)
    purpose = Purpose(link.purpose)
    left_s = max(1, int((link.expires_at - core.clock.now()).total_seconds()))
    if purpose is Purpose.ADD:
        return await _adding(core, link, own, actor.name, left_s), link.terms
    async with core.store.read() as tx:
        mine = [one.key.credential_id for one in await proofs.usable(tx, core, actor.id) if one.key]
    if not mine:
        raise NotAllowed(f"You have no passkey that works here. {HOW_TO_ADD}", "no_passkey")
    options = {"get": ceremonies.assertion_options(core.passkeys, proofs.bound_of(link).challenge(), mine)}
    terms: Mapping[str, str] = link.terms
    match purpose:
        case Purpose.CONSENT:
            asked = await confirmations.existing(core, link.subject)
            _require_the_same(link, terms_of_consent(asked.kind, asked.subject, asked.terms, asked.asked_by))
            said = await confirmation_answers.words_of(core, asked)
            shown = _Shown(said.title, said.text)
        case Purpose.APPROVE:
            shown, terms = await _approving(core, link, actor.id)
        case _:
            shown = await _after_the_fact(core, link, purpose)
    page = Page(
        token=own,
        person=actor.name,
        heading=shown.heading,
        lead=shown.lead,
        lines=shown.lines,
        warnings=shown.warnings,
        rows=shown.rows,
        button="Confirm with passkey"
        if purpose is Purpose.CONSENT
        else f"{purpose.value.title()} with passkey",
        options=options,
        expires_in_s=left_s,
    )
    return page, terms


def _require_the_same(link: PasskeyLink, digest: str) -> None:
    """What the page shows is what the device would sign. Raises Stale."""
    if digest != link.digest:
        raise Stale(
            "It changed after this link was made. Nothing was recorded. Press the button in Slack again."
        )


def was_unread(link: PasskeyLink) -> bool:
    """Whether the API could not be read for this page."""
    return dict(link.terms) == _UNREAD


@dataclass(frozen=True, slots=True)
class _Shown:
    heading: str
    lead: str
    lines: tuple[Line, ...] = ()
    warnings: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()


async def _adding(core: Core, link: PasskeyLink, own: Secret, person: str, left_s: int) -> Page:
    async with core.store.read() as tx:
        options = await enrolment.options(tx, core, link, person)
    lead = (
        "Your device makes a key that stays on it. Countersign gets the public half only. From then on you approve with"
        " your fingerprint, your face or the device's PIN."
    )
    if "get" in options:
        lead += (
            " First your device asks for the passkey that you have. Then you choose where the new one is made, such as"
            " on your phone."
        )
    lines = (("For", person), ("Name", str(link.terms.get("name", ""))))
    return Page(own, person, "Add a passkey", lead, lines, (), (), "Add passkey", options, left_s)


async def _approving(core: Core, link: PasskeyLink, slack_id: str) -> tuple[_Shown, Mapping[str, str]]:
    """As the window shows it to this approver; the terms say whether the API could be read."""
    standing = await approvals.require_may_approve(core, link.subject, slack_id)
    rows: tuple[BulkRowView, ...] = ()
    private: tuple[Line, ...] = ()
    if (await request_lookups.request_view(core, link.subject)).batch is None:
        found = await request_lookups.confirmation(core, link.subject, slack_id)
        private = await request_lookups.in_full(core, link.subject, slack_id, standing)
    else:
        batch = await request_lookups.confirmation_of_batch(core, link.subject, slack_id, standing, 1)
        found, rows = batch.found, batch.rows
    asked = found.view.request
    _require_the_same(link, asked.digest)
    given = len([one for one in found.view.decisions if one.kind is DecisionKind.APPROVE])
    then = after_approval.would_follow(
        asked,
        given,
        is_draft=found.view.draft_only,
        is_paused=bool(found.view.paused),
        waits=found.waits,
        cool_off=found.view.cool_off,
    )
    shown = _Shown(
        heading=asked.headline,
        lead=f"{asked.requester_name} requests this. Approve only what you expect. {then}.",
        lines=_lines(asked, found.view.title, (*private, *found.lines), live=found.view.live),
        warnings=_warnings(found),
        rows=tuple(map(_row, rows)),
    )
    return shown, {} if found.facts_read else _UNREAD


def _warnings(found: Confirmation) -> tuple[str, ...]:
    """What speaks against it, and what is otherwise than when it was requested."""
    texts = [one.text for one in found.concerns]
    texts += [f"Changed since it was requested: {text}" for text in found.changed]
    if not found.facts_read:
        read = after_approval.when_read(found.last_read)
        texts.insert(0, f"Your card provider could not be read just now. {read}")
    if found.view.paused:
        texts.insert(0, urgency.while_paused(found.view.request.kind, found.view.paused))
    return tuple(texts)


def _row(row: BulkRowView) -> str:
    values = "".join(f" · {label}: {value}" for label, value in row.private)
    warnings = "".join(f" ▲ {text}" for text in row.warnings)
    return f"{row.number}. {row.summary}{values}{warnings}"


async def _after_the_fact(core: Core, link: PasskeyLink, purpose: Purpose) -> _Shown:
    """What was done at once, or how somebody says that it ended."""
    view = await request_lookups.view_to_sign(core, link.subject)
    asked = view.request
    digest = terms_of_resolution(asked.digest, **link.terms) if purpose is Purpose.RESOLVE else asked.digest
    _require_the_same(link, digest)
    if purpose is Purpose.RESOLVE:
        it = (
            "it happened"
            if link.terms["verdict"] == "succeeded"
            else "it didn't happen, or all of it came back"
        )
        lead = f"You say how {asked.id} ended: {it}. Your evidence: {link.terms['evidence']}"
    else:
        lead = f"{asked.requester_name} had this done immediately. You confirm that it was right."
    rows = view.batch.rows if view.batch else ()
    return _Shown(
        heading=asked.headline,
        lead=lead,
        lines=_lines(asked, view.title, view.lines, live=view.live),
        warnings=(*([view.paused] if view.paused else []), *(one.text for one in view.concerns)),
        rows=tuple(_row(row) for row in rows if not row.is_left_out),
    )


def _lines(asked: Request, title: str, more: tuple[Line, ...], *, live: bool) -> tuple[Line, ...]:
    found = [("Request", f"{asked.id} · {'live money' if live else 'sandbox money'}"), ("What", title)]
    if asked.needs_whole_summary:
        found.append(("In full", asked.summary))
    if asked.subject_label:
        found.append(("Card", asked.subject_label))
    if asked.exposure_usd:
        found.append(("Amount", format_usd(asked.exposure_usd)))
    found += [*more, ("Requested by", asked.requester_name), ("Reason", asked.reason)]
    return (*found, ("Check code", short_code(asked.digest)))
