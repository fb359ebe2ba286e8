"""What follows from sentences in plain English: each is read as the product reads it, about five cards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bot import intents, operations
from bot.domain.cards import label
from bot.intents import Ask, Directory, Facts, KnownCard, Option
from bot.services.conversation import forms
from bot.services.conversation.examples import nearest
from handlers.views import conversation, replies
from handlers.views.lookups import float_and_ledger
from tests.handlers.sample_requests import NOW
from tests.messages.lookup_samples import the_float
from tests.messages.request_samples import Sample, a_top_up

_KINDS = operations.kinds()
CARDS = (
    KnownCard("3205", "MARTA KOWALSKA", "sales-team", "card_1", "ACTIVE"),
    KnownCard("6994", "DANIEL OKAFOR", "sales-team", "card_2", "ACTIVE"),
    KnownCard("5601", "SOFIA MARCHETTI", "sales-team", "card_3", "FROZEN"),
    KnownCard("7578", "JONAS WEBER", "office", "card_4", "ACTIVE"),
    KnownCard("8127", "MARTA ROSSI", "office", "card_5", "ACTIVE"),
)
_FACTS = Facts(now=NOW, tz="Europe/Paris", cards=CARDS)
_MARK = "01JQ8Z:1"
_HERE = "Type it here."


def _follows(text: str, *, is_own: bool = True) -> dict[str, Any]:
    """A question, or the forms to review, as the conversation draws them."""
    actions = [
        r for r in intents.parse(text, _FACTS, None, _KINDS).readings if forms.wants_operation(r, _KINDS)
    ]
    if len(actions) == 1 and actions[0].ask is not None:
        return conversation.question(actions[0].ask, _MARK, notes=actions[0].notes, typed=_HERE)
    kinds = [forms.kind_wanted(reading, _KINDS) for reading in actions]
    shown = [
        conversation.offer(
            cls.verb,
            forms.lines(cls, forms.texts(cls, reading.slots, reading.card), reading.card),
            _MARK,
            number,
            reading.notes,
            full=reading.opened and is_own,
        )
        for number, (cls, reading) in enumerate(zip(kinds, actions, strict=True))
    ]
    return conversation.offers(shown, [cls.verb for cls in kinds], is_own=is_own)


def talks() -> Iterator[Sample]:
    """What was said, and what Countersign answers."""
    for text in (
        "top up Marta Kowalska by 50",
        "top up 3205 by 50 and freeze Daniel",
        "top up Marta by 50",
        "top up 3205",
        "freeze Daniell",
        "order a card for Elena Petrova",
        "set the limits of 3205 to 200 a day",
        "put 2,750 on 7578",
        "unfreeze sofia",
    ):
        yield f"“{text}”", _follows(text)
    yield "“freeze 6994”, said by somebody else", _follows("freeze 6994", is_own=False)
    missing = next(iter(intents.parse("top up 3205", _FACTS, None, _KINDS).readings)).ask
    assert missing is not None
    yield "The question again", conversation.question(missing, _MARK, missed=True, typed=_HERE)
    cards = tuple(Option(card.last4, label(card.holder, card.last4)) for card in CARDS)
    many = Ask("card", "Which card?", cards * 26)
    yield "More answers than buttons", conversation.question(many, _MARK, typed=_HERE)
    yield "Another request meanwhile", conversation.choice("Top up", "Freeze", _MARK)
    known = Directory.of(CARDS)
    yield "“who let the dogs out”", conversation.lost(nearest("who let the dogs out", _KINDS, known))
    yield "Nothing to suggest", conversation.lost(())
    likely = [
        ("Top up: MARTA KOWALSKA ••3205 by 60.00 USD", 0, False),
        ("Show MARTA KOWALSKA ••3205", 1, True),
    ]
    yield "Something that is not read for certain", conversation.proposals(likely, _MARK, answered=False)
    others = [("Purchases of MARTA KOWALSKA ••3205", 0, True)]
    yield "Beside an answer that is only likely", conversation.proposals(others, _MARK, answered=True)
    yield "A card number in a message", conversation.guarded()
    yield "More than 20 messages in a minute", conversation.too_many()
    yield "“pause everything”", conversation.pausing(("main",), ("other",))
    yield "“pause everything”, and it is paused", conversation.pausing((), ("main",))
    yield "“undo that”, while it waits", replies.cancel(a_top_up())
    yield "“never mind”", conversation.words("Dropped. Nothing was requested and nothing has changed.")
    note = "I took “this month” as 1 March 2026 to today."
    yield "An answer with a note", conversation.noted(float_and_ledger.float_answer(the_float()), (note,))
    yield "“cancel R-7K3M”", replies.cancel(a_top_up())
    yield "“top up” as a command", replies.review(_KINDS["card_topup"], "card topup 3205 50")
