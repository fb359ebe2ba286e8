"""A conversation in Slack: what was said goes to the service, what follows is drawn and reported.

Texts, buttons and the message shortcut meet here. Whatever is understood, a form is opened only by a press of
its writer, and a request is made only by submitting the form.
"""

from __future__ import annotations

from collections.abc import Sequence

from slack_sdk.errors import SlackApiError

from bot import intents
from bot.domain.errors import NotFound
from bot.domain.people import Actor
from bot.services import conversation, people
from bot.services.conversation import Place, ReceivedMessage
from bot.services.conversation import buttons as pressed
from bot.view_models import (
    Cancelling,
    Choice,
    Guarded,
    Help,
    Look,
    Lost,
    Offers,
    Pausing,
    Proposals,
    Question,
    Step,
    Words,
)
from handlers.commands import Command, dispatch, intent_commands, open_forms
from handlers.guard import Turn
from handlers.slack_api import agent, code_of
from handlers.views import blocks, replies
from handlers.views import conversation as talk
from handlers.views.requests import REASON, Filled

_HELP = Command("countersign", "help", "")
_IN_CHANNEL = "Type it in this thread with @Countersign before it, or to the app directly."
_IN_DIRECT = "Type it here."


async def talk_about(turn: Turn, text: str) -> None:
    """Something said in a mention or a direct message, in plain words."""
    supposed = _what_if(turn, text)
    if supposed is not None:
        await turn.tell(await dispatch.answer(turn, supposed))
        return
    said = await received_message(turn, text)
    steps, thread = await conversation.respond(turn.core, said, turn.deps.reader)
    if turn.thread:
        turn.thread = thread  # an answer to an older question goes to where it was asked
    await _tell_all(turn, steps, said.actor)


def _what_if(turn: Turn, text: str) -> Command | None:
    """`could we order 40 cards at 200?` as the look-up that reckons it; it never leads to a request."""
    read = intents.clean(text, our_id(turn))
    found = None if read.doubts or read.guarded else intents.read_what_if(read.text)
    return None if found is None else Command("countersign", "what-if", found.text)


async def received_message(turn: Turn, text: str) -> ReceivedMessage:
    """Raises NotAllowed for those who may use nothing.

    It may be a pause, which is known once it is read: all else that follows has a look of its own.
    """
    actor = await people.require_reader(turn.core, turn.user, safer=True)
    event = turn.event
    root = str(event.get("thread_ts") or event.get("ts") or "")
    return ReceivedMessage(
        place=Place(team_of(turn), turn.channel, root, turn.user),
        actor=actor,
        text=text,
        our_id=our_id(turn),
        alone=not event.get("thread_ts"),
    )


def team_of(turn: Turn) -> str:
    team = turn.body.get("team")
    return str(turn.body.get("team_id") or (team["id"] if team else ""))


def our_id(turn: Turn) -> str:
    """The app's own user, as the event names it."""
    granted = turn.body.get("authorizations") or []
    return next((str(one["user_id"]) for one in granted if one.get("is_bot")), "")


async def _tell_all(turn: Turn, steps: Sequence[Step], actor: Actor) -> None:
    for step in steps:
        await turn.tell(await _drawn(turn, step, actor))


async def _drawn(turn: Turn, step: Step, actor: Actor) -> blocks.Block:
    match step:
        case Look(reading):
            zone = actor.zone
            command = intent_commands.command_of(reading, turn.core.clock.now(), zone)
            notes = (*reading.notes, *intent_commands.not_applied(reading))
            return talk.noted(await dispatch.answer(turn, command), notes)
        case Question():
            return _asking(turn, step)
        case Offers(offers, mark, is_own):
            shown = [talk.offer(o.verb, o.lines, mark, o.number, o.notes, full=o.full) for o in offers]
            return talk.offers(shown, [o.verb for o in offers], is_own=is_own)
        case Choice(old, new, mark):
            return talk.choice(old, new, mark)
        case Words(text):
            return talk.words(text)
        case Cancelling(request):
            return replies.cancel(request)
        case Pausing(running, paused):
            return talk.pausing(running, paused)
        case Guarded():
            return talk.guarded()
        case Lost(examples):
            return talk.lost(examples)
        case Proposals(proposals, mark, answered):
            labels = [(one.label, one.number, one.is_look) for one in proposals]
            return talk.proposals(labels, mark, answered=answered)
        case Help():
            return await dispatch.answer(turn, _HELP)


def _asking(turn: Turn, question: Question) -> blocks.Block:
    return talk.question(
        question.ask,
        question.mark,
        notes=question.notes,
        missed=question.missed,
        typed=_IN_DIRECT if turn.thread else _IN_CHANNEL,
    )


async def suggest(turn: Turn) -> None:
    """The Messages tab was opened: what this person may say, where the workspace shows it."""
    await people.require_reader(turn.core, turn.user)
    uses = await dispatch.uses_of(turn.core, turn.user)
    prompts = agent.prompts(may_ask=uses.may_ask, may_decide=uses.may_decide)
    await turn.deps.agent.suggest(turn.client, turn.channel, prompts)


# Buttons


async def button(turn: Turn) -> None:
    """`say:pick`, `say:review`, `say:switch`, `say:stay`, `say:forget`."""
    await turn.ack()
    verb = turn.action["action_id"].split(":")[1]
    work = _WORK.get(verb)
    if work is None:
        raise NotFound("This button is no longer in use. Say what you need once more.")
    if turn.channel.startswith("D"):
        turn.thread = _thread_of_press(turn)
    turn.after(work(turn, _value(turn)))


def _thread_of_press(turn: Turn) -> str:
    message = turn.body.get("message") or {}
    container = turn.body.get("container") or {}
    return str(message.get("thread_ts") or container.get("thread_ts") or message.get("ts") or "")


def _value(turn: Turn) -> str:
    chosen = turn.action.get("selected_option")
    return str(chosen["value"] if chosen else turn.action.get("value") or "")


def _numbered(value: str) -> tuple[str, int]:
    stamp, _, number = value.rpartition(":")
    return stamp, int(number) if number.isascii() and number.isdigit() else -1


async def _pick(turn: Turn, value: str) -> None:
    """An answer that was offered is taken as if it had been typed."""
    stamp, number = _numbered(value)
    dialog, text = await pressed.picked(turn.core, stamp, number, turn.user)
    actor = await people.require_reader(turn.core, turn.user)
    said = ReceivedMessage(dialog.place, actor, text, is_pick=True)
    steps, _ = await conversation.respond(turn.core, said, turn.deps.reader)
    await _tell_all(turn, steps, actor)


async def _review(turn: Turn, value: str) -> None:
    stamp, number = _numbered(value)
    form = await pressed.form(turn.core, stamp, number, turn.user)
    said = frozenset([*form.texts, *([REASON] if form.reason else [])]) if form.is_said else frozenset[str]()
    filled = Filled(form.texts, form.reason, from_message=said)
    await open_forms.open_form(turn, form.cls, filled, note=form.note)


async def _switch(turn: Turn, value: str) -> None:
    actor = await people.require_reader(turn.core, turn.user)
    said = ReceivedMessage(Place(team_of(turn), turn.channel, "", turn.user), actor, "")
    await _tell_all(turn, await pressed.switch(turn.core, value, said), actor)


async def _stay(turn: Turn, value: str) -> None:
    await turn.tell(_asking(turn, await pressed.stay(turn.core, value, turn.user)))


async def _forget(turn: Turn, value: str) -> None:
    await pressed.forget(turn.core, value, turn.user)
    await turn.tell(talk.words("Dropped. Nothing was requested and nothing has changed."))


async def _look(turn: Turn, value: str) -> None:
    """What was proposed is shown."""
    stamp, number = _numbered(value)
    actor = await people.require_reader(turn.core, turn.user)
    said = ReceivedMessage(Place(team_of(turn), turn.channel, "", turn.user), actor, "")
    await _tell_all(turn, await pressed.look(turn.core, stamp, number, said, turn.deps.reader), actor)


async def _else(turn: Turn, value: str) -> None:
    """None of what was proposed: what can be done."""
    await pressed.forget(turn.core, value, turn.user)
    await turn.tell(await dispatch.answer(turn, _HELP))


_WORK = {
    "pick": _pick,
    "review": _review,
    "switch": _switch,
    "stay": _stay,
    "forget": _forget,
    "look": _look,
    "else": _else,
}


# The shortcut on a message


async def ask_about(turn: Turn) -> None:
    """`Ask Countersign about this`: the text of a message, chosen by the person who asks.

    Of their own words a whole request opens its form at once, as the shortcut brings a trigger; what somebody else
    wrote is a proposal, and its form opens only by its button.
    """
    await turn.ack()
    turn.after(_about(turn))


async def _about(turn: Turn) -> None:
    message = turn.body.get("message") or {}
    actor = await people.require_reader(turn.core, turn.user)
    is_own = message.get("user") == turn.user and not message.get("bot_id")
    root = str(message.get("thread_ts") or message.get("ts") or "")
    said = ReceivedMessage(
        place=Place(team_of(turn), turn.channel, root, turn.user),
        actor=actor,
        text=str(message.get("text") or ""),
        is_own=is_own,
    )
    steps, _ = await conversation.respond(turn.core, said, turn.deps.reader)
    for step in steps:
        if not await _opened(turn, step):
            await turn.tell(await _drawn(turn, step, actor))


async def _opened(turn: Turn, step: Step) -> bool:
    """Open the form of a whole request; False where there is none, or the trigger has run out meanwhile."""
    if not isinstance(step, Offers) or len(step.offers) != 1 or not step.offers[0].full:
        return False
    try:
        await _review(turn, f"{step.mark}:{step.offers[0].number}")
    except SlackApiError as error:
        if code_of(error) not in ("expired_trigger_id", "exchanged_trigger_id"):
            raise
        return False
    return True
