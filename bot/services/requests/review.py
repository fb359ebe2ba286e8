"""What a click in Slack asks for besides its own work: a card drawn anew, a form filled again, and a look
at whether the person may decide at all."""

from __future__ import annotations

from bot.domain.errors import NotFound
from bot.domain.people.delegation import Standing
from bot.domain.requests.approvals import decide
from bot.domain.visibility import may_see_form
from bot.services import outbox_messages, people
from bot.services.audit import audited_refusal
from bot.services.core import Core
from bot.services.requests.approvals import refusal_of
from bot.services.requests.lifecycle import existing
from storage.requests import decisions, drafts
from storage.requests.drafts import Draft


async def redraw(core: Core, request_id: str) -> None:
    """The card in Slack is not as the request is: owe it again. Raises NotFound."""
    async with core.store.begin() as tx:
        await outbox_messages.redraw(tx, core, await existing(tx, request_id))


async def draft(core: Core, draft_id: str, owner: str) -> Draft:
    """A form that was filled and not submitted, for its owner alone. Raises NotFound."""
    async with core.store.read() as tx:
        found = await drafts.get(tx, draft_id)
    if found is None or not may_see_form(owner, found.owner):
        raise NotFound("This form is gone: it was submitted, or it is too old. Look at /requests.")
    return found


async def require_may_approve(core: Core, request_id: str, slack_id: str) -> Standing:
    """Tell at the click what `approvals.approve` would refuse later; raises that refusal (audited).

    Returns who may approve, as just read: Slack allows few such readings.
    """
    async with audited_refusal(core, slack_id, "request.approve", f"request:{request_id}"):
        actor = await people.member(core, slack_id)
        standing = await people.standing_lately(core)
        async with core.store.read() as tx:
            request = await existing(tx, request_id)
            verdict = decide(
                request,
                await decisions.of(tx, request.id),
                actor=actor.id,
                standing=standing,
                shown_digest=request.digest,
                now=tx.now,
            )
        if not verdict.counts:
            raise refusal_of(core, request, verdict)
        return standing
