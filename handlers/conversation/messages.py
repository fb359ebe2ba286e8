"""Mentions and direct messages: the words of the slash commands first, then plain English.

Nothing said in a message asks, approves or cancels: a request is answered with a button to its form. An edited
message is not read again, and what bots, workflows and the app itself write is not read at all.
"""

from __future__ import annotations

from bot.services import people
from bot.services.conversation import holds_card_number
from handlers import safer
from handlers.commands import Command, dispatch, grammar
from handlers.conversation import dialog
from handlers.guard import Json, Turn
from handlers.modals import batches
from handlers.views import Block, conversation, replies


async def mention(turn: Turn) -> None:
    """`@Countersign card topup 4242 50` in a channel or thread; the answer is for the person alone."""
    await turn.ack()
    if is_said_by_a_person(turn.event):
        turn.after(_answer(turn))


async def direct_message(turn: Turn) -> None:
    """The same in the app's own conversation, where the answer hangs on the question."""
    await turn.ack()
    event = turn.event
    if event.get("channel_type") == "im" and _is_upload(event):
        turn.thread = str(event.get("thread_ts") or event["ts"])
        turn.after(batches.uploaded(turn))
        return
    if event.get("channel_type") != "im" or not is_said_by_a_person(event):
        return
    turn.thread = str(event.get("thread_ts") or event["ts"])
    turn.after(_answer(turn))


def _is_upload(event: Json) -> bool:
    """A person's file: a list of cards, perhaps."""
    return event.get("subtype") == "file_share" and bool(event.get("files")) and not event.get("bot_id")


def is_said_by_a_person(event: Json) -> bool:
    """Not a bot's, not a join or the like, and not an edit: Slack sends a mention again when its text was edited."""
    return bool(event.get("user")) and not (
        event.get("subtype") or event.get("bot_id") or event.get("edited")
    )


async def _answer(turn: Turn) -> None:
    async with turn.deps.budget.turn_of(people.known_person(turn.core, turn.user), turn.core.clock):
        await _answer_in_turn(turn)


async def _answer_in_turn(turn: Turn) -> None:
    """What is too much is refused first: it costs no call of Slack, no reading and no look into the database."""
    text = str(turn.event.get("text") or "")
    asked = grammar.from_message(text)
    is_command = dispatch.is_command(turn.core, asked)
    if not is_command and not await _is_within_budget(turn):
        return
    if holds_card_number(text):
        await turn.tell(conversation.guarded())
        return
    if turn.thread:
        await turn.deps.agent.working(turn.client, turn.channel, turn.thread)
    answer = await _by_command(turn, asked) if is_command else None
    if answer is not None:
        await turn.tell(answer)
    elif not is_command or await _is_within_budget(turn):
        await dialog.talk_about(turn, text)


async def _is_within_budget(turn: Turn) -> bool:
    """Whether their plain English is read; where it is not, that is said once. What may stop something has more
    room."""
    budget, person = turn.deps.budget, people.known_person(turn.core, turn.user)
    text, core = str(turn.event.get("text") or ""), turn.core

    def look() -> bool:
        return safer.is_read_so(text, core.clock.now(), core.kinds)

    if budget.take(person, core.clock.monotonic(), is_safer=safer.says_so(text), look=look):
        return True
    if budget.say_so(person):
        await turn.tell(conversation.too_many())
    return False


async def _by_command(turn: Turn, asked: Command) -> Block | None:
    """The answer where the text is a command word for word; None where it has to be understood."""
    cls = asked.kind(turn.core.kinds)
    if cls is not None:
        await dispatch.require_asker(turn.core, turn.user)
        return replies.review(cls, asked.text)
    if (asked.command, asked.subcommand) == ("requests", "cancel"):
        return await dispatch.cancel_button(turn.core, turn.user, asked.rest)
    if dispatch.is_for_help(asked):
        return await dispatch.answer(turn, asked)
    return await dispatch.understood(turn, asked)
