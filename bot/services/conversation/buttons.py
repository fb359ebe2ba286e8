"""What the buttons of a conversation do. A button of an older version than the dialog's does nothing."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.errors import Stale
from bot.services import people
from bot.services.conversation import dialog as conversation
from bot.services.conversation import forms, memory, undo
from bot.services.conversation.facts import ReceivedMessage
from bot.services.core import Core
from bot.view_models import Form, Question, Step
from storage.messages import Dialog


async def picked(core: Core, stamp: str, number: int, slack_id: str) -> tuple[Dialog, str]:
    """The answer that was chosen, as it would have been typed. Raises Stale."""
    dialog = await memory.marked(core, stamp, slack_id)
    if not 0 <= number < len(dialog.candidates):
        raise Stale(memory.MOVED_ON)
    return dialog, dialog.candidates[number]


async def form(core: Core, stamp: str, number: int, slack_id: str) -> Form:
    """The form that was offered, filled. Raises Stale, NotAllowed."""
    offers = memory.readings(await memory.marked(core, stamp, slack_id), "offers")
    if not 0 <= number < len(offers):
        raise Stale(memory.MOVED_ON)
    reading = offers[number]
    cls = forms.kind_wanted(reading, core.kinds)
    await people.require_may_ask(
        core,
        slack_id,
        cls,
        action="request.say",
        within_s=people.ANSWERED_WITHIN_S,
        safer=cls.handling.is_urgent,
    )
    texts, reason = forms.texts(cls, reading.slots, reading.card), str(reading.slots.get(forms.REASON, ""))
    is_said = not any(note.startswith(undo.TAKES_BACK) for note in reading.notes)
    return Form(cls, texts, " ".join(reading.notes), reason, is_said)


async def look(
    core: Core, stamp: str, number: int, message: ReceivedMessage, reader: conversation.Reader
) -> Sequence[Step]:
    """The look-up that was proposed. Raises Stale, NotAllowed, NotFound."""
    dialog = await memory.marked(core, stamp, message.actor.id)
    offers = memory.readings(dialog, "offers")
    if not 0 <= number < len(offers):
        raise Stale(memory.MOVED_ON)
    return [await conversation.look(core, message, dialog, offers[number], reader)]


async def switch(core: Core, stamp: str, message: ReceivedMessage) -> Sequence[Step]:
    """Drop the old question and go on with what was said after it. Raises Stale, NotAllowed."""
    dialog = await memory.marked(core, stamp, message.actor.id)
    waiting = memory.readings(dialog, "next")
    if not waiting:
        raise Stale(memory.MOVED_ON)
    dropped = await memory.drop(core, dialog)
    return [await conversation.go_on(core, message, dropped, waiting)]


async def stay(core: Core, stamp: str, slack_id: str) -> Question:
    """Forget what was said after the question, and ask it again. Raises Stale."""
    dialog = await memory.marked(core, stamp, slack_id)
    slots = {name: value for name, value in dialog.slots.items() if name != "next"}
    kept = await memory.change(core, dialog, slots=slots)
    return Question(memory.asked(kept), memory.mark(kept))


async def forget(core: Core, stamp: str, slack_id: str) -> None:
    """Never mind. Raises Stale."""
    await memory.drop(core, await memory.marked(core, stamp, slack_id))
