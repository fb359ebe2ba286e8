"""What happens when a modal is submitted: fields become a preview, a preview a request, a word a decision.

Slack takes the answer to a submission only in the ack, so the ack says what is being done, and the view
is updated when it is.
"""

from __future__ import annotations

from bot.domain.cards import NamedBy
from bot.domain.errors import InvalidFields
from bot.domain.requests import Request, says_nothing_was_sent
from bot.operations import readers
from bot.services import requests
from bot.services.cards import card_choice
from bot.services.messages import waiting
from bot.services.operators import programs
from bot.services.requests import Draft, Preview, approvals, drafts, request_lookups
from handlers.guard import Turn
from handlers.views import Block, blocks, ids, replies
from handlers.views.requests import approval_modals, forms

_READING = "Reading the float and the card…"


async def cards(turn: Turn) -> None:
    """The cards that fit what is being typed into a form's Card."""
    found = await card_choice.offered(turn.core, turn.user, str(turn.body.get("value") or ""))
    await turn.ack(options=[forms.card_option(card) for card in found])


async def form(turn: Turn) -> None:
    """Fields: wrong ones are reported on the field; right ones are kept, and the preview is read live."""
    meta = ids.unpack(turn.view["private_metadata"])
    cls = turn.core.kinds[meta["kind"]]
    filled = forms.read(cls, turn.view["state"]["values"])
    try:
        draft = await drafts.begin(
            turn.core,
            owner=turn.user,
            kind=cls.kind,
            texts=filled.texts,
            reason=filled.reason,
            run_now=filled.run_now,
            program=_program(turn, filled.program),
            card_by=NamedBy.ID,  # a card is chosen, and what is chosen is its id
        )
    except InvalidFields as wrong:
        await turn.ack(response_action="errors", errors=forms.errors_of(cls, wrong.errors))
        return
    await turn.ack(response_action="update", view=forms.loading(cls.title, _READING))
    back = {"draft_id": draft.id, "channel": meta.get("channel", ""), "kind": cls.kind}
    turn.after_in_view(turn.view["id"], cls.title, _show_preview(turn, draft, meta), **back)


def _program(turn: Turn, chosen: str) -> str | None:
    return chosen if chosen in turn.core.partners else None


async def _show_preview(turn: Turn, draft: Draft, meta: ids.Meta) -> None:
    found = await drafts.preview(turn.core, draft)
    view = forms.preview(shown(found), channel=meta.get("channel", ""))
    await turn.client.views_update(view_id=turn.view["id"], view=view)


def shown(found: Preview) -> forms.Shown:
    """What the preview modal says of it."""
    return forms.Shown(
        draft_id=found.draft.id,
        operation=found.operation,
        lines=found.lines,
        concerns=found.concerns,
        reason=found.draft.reason,
        approvals_needed=found.approvals_needed,
        approvers=sorted(found.approvers),
        run_now=found.draft.run_now,
        program=found.draft.program,
        live=found.live,
        paused=found.paused,
    )


async def preview(turn: Turn) -> None:
    """Submit: recorded before Slack is answered, so a request that was acknowledged is never lost."""
    meta = ids.unpack(turn.view["private_metadata"])
    request = await requests.submit(turn.core, meta["draft"], turn.user)
    await turn.ack(response_action="clear")
    turn.after(tell_requester(turn, request, meta.get("channel", "")))


async def tell_requester(turn: Turn, request: Request, channel: str) -> None:
    """A note on what was submitted, where they asked; in a direct message where the app cannot write there.

    It says so while sending to the program is paused.
    """
    paused = await programs.paused_now(turn.core, request.program)
    trouble = await waiting.trouble_with(turn.core, turn.core.channels.approvals)
    note = replies.submitted(request, turn.core.channels.approvals, paused, trouble)
    if channel and not channel.startswith("D") and await turn.whisper(channel, note):
        return
    await turn.tell_directly(note)


async def approve(turn: Turn) -> None:
    """The word of an approver, bound to the digest of the terms they were shown."""
    meta = ids.unpack(turn.view["private_metadata"])

    async def decide() -> Block:
        request, verdict = await approvals.approve(
            turn.core, meta["request"], turn.user, shown_digest=meta["digest"]
        )
        paused = await programs.paused_now(turn.core, request.program)
        view = await request_lookups.request_view(turn.core, request.id)
        said = replies.approved(
            request,
            verdict.approvals,
            paused,
            view.waits_for,
            sent_from=view.sent_from,
            unread=approval_modals.was_unread(meta),
        )
        return _said("Approve", said)

    await turn.close_when_done("Approve", "Checking that you may approve…", decide())


async def reject(turn: Turn) -> None:
    meta = ids.unpack(turn.view["private_metadata"])
    try:
        reason = readers.read_reason(_typed(turn, forms.REASON))
    except ValueError as wrong:
        await turn.ack(response_action="errors", errors={forms.REASON: str(wrong)})
        return

    async def decide() -> Block:
        request = await approvals.reject(turn.core, meta["request"], turn.user, reason=reason)
        said = "Nothing was sent." if says_nothing_was_sent(request.outcome_text) else request.outcome_text
        return _said("Reject", f"{request.id} is rejected. {said}")

    await turn.close_when_done("Reject", "Checking that you may reject…", decide())


async def cancel(turn: Turn) -> None:
    meta = ids.unpack(turn.view["private_metadata"])
    request = await requests.cancel(turn.core, meta["request"], turn.user)
    text = replies.cancelled(request)
    await turn.ack(response_action="update", view=_said("Cancel the request", text))


async def resolve(turn: Turn) -> None:
    meta = ids.unpack(turn.view["private_metadata"])
    verdict = _typed(turn, "verdict")
    try:
        evidence = readers.read_reason(_typed(turn, "evidence"))
    except ValueError as wrong:
        await turn.ack(response_action="errors", errors={"evidence": str(wrong)})
        return
    await turn.ack(
        response_action="update", view=forms.loading("Resolve the outcome", "Recording your answer…")
    )
    work = _resolve(turn, meta["request"], verdict, evidence)
    turn.after_in_view(turn.view["id"], "Resolve the outcome", work)


async def _resolve(turn: Turn, request_id: str, verdict: str, evidence: str) -> None:
    request = await approvals.resolve(turn.core, request_id, turn.user, verdict=verdict, evidence=evidence)
    await _say(turn, "Resolve the outcome", replies.resolved(request))


def _typed(turn: Turn, block_id: str) -> str:
    return forms.answer(turn.view["state"]["values"][block_id]["value"])


async def _say(turn: Turn, title: str, text: str) -> None:
    await turn.client.views_update(view_id=turn.view["id"], view=_said(title, text))


def _said(title: str, text: str) -> Block:
    return blocks.modal(ids.NOTICE, title, [blocks.plain_section(text)])
