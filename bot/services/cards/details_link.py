"""The one-time link to card details: the right to it comes with the outcome, its token with its message.

A token is made when the message is sent, goes into that message alone, and only its digest is kept. So a
message that is lost is sent again with another token, which puts an end to the one before. A link that
showed nothing may be replaced while the approval is valid. What happens when one is used is in
`bot.services.execution.card_details_access`.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.domain.card_details import LINK_GOOD_FOR, digest_of
from bot.domain.errors import Expired, NotAllowed, NotFound
from bot.domain.requests import Request
from bot.domain.visibility import may_see_card_details
from bot.partner.secret import Secret
from bot.services import audit, outbox_messages, people
from bot.services.audit import audited_refusal
from bot.services.core import Core
from bot.view_models import LinkView
from storage.requests import card_details_links, requests
from storage.transaction import Tx

# A link used at the last moment is still being answered: the card provider takes 40 s at most [GET pan].
_STILL_OPENING = timedelta(seconds=60)


async def grant(tx: Tx, core: Core, request: Request) -> None:
    """In the transaction of the outcome: the requester gets a link, and others until the approval expires."""
    await card_details_links.grant(tx, request.id, request.valid_until or tx.now)
    await outbox_messages.reveal_link(tx, core, request, 1)


async def make_link(core: Core, request_id: str) -> LinkView | None:
    """A new link, for a message that is sent now; None when none may be made any more."""
    token = Secret(core.ids.token())
    async with core.store.begin() as tx:
        request, found = await requests.get(tx, request_id), await card_details_links.get(tx, request_id)
        if request is None or found is None or not core.reveals.base_url:
            return None
        good_until = min(tx.now + LINK_GOOD_FOR, found.valid_until)
        made = await card_details_links.make_link(tx, request_id, digest_of(token), good_until)
        if made is None:
            return None
        await audit.of_request(
            tx, core, request, "system:reveal", "card_details.link_made", {"nth": made.links}
        )
    live = core.is_live(request.program)
    return LinkView(request, Secret(core.reveals.link(token)), good_until, found.valid_until, live)


async def note_sent(tx: Tx, core: Core, request_id: str) -> None:
    """The message with the link is in Slack."""
    found = await card_details_links.mark_sent(tx, request_id)
    request = await requests.get(tx, request_id)
    if found is None or found.spent_at is not None or request is None:
        return  # used before Slack's answer came: what became of it is said already
    text = (
        f"A link that works once was sent to {request.requester_name} at {clock(tx.now)}, and is not opened yet."
        f" {or_again(request, found.valid_until)}"
    )
    await say(tx, core, request, text)


async def another_link(core: Core, request_id: str, slack_id: str) -> None:
    """The requester asks for a new link, as the last one expired, was lost, or showed nothing.

    Raises NotAllowed for everybody else, and Expired once details were shown or the approval has expired.
    """
    await people.require_member(core, slack_id, action="card_details.another_link")
    async with core.store.read() as tx:
        request, found = await requests.get(tx, request_id), await card_details_links.get(tx, request_id)
    if request is None or found is None:
        raise NotFound(f"{request_id} isn't a request for card details. Look at /requests.")
    action = "card_details.another_link"
    if not may_see_card_details(slack_id, request):
        async with audited_refusal(core, slack_id, action, request_id):
            raise NotAllowed("Only who asked may get the link. Nothing was sent.", "not_the_requester")
    if not found.is_alive or found.valid_until <= core.clock.now():
        why = "opened" if found.state == "opened" else "lapsed"
        over = "The details were shown once already." if why == "opened" else "The approval has expired."
        async with audited_refusal(core, slack_id, action, request_id, reason=why):
            raise Expired(f"{over} No link was sent: make a new request with /card reveal.")
    async with core.store.begin() as tx:
        await outbox_messages.reveal_link(tx, core, request, found.links + 1)
        await audit.of_request(
            tx, core, request, slack_id, "card_details.another_link", {"nth": found.links + 1}
        )


async def end_unopened(core: Core) -> None:
    """Approvals that expired with nothing shown: no link works any more, and the request says so."""
    async with core.store.begin() as tx:
        for request_id in await card_details_links.expired(tx, tx.now - _STILL_OPENING):
            before = await card_details_links.get(tx, request_id)
            ended = await card_details_links.end(tx, request_id)
            request = await requests.get(tx, request_id)
            if before is None or ended is None or request is None:
                continue
            what = (
                "The link was not opened before the approval expired"
                if before.state == "sent"
                else f"No direct message reached {request.requester_name} before the approval expired"
            )
            text = f"{what}: nobody saw the details. Make a new request if they are still needed."
            said = await say(tx, core, request, text)
            await audit.of_request(
                tx, core, said, "system:reveal", "card_details.unopened", {"links": before.links}
            )
            await outbox_messages.line(tx, core, said, "unopened", text=text)


async def say(tx: Tx, core: Core, request: Request, text: str) -> Request:
    """What became of the link, on the request and its card."""
    said = await requests.touch(tx, request, outcome_text=text)
    await outbox_messages.card(tx, core, said)
    return said


def or_again(request: Request, valid_until: datetime) -> str:
    """What helps when a link is lost."""
    return f"If it is lost, {request.requester_name} can press New link until {clock(valid_until)}."


def clock(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
