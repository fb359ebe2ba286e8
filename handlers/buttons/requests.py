"""What happens when a button is pressed. Its value is an id and a version; the database decides."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import TypeVar

from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.domain.errors import NotFound
from bot.domain.requests import State
from bot.services import held_stops, people, requests
from bot.services.execution import try_now
from bot.services.requests import approvals, request_lookups
from handlers.commands import Command, dispatch, grammar, open_forms
from handlers.guard import Turn
from handlers.modals import batches
from handlers.slack_api import chart_upload
from handlers.views import blocks, charts, ids, replies
from handlers.views.requests import approval_modals, forms
from handlers.views.requests import request_card as request_views

log = logging.getLogger("countersign.slack")

T = TypeVar("T")

_REQUEST_GONE = "This button belongs to no request. Look at /requests."


async def request(turn: Turn) -> None:
    """Every button of a request: `request:approve` and its kin, and the entries under the dots."""
    verb, request_id, version = _pressed(turn)
    await turn.ack()
    turn.after(_WORK[verb](turn, request_id, version))
    turn.after(_redraw_if_old(turn, request_id, version))


def _pressed(turn: Turn) -> tuple[str, str, int]:
    verb, value = turn.action["action_id"].partition(":")[2], str(turn.action.get("value") or "")
    if verb == "more":
        verb, _, value = str(turn.action["selected_option"]["value"]).partition(":")
    try:
        request_id, version = ids.unstamp(value)
    except ValueError:
        raise NotFound(_REQUEST_GONE) from None
    if verb not in _WORK:
        raise NotFound(_REQUEST_GONE)
    return verb, request_id, version


async def _redraw_if_old(turn: Turn, request_id: str, version: int) -> None:
    """A card that shows another version, or was edited by somebody, is drawn again."""
    message = turn.body.get("message")
    if not message:
        return
    view = await request_lookups.request_view(turn.core, request_id)
    drawn = request_views.card(view)
    if view.request.version != version or message.get("text") != drawn["text"]:
        await approvals.redraw(turn.core, request_id)


async def _approve(turn: Turn, request_id: str, version: int) -> None:
    """The window opens at once and is filled when the facts were read again."""
    opened = await turn.client.views_open(trigger_id=turn.trigger, view=approval_modals.opening(request_id))
    turn.after_in_view(
        opened["view"]["id"], "Approve", _confirm_terms(turn, opened["view"]["id"], request_id)
    )


async def _confirm_terms(turn: Turn, view_id: str, request_id: str) -> None:
    standing = await approvals.require_may_approve(turn.core, request_id, turn.user)
    if (await request_lookups.request_view(turn.core, request_id)).batch is not None:
        await batches.confirm(turn, view_id, request_id, standing)
        return
    found = await request_lookups.confirmation(turn.core, request_id, turn.user)
    lines = await request_lookups.in_full(turn.core, request_id, turn.user, standing)
    page = await approvals.page_to_approve(turn.core, found.view.request, turn.user, view_id)
    await turn.client.views_update(view_id=view_id, view=approval_modals.confirmation(found, lines, page))


async def _reject(turn: Turn, request_id: str, version: int) -> None:
    await _unless_refused(_require_member(turn, "request.reject", request_id))
    # Before a reason is typed for nothing; who may reject is asked of Slack when it is submitted.
    await _unless_refused(approvals.require_may_reject(turn.core, request_id, turn.user))
    await turn.client.views_open(trigger_id=turn.trigger, view=approval_modals.reject(request_id, version))


async def _unless_refused(look: Awaitable[T]) -> T | None:
    """What is only looked at before a window opens: whatever fails there, somebody who stops something can go on, and
    reads in the window what becomes of it. Raises what refuses them."""
    try:
        return await look
    except Exception as error:
        if held_stops.is_refusal(error):
            raise
        log.exception("stop.not_looked_at")
        return None


async def _require_member(turn: Turn, action: str, request_id: str) -> None:
    """Nobody else is shown a window, not even an empty one."""
    within_s = people.SHOWN_WITHIN_S
    subject = f"request:{request_id}"
    await people.require_member(turn.core, turn.user, action=action, subject=subject, within_s=within_s)


async def _cancel(turn: Turn, request_id: str, version: int) -> None:
    await _unless_refused(_require_member(turn, "request.cancel", request_id))
    found = await _unless_refused(request_lookups.request_view(turn.core, request_id))
    if found is not None:
        requests.require_own(found.request, turn.user)
    stops = (
        found is not None
        and found.request.is_batch
        and found.request.state in (State.APPROVED, State.EXECUTING)
    )
    view = approval_modals.cancel(request_id, version, stops=stops)
    await turn.client.views_open(trigger_id=turn.trigger, view=view)


async def _resolve(turn: Turn, request_id: str, version: int) -> None:
    await _require_member(turn, "request.resolve", request_id)
    view = approval_modals.resolve(request_id, version)
    # A row of a batch is resolved from the window of its rows.
    show = turn.client.views_push if turn.view else turn.client.views_open
    await show(trigger_id=turn.trigger, view=view)


async def _details(turn: Turn, request_id: str, version: int) -> None:
    opened = await turn.client.views_open(
        trigger_id=turn.trigger, view=forms.loading(request_id, "Reading the request…")
    )
    view_id = opened["view"]["id"]
    turn.after_in_view(view_id, request_id, _show_details(turn, view_id, request_id))


async def _show_details(turn: Turn, view_id: str, request_id: str) -> None:
    await people.require_reader(turn.core, turn.user)
    view = replies.request_modal(await request_lookups.request_view(turn.core, request_id))
    await turn.client.views_update(view_id=view_id, view=view)


async def _confirm(turn: Turn, request_id: str, version: int) -> None:
    confirmed = await approvals.confirm(turn.core, request_id, turn.user)
    await turn.tell(replies.said(f"✓ {confirmed.id} is confirmed by you."))


async def _try_now(turn: Turn, request_id: str, version: int) -> None:
    tried = await try_now.try_now(turn.core, request_id, turn.user)
    await turn.tell(replies.said(f"➤ {tried.id} is tried now. Its message shows what comes of it."))


async def _undo(turn: Turn, request_id: str, version: int) -> None:
    await open_forms.open_from_request(turn, request_id, undo=True)


async def _again(turn: Turn, request_id: str, version: int) -> None:
    if (await request_lookups.request_view(turn.core, request_id)).batch is not None:
        await batches.again(turn, request_id)
        return
    await open_forms.open_from_request(turn, request_id)


_WORK = {
    "approve": _approve,
    "reject": _reject,
    "cancel": _cancel,
    "confirm": _confirm,
    "undo": _undo,
    "try_now": _try_now,
    "resolve": _resolve,
    "details": _details,
    "rows": batches.rows,
    "again": _again,
}


async def open_form(turn: Turn) -> None:
    """Review and submit, next steps of a card, quick actions on Home: the value is the command as typed."""
    chosen = turn.action.get("selected_option") or turn.action
    asked = grammar.from_text(str(chosen.get("value") or ""))
    await turn.ack()
    cls = asked.kind(turn.core.kinds)
    if cls is None:
        raise NotFound("This button is for an operation that no longer exists. See /countersign help.")
    turn.after(open_forms.open_from_command(turn, cls, asked.rest))


async def edit(turn: Turn) -> None:
    """Back from the preview to the fields, as they were filled."""
    await turn.ack()
    meta = ids.unpack(turn.view["private_metadata"])
    title = str(turn.view["title"]["text"])
    work = _edit(turn, str(turn.action["value"]), meta.get("channel", ""))
    turn.after_in_view(turn.view["id"], title, work)


async def _edit(turn: Turn, draft_id: str, channel: str) -> None:
    view = await open_forms.form_of_draft(turn, draft_id, channel)
    await turn.client.views_update(view_id=turn.view["id"], view=view)


async def share(turn: Turn) -> None:
    """Share to channel: asked again now, posted for everybody with the name of who shares it."""
    asked = grammar.from_text(str(turn.action.get("value") or ""))
    await turn.ack()
    turn.after(_share(turn, asked))


async def _share(turn: Turn, asked: Command) -> None:
    answer = await dispatch.shared(turn, asked)
    thread = (turn.body.get("container") or {}).get("thread_ts")

    async def post(drawn: blocks.Block) -> AsyncSlackResponse:
        return await turn.client.chat_postMessage(
            channel=turn.channel, thread_ts=thread, unfurl_links=False, unfurl_media=False, **drawn
        )

    posted, refused = await chart_upload.send(post, answer)
    drawn = charts.picture(answer) if refused else None
    if drawn is not None:
        below = thread or str(posted["ts"])
        await chart_upload.send_picture(turn.client, drawn, channel=turn.channel, thread=below)


async def anything(turn: Turn) -> None:
    """A button of an older version of this app."""
    await turn.ack()
    turn.after(
        turn.tell(
            blocks.message(
                "This button is no longer in use.",
                [blocks.section("This button is no longer in use. See `/countersign help`.")],
            )
        )
    )
