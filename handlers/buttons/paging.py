"""Buttons of an answer that ask for another one: a page of it in its place, or another look-up."""

from __future__ import annotations

from slack_sdk.webhook import WebhookResponse

from handlers.commands import Command, dispatch, grammar
from handlers.guard import Turn
from handlers.slack_api import chart_upload
from handlers.views import Block


async def look(turn: Turn) -> None:
    """Another look-up: the value is its command as typed."""
    await turn.ack()
    turn.after(_look(turn))


async def _look(turn: Turn) -> None:
    await turn.tell(await dispatch.answer(turn, _asked(turn)))


async def turn_page(turn: Turn) -> None:
    """Another page, read again, in the place of the one that was shown to this person alone."""
    await turn.ack()
    turn.after(_turn_page(turn))


async def _turn_page(turn: Turn) -> None:
    answer = await dispatch.answer(turn, _asked(turn))
    if not (_is_theirs(turn) and await _replaced(turn, answer)):
        await turn.tell(answer)


def _asked(turn: Turn) -> Command:
    return grammar.from_text(str(turn.action.get("value") or ""))


def _is_theirs(turn: Turn) -> bool:
    """A message that nobody else reads: others keep the page they look at."""
    container = turn.body.get("container") or {}
    return bool(container.get("is_ephemeral")) or turn.channel.startswith("D")


async def _replaced(turn: Turn, answer: Block) -> bool:
    """False where Slack does not take it in the place of the old one."""
    if turn.respond is None or not turn.body.get("response_url"):
        return False
    respond = turn.respond

    async def replace(drawn: Block) -> WebhookResponse:
        return await respond(**drawn, response_type="ephemeral", replace_original=True)

    said, _ = await chart_upload.send(replace, answer)
    return said.status_code < 400
