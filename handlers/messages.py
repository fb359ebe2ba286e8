"""Mentions and direct messages: the same words as the slash commands, for threads and those who type.

Nothing said in a message asks, approves or cancels: a wish is answered with a button to its form.
"""

from __future__ import annotations

from handlers import answers, grammar
from handlers.guard import Turn
from handlers.views import replies


async def mention(turn: Turn) -> None:
    """`@Countersign card topup 4242 50` in a channel or thread; the answer is for the person alone."""
    await turn.ack()
    turn.after(_answer(turn))


async def direct_message(turn: Turn) -> None:
    """The same in the app's own conversation. Edits, joins and bots' messages are no questions."""
    await turn.ack()
    if turn.event.get("subtype") or turn.event.get("bot_id") or turn.event.get("channel_type") != "im":
        return
    turn.after(_answer(turn))


async def _answer(turn: Turn) -> None:
    asked = grammar.from_message(str(turn.event.get("text") or ""))
    cls = asked.kind(turn.core.kinds)
    if cls is not None:
        await answers.require_asker(turn.core, turn.user)
        await turn.tell(replies.review(cls, asked.text))
    elif (asked.command, asked.subcommand) == ("requests", "cancel"):
        await turn.tell(await answers.cancel_button(turn.core, turn.user, asked.rest))
    else:
        await turn.tell(await answers.answer(turn, asked))
