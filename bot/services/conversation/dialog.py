"""What follows from something said: a look-up, a question, a form to review, or a plain word.

Nothing said makes, approves, rejects or cancels a request. The most that a text can do is to fill a form,
which its writer then opens, checks and submits. Reads are answered at once; for a request every slot is asked
one by one, and the question stays open for half an hour while other things are talked about.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import ROUND_DOWN, Decimal
from typing import Any

from bot import intents
from bot.domain.errors import NotAllowed, NotFound
from bot.domain.money import format_usd
from bot.intents import Ask, Facts, KnownCard, Reading, Suggestion
from bot.operations import Operation
from bot.services import people
from bot.services.conversation import forms, memory, suggested, undo, unread
from bot.services.conversation.examples import nearest
from bot.services.conversation.facts import (
    Names,
    ReceivedMessage,
    all_on,
    dialog_of,
    facts,
    holds_card_number,
    latest_dialog,
    open_question,
    thread_of,
)
from bot.services.core import Core
from bot.services.operators import pausing
from bot.view_models import (
    Cancelling,
    Choice,
    Guarded,
    Help,
    Look,
    Lost,
    Offer,
    Offers,
    Pausing,
    Proposal,
    Proposals,
    Question,
    Step,
    Words,
)
from storage.messages import Dialog

Kinds = Mapping[str, type[Operation]]
# A reading proposed where the grammar found none: text and facts in, a read or a "did you mean" out.
Guess = Callable[[str, Facts], Awaitable[Reading | None]]

MOST_MISSES = 2
_CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Reader:
    """What reads a text apart from the grammar: the cards' names, and the optional language model's guess.

    `keep_unread`: a text that nobody understood is kept, masked.
    """

    guess: Guess | None = None
    names: Names = field(default_factory=Names)
    keep_unread: bool = False


_DROPS = re.compile(
    r"(?:ok(?:ay)?[, ]+)?(?:never ?mind|nevermind|nvm|forget (?:it|that|about it)|cancel(?: that| this| it)?|stop"
    r"|drop (?:it|that|this)|leave it|scratch that|don'?t bother)(?:[, ]+(?:please|thanks?|thank you))?[.! ]*",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?:yes|yep|yeah|yup|sure|ok(?:ay)?|go(?: ahead| for it)?|do (?:it|that)|confirm(?:ed)?|submit(?: it)?|please do"
    r"|y|lgtm)(?:[, ]+(?:please|thanks?|do it|go ahead))?[.! ]*",
    re.IGNORECASE,
)
_SMALL_TALK = {
    intents.GREETING: "Hello! Ask about a card, the float, spending or a request, or say what you need."
    " “help” shows more.",
    intents.THANKS: "You're welcome.",
    intents.OTHER_LANGUAGE: "I understand English only. Please say it in English, or type /countersign help.",
}
_SPOKEN = {"tx_hash": "transaction hash", "partner_ref": "reference", "name": "cardholder's name"}


@dataclass(slots=True)
class _Turn:
    """One text being worked on. `open`: the dialog whose question waits for an answer."""

    core: Core
    message: ReceivedMessage
    dialog: Dialog | None
    before: Dialog | None = None  # what was talked about until now, in another thread if not in this one

    @property
    def said_before(self) -> Dialog | None:
        return self.dialog or self.before

    @property
    def open(self) -> Dialog | None:
        return self.dialog if self.dialog and self.dialog.asked_slot else None


async def respond(core: Core, message: ReceivedMessage, reader: Reader) -> tuple[Sequence[Step], str]:
    """What follows from a text, in order, and the thread it belongs to. Raises NotAllowed, NotFound."""
    dialog = await dialog_of(core, message)
    if dialog is None and message.alone:
        dialog = await _answered(core, message, reader)
    before = await latest_dialog(core, message) if dialog is None and message.in_main_box else None
    if dialog is not None:
        message = replace(message, place=dialog.place)
    return await _steps(_Turn(core, message, dialog, before), reader), message.place.thread_ts


async def _answered(core: Core, message: ReceivedMessage, reader: Reader) -> Dialog | None:
    """The open question that a text outside any thread answers. What is a request by itself begins again."""
    dialog = await open_question(core, message)
    if dialog is None or _DROPS.fullmatch(message.text.strip()):
        return dialog
    known, kinds = await facts(core, message, reader.names), core.kinds
    if any(forms.wants_operation(r, kinds) for r in intents.parse(message.text, known, None, kinds).readings):
        return None
    readings = intents.parse(message.text, known, await thread_of(core, dialog), kinds).readings
    return dialog if all(forms.aim(r) == dialog.intent for r in readings) else None


async def _steps(turn: _Turn, reader: Reader) -> Sequence[Step]:
    if holds_card_number(turn.message.text):
        return [Guarded()]
    known = await facts(turn.core, turn.message, reader.names)
    thread = await thread_of(turn.core, turn.said_before, answering=turn.dialog is not None)
    parsed = intents.parse(turn.message.text, known, thread, turn.core.kinds)
    if parsed.guarded:
        return [Guarded()]
    if word := await _little_words(turn):
        return [word]
    readings = parsed.readings
    if all(r.intent == "none" for r in readings) and (
        talk := _SMALL_TALK.get(intents.small_talk(turn.message.text))
    ):
        return [Words(talk)]
    if reader.guess is not None and turn.open is None and all(r.intent == "none" for r in readings):
        proposed = await reader.guess(turn.message.text, known)
        readings = readings if proposed is None else (proposed,)
    actions = [r for r in readings if forms.wants_operation(r, turn.core.kinds)]
    steps = [await _read(turn, r, known.cards) for r in readings if r not in actions and r.intent != "none"]
    if actions:
        steps.append(await _act_on(turn, actions))
    elif parsed.suggestions and parsed.readings is readings and turn.open is None:
        steps += await _proposed(turn, parsed.suggestions, answered=bool(steps))
    if reader.keep_unread and turn.open is None and not actions and all(r.intent == "none" for r in readings):
        await unread.keep(turn.core, turn.message.text, known)
    if steps:
        return steps
    return [await _missed(turn, turn.open) if turn.open else await _lost(turn, known.cards)]


async def _proposed(turn: _Turn, suggestions: Sequence[Suggestion], *, answered: bool) -> list[Step]:
    """What may have been meant, where it can be done; nothing where a question was just asked.

    A look-up that was answered beside it can still be followed up.
    """
    turn.dialog = await dialog_of(turn.core, turn.message)
    if turn.open is not None:
        return []
    kinds = turn.core.kinds
    is_pause_likely = any(one.intent == "pause_sending" for one in suggestions)
    may_pause = is_pause_likely and await pausing.may_pause(turn.core, turn.message.actor.id)
    readings = suggested.offered(suggestions, kinds, may_ask=await _may_ask(turn), may_pause=may_pause)
    if not readings:
        return []
    slots = {"slots": {}, "offers": memory.as_json(readings), **memory.read_before(turn.said_before)}
    turn.dialog = await memory.begin(turn.core, turn.message.place, turn.dialog, slots=slots)
    proposals = tuple(
        Proposal(suggested.label(reading, kinds), number, suggested.is_look(reading))
        for number, reading in enumerate(readings)
    )
    return [Proposals(proposals, memory.mark(turn.dialog), answered)]


async def look(
    core: Core, message: ReceivedMessage, dialog: Dialog, reading: Reading, reader: Reader
) -> Step:
    """What a pressed button answers: a look-up, or what "undo" and "pause" lead to. Raises NotAllowed, NotFound."""
    known = await facts(core, message, reader.names)
    return await _read(_Turn(core, replace(message, place=dialog.place), dialog), reading, known.cards)


async def _little_words(turn: _Turn) -> Words | None:
    """Words that drop the question and nothing else, and a bare yes, which does nothing at all."""
    text = turn.message.text.strip()
    if turn.open and _DROPS.fullmatch(text):
        await memory.drop(turn.core, turn.open)
        return Words("Dropped. Nothing was requested and nothing has changed.")
    if _BARE.fullmatch(text):
        return Words(
            "Typing “yes” does nothing. Use the buttons to submit forms and to decide on requests."
            " Say what you need, or press the button you mean."
        )
    return None


async def _read(turn: _Turn, reading: Reading, cards: Sequence[KnownCard]) -> Step:
    """A read never waits for anything and leaves an open question as it is."""
    if reading.intent == "help":
        return Help()
    if reading.intent == "pause_sending":
        return await _pausing(turn)
    if reading.intent == "undo" and reading.ask is None:
        return await _undo(turn, reading, cards)
    if reading.ask is not None:
        if turn.open and turn.open.intent != forms.aim(reading):
            named = ", ".join(option.label for option in reading.ask.options[:5])
            return Words(
                " ".join(filter(None, (reading.ask.question, named, "Say the whole of it once more.")))
            )
        return await _ask(turn, reading, reading.ask)
    await memory.about_read(turn.core, turn.message.place, turn.dialog, turn.said_before, reading)
    turn.dialog = await dialog_of(turn.core, turn.message)
    return Look(reading)


async def _pausing(turn: _Turn) -> Pausing | Words:
    """The button of each program that is sent to, whose form alone pauses; or who may."""
    try:
        running, paused = await pausing.to_pause(turn.core, turn.message.actor.id)
    except NotAllowed as refusal:  # what else the text asks for is answered
        return Words(str(refusal))
    return Pausing(running, paused)


async def _undo(turn: _Turn, reading: Reading, cards: Sequence[KnownCard]) -> Step:
    """The person's own request: to be cancelled by its button, or its opposite to be submitted as a form."""
    try:
        found = await undo.what_follows(
            turn.core, turn.message.actor.id, reading, intents.Directory.of(cards)
        )
    except NotFound as missing:
        return Words(str(missing))
    match found:
        case str():
            return Words(found)
        case Reading():
            return await _act_on(turn, [found])
    return Cancelling(found)


async def _lost(turn: _Turn, cards: Sequence[KnownCard]) -> Lost:
    """Nothing was understood, and nothing had been asked: what this person could have said."""
    kinds = turn.core.kinds if await _may_ask(turn) else {}
    return Lost(nearest(turn.message.text, kinds, intents.Directory.of(cards)))


async def _may_ask(turn: _Turn) -> bool:
    """May this person request anything?"""
    core, names = turn.core, turn.core.policy.people.requesters
    return not names or turn.message.actor.id in await core.directory.members_lately(names)


async def _act_on(turn: _Turn, actions: Sequence[Reading]) -> Step:
    """The one thing that follows from all the requests of a text."""
    for reading in actions:
        await _require_may_ask(turn, reading)
    actions = [await _counted(turn.core, reading) for reading in actions]
    if len(actions) == 1 and turn.message.is_own and (reason := intents.reason_in(turn.message.text)):
        actions = [replace(actions[0], slots={forms.REASON: reason, **actions[0].slots})]
    first = actions[0]
    if turn.open and turn.open.intent != forms.aim(first) and _is_another(turn, turn.open):
        return await _choice(turn, turn.open, actions)
    if len(actions) == 1 and first.ask is not None:
        return await _ask(turn, first, first.ask)
    return await _offer(turn, actions)


async def _counted(core: Core, reading: Reading) -> Reading:
    """ "Everything" as the number it is now, read live; asked for where it cannot be read."""
    if not reading.slots.get("everything") or reading.card is None:
        return reading
    balance_usd = await all_on(core, reading.card)
    rest = {name: value for name, value in reading.slots.items() if name != "everything"}
    if balance_usd is None or balance_usd <= 0:
        said = "cannot be read just now" if balance_usd is None else "is 0.00 USD"
        question = Ask(
            "amount", f"The balance of {forms.label(reading.card)} {said}. How much, in US dollars?"
        )
        return replace(reading, slots=rest, opened=False, ask=reading.ask or question)
    note = f"Everything on {forms.label(reading.card)} is {format_usd(balance_usd)}, read just now."
    left = None if reading.ask and reading.ask.slot == "amount" else reading.ask
    return replace(
        reading,
        slots={**rest, "amount": str(balance_usd.quantize(_CENT, ROUND_DOWN))},
        ask=left,
        opened=left is None and reading.intent != "ambiguous",
        notes=(*reading.notes, note),
    )


def _is_another(turn: _Turn, dialog: Dialog) -> bool:
    """Does a request break in on another one? "Did you mean …?" waits for none, and a press answers what was asked."""
    return not turn.message.is_pick and forms.kind_of(dialog.intent, turn.core.kinds) is not None


async def _require_may_ask(turn: _Turn, reading: Reading) -> None:
    cls = forms.kind_of(forms.aim(reading), turn.core.kinds)
    if cls is None:
        raise NotFound("Countersign does not do that here. See /countersign help. Nothing was requested.")
    # The look that let this message in serves; who submits the form is looked up again.
    await people.require_may_ask(
        turn.core,
        turn.message.actor.id,
        cls,
        action="request.say",
        within_s=people.DECIDED_WITHIN_S,
        safer=cls.handling.is_urgent,
    )


async def _ask(turn: _Turn, reading: Reading, ask: Ask) -> Question | Words:
    """Ask for the one thing that is missing; asked in vain twice, say how to do it without talking."""
    intent = forms.aim(reading)
    before = (
        turn.open if turn.open and (turn.open.intent, turn.open.asked_slot) == (intent, ask.slot) else None
    )
    slots = {**memory.said(turn.open), **reading.slots}
    if before and before.misses + 1 >= MOST_MISSES:
        return await _give_up(turn.core, before, slots)
    card = {"last_card_id": reading.card.id} if reading.card else {}
    turn.dialog = await memory.begin(
        turn.core,
        turn.message.place,
        turn.dialog,
        intent=intent,
        slots={"slots": slots, "asked": asdict(ask), "cards": _cards(turn, reading)},
        asked_slot=ask.slot,
        candidates=tuple(option.value for option in ask.options),
        misses=before.misses + 1 if before else 0,
        **card,
    )
    return Question(ask, memory.mark(turn.dialog), reading.notes, missed=before is not None)


async def _missed(turn: _Turn, dialog: Dialog) -> Question | Words:
    """Nothing was understood while a question was open: it is asked again, once."""
    if dialog.misses + 1 >= MOST_MISSES:
        return await _give_up(turn.core, dialog, memory.said(dialog))
    kept = await memory.change(turn.core, dialog, misses=dialog.misses + 1)
    return Question(memory.asked(kept), memory.mark(kept), missed=True)


async def _give_up(core: Core, dialog: Dialog, slots: Mapping[str, Any]) -> Words:
    await memory.drop(core, dialog)
    cls = forms.kind_of(dialog.intent, core.kinds)
    typed = forms.as_command(cls, slots) if cls else "/countersign help"
    wanted = _SPOKEN.get(dialog.asked_slot, dialog.asked_slot.replace("_", " "))
    return Words(
        f"I cannot make out the {wanted}, so I stop asking. Type {typed} instead. Nothing was requested and nothing"
        " has changed."
    )


async def _choice(turn: _Turn, old: Dialog, actions: Sequence[Reading]) -> Choice:
    """Keep the new requests beside the open question until their writer says which it is."""
    kept = await memory.change(turn.core, old, slots={**old.slots, "next": memory.as_json(actions)})
    kinds = turn.core.kinds
    return Choice(forms.verb(old.intent, kinds), forms.verb(forms.aim(actions[0]), kinds), memory.mark(kept))


async def _offer(turn: _Turn, actions: Sequence[Reading]) -> Offers:
    """One button for each request; what was said of a single one is still known when more is said."""
    if len(actions) == 1:
        actions = [replace(actions[0], slots={**memory.said(turn.open), **actions[0].slots})]
    only = actions[0] if len(actions) == 1 else None
    dialog = await memory.begin(
        turn.core,
        turn.message.place,
        turn.dialog,
        intent=forms.aim(only) if only else "",
        slots={
            "slots": dict(only.slots) if only else {},
            "offers": memory.as_json(actions),
            "cards": _cards(turn, only),
        },
        **({"last_card_id": only.card.id} if only and only.card else {}),
    )
    offers = (_one_offer(turn, number, reading) for number, reading in enumerate(actions))
    return Offers(tuple(offers), memory.mark(dialog), turn.message.is_own)


def _cards(turn: _Turn, reading: Reading | None) -> list[str]:
    """The cards talked about before the one of this reading."""
    return memory.cards_before(turn.said_before, reading.card.id if reading and reading.card else "")


def _one_offer(turn: _Turn, number: int, reading: Reading) -> Offer:
    cls = forms.kind_wanted(reading, turn.core.kinds)
    filled = forms.texts(cls, reading.slots, reading.card)
    full = reading.opened and turn.message.is_own
    lines = forms.lines(cls, filled, reading.card)
    if reason := reading.slots.get(forms.REASON):
        lines = (*lines, ("Reason", reason))
    return Offer(cls.verb, lines, number, reading.notes, full)


async def go_on(core: Core, message: ReceivedMessage, dialog: Dialog, actions: Sequence[Reading]) -> Step:
    """The requests that waited, now that the question before them is dropped. Raises NotAllowed."""
    return await _act_on(_Turn(core, replace(message, place=dialog.place), dialog), actions)
