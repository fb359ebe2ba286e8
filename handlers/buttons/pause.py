"""The buttons that stop and resume sending, on Home and on the status, and the form that asks why."""

from __future__ import annotations

from bot.domain.errors import InvalidInput, NotFound
from bot.services.operators import pausing
from handlers.guard import Turn
from handlers.views import blocks, ids, replies
from handlers.views.lookups import status
from handlers.views.requests import forms

_TITLE = "Pause sending"


async def pressed(turn: Turn) -> None:
    """`sending:pause:PROGRAM` opens the form, `sending:resume:PROGRAM` asks or confirms."""
    verb = turn.action["action_id"].split(":")[1]
    program = str(turn.action.get("value") or "")
    await turn.ack()
    if program not in turn.core.partners:
        raise NotFound("There is no such program any more. See /countersign status.")
    turn.after(_resume(turn, program) if verb == "resume" else _open_form(turn, program))


async def _open_form(turn: Turn, program: str) -> None:
    await turn.client.views_open(trigger_id=turn.trigger, view=status.pause_form(program))


async def _resume(turn: Turn, program: str) -> None:
    for said in await pausing.resume(turn.core, turn.user, [program]):
        await turn.tell(replies.said(said))


async def pause(turn: Turn) -> None:
    """The form: whoever may, stops it at once."""
    program = ids.unpack(turn.view["private_metadata"])["program"]
    reason = forms.answer(turn.view["state"]["values"]["reason"]["value"])
    try:
        reason = pausing.read_optional_reason(reason)
    except InvalidInput as wrong:
        await turn.ack(response_action="errors", errors={"reason": str(wrong)})
        return
    await turn.ack(response_action="update", view=forms.loading(_TITLE, "Checking that you may pause…"))
    turn.after_in_view(turn.view["id"], _TITLE, _pause(turn, program, reason))


async def _pause(turn: Turn, program: str, reason: str) -> None:
    stopped = await pausing.pause(turn.core, turn.user, [program], reason)
    said = status.paused(stopped, [] if stopped else [program])
    view = blocks.modal(ids.NOTICE, _TITLE, said["blocks"])
    await turn.client.views_update(view_id=turn.view["id"], view=view)
