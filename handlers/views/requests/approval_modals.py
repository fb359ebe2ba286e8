"""The modals in which people decide on a request: drawn from the database, bound to what they show."""

from __future__ import annotations

from bot.domain.money import format_usd
from bot.domain.passkeys import Purpose
from bot.domain.requests import Request
from bot.operations import REASON_LIMIT, after_approval, urgency
from bot.partner.secret import Secret
from bot.view_models import Confirmation
from handlers.views import blocks as b
from handlers.views import ids, passkeys
from handlers.views.requests import forms, request_card


def opening(request_id: str) -> b.Block:
    """Shown at once, while the terms are read again."""
    return forms.loading(
        "Approve", f"Reading {request_id} and what it would do now…", meta=ids.pack(request=request_id)
    )


def confirmation(
    found: Confirmation, private: tuple[b.Line, ...] = (), passkey: Secret | None = None
) -> b.Block:
    """What an approver reads before the word counts: the frozen terms, and the facts of this moment.

    `passkey`: the address of the page where it is approved, in place of the submit button.
    """
    asked = found.view.request
    blocks = [b.header(f"{asked.id}: {asked.headline}"), b.section(request_card.title_line(found.view))]
    if asked.needs_whole_summary:
        blocks.append(b.plain_section(asked.summary))
    if found.view.paused:
        blocks.append(b.section(f"*▲* {b.said(urgency.while_paused(asked.kind, found.view.paused))}"))
    if not found.facts_read:
        read = after_approval.when_read(found.last_read)
        blocks.append(b.section(f"*▲ Your card provider could not be read just now.* {b.said(read)}"))
    if found.changed:
        changed = "\n".join(f"• {b.said(text)}" for text in found.changed)
        blocks.append(b.section(f"*▲ Changed since it was requested*\n{changed}"))
    blocks += forms.concerns(found.concerns)
    blocks += b.pairs([*_terms(asked), *private, *found.lines, ("Reason", asked.reason)])
    given = len(request_card.approvals(found.view.decisions))
    then = after_approval.would_follow(
        asked,
        given,
        is_draft=found.view.draft_only,
        is_paused=bool(found.view.paused),
        waits=found.waits,
        cool_off=found.view.cool_off,
    )
    blocks.append(b.context(f"{then} · check code {found.view.code}"))
    blocks.append(b.context(forms.which_money(asked.program, live=found.view.live)))
    unread = {} if found.facts_read else {"read": 0}
    meta = ids.pack(request=asked.id, version=asked.version, digest=asked.digest, **unread)
    if passkey is not None:
        whole = [*blocks, passkeys.button(Purpose.APPROVE, passkey), passkeys.explained()]
        return b.modal(ids.NOTICE, "Approve", whole, close="Not now", meta=meta)
    return b.modal(ids.APPROVE, "Approve", blocks, submit="Approve", close="Not now", meta=meta)


def was_unread(meta: ids.Meta) -> bool:
    """Whether the API could not be read for the window with this private metadata; a list never says so."""
    return meta.get("read") == "0"


def _terms(asked: Request) -> list[b.Line]:
    lines = [("Card", asked.subject_label)] if asked.subject_label else []
    if asked.exposure_usd:
        lines.append(("Amount", format_usd(asked.exposure_usd)))
    return lines


def reject(request_id: str, version: int) -> b.Block:
    element: b.Block = {"type": "plain_text_input", "multiline": True, "max_length": REASON_LIMIT}
    blocks = [
        b.section(f"Nothing of *{b.esc(request_id)}* will be sent. The requester sees your reason."),
        b.field(forms.REASON, "Reason", element),
    ]
    meta = ids.pack(request=request_id, version=version)
    return b.modal(ids.REJECT, "Reject", blocks, submit="Reject", close="Back", meta=meta)


def cancel(request_id: str, version: int, *, stops: bool = False) -> b.Block:
    """`stops`: it is a batch that is under way."""
    what = (
        f"Stop *{b.esc(request_id)}*? Rows already sent continue; the others will not be sent."
        if stops
        else f"Withdraw *{b.esc(request_id)}*? Nothing of it will be carried out. It can be requested again."
    )
    blocks = [b.section(what)]
    meta = ids.pack(request=request_id, version=version)
    return b.modal(
        ids.CANCEL, "Cancel the request", blocks, submit="Cancel request", close="Keep it", meta=meta
    )


def resolve(request_id: str, version: int) -> b.Block:
    """Two people who say the same end an unresolved request."""
    options = [
        b.option(
            "succeeded", "succeeded", "It happened: your card provider, the card or the ledger shows it"
        ),
        b.option("failed", "failed", "It did not happen, or all of it came back"),
    ]
    evidence: b.Block = {
        "type": "plain_text_input",
        "multiline": True,
        "max_length": request_card.EVIDENCE_LIMIT,
    }
    blocks = [
        b.section(
            f"Record the real outcome of *{b.esc(request_id)}*, once you have seen proof. It takes effect when two"
            " people record the same, one of them an approver who did not request it. You can correct yours: the newest"
            " counts. Nothing is sent by this."
        ),
        b.field("verdict", "Outcome", {"type": "radio_buttons", "options": options}),
        b.field(
            "evidence", "Evidence", evidence, hint="Ledger row, card balance, or your card provider's answer."
        ),
    ]
    meta = ids.pack(request=request_id, version=version)
    return b.modal(ids.RESOLVE, "Resolve the outcome", blocks, submit="Resolve", close="Back", meta=meta)
