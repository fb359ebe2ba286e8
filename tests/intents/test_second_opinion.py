"""Before a form opens the ranker is asked, too: what it all but rules out is asked about, whatever the rules have read.

It sees the whole text, they its frames and values, so the two seldom err together. It opens nothing by this.
"""

from collections import Counter

import pytest

from bot.intents import Reading, parse, read_by_rules
from bot.intents.ranking import ranked
from bot.intents.readings import Context
from tests.support import authors

_WRONG_WAY = (("freeze_card", "unfreeze_card"), ("topup_card", "unload_card"))
#: What the rules of their day opened wrongly, each by a slip or another order of its words.
_OPENED_ONCE = {
    "Truckstop bookings online keep asking for 3D Sceure and hugo-o doesn't have it. Please enable it": "unfreeze_card",
    "howzit can you open nora haddad's card again been frozen and she is back on the road from today": "freeze_card",
    "lift vhe freeze on ads-eu. meta refunded both dupes so we're good to run again": "freeze_card",
    "The last request of mine, the one on 8863, retire it please, the agency invoices at the end": "close_card",
}


def context_of(text: str) -> Context:
    context = read_by_rules(text, authors.facts()).context
    assert context is not None
    return context


def is_believed(intent: str, context: Context) -> bool:
    """Would the form of such a request open, had the rules read it?"""
    return any(one.opened for one in ranked((Reading(intent, opened=True),), context).readings)


@pytest.mark.parametrize(("text", "intent"), _OPENED_ONCE.items())
def test_what_was_opened_wrongly_would_be_asked_about(text: str, intent: str) -> None:
    assert not is_believed(intent, context_of(text))

    assert not any(one.opened and one.intent == intent for one in parse(text, authors.facts()).readings)


def test_a_request_that_was_read_wrongly_is_asked_about_and_one_read_rightly_opens() -> None:
    said = [one for one in authors.said_by(authors.DEVELOPMENT) if one.kind == "wish"][::10]
    intents = sorted({one.intent for one in said} - {"undo", "pause_sending", "set_markup", "submit_funding"})
    believed: Counter[tuple[str, str]] = Counter()
    for one in said:
        context = context_of(one.text)
        believed.update((one.intent, intent) for intent in intents if is_believed(intent, context))
    rightly = sum(count for (meant, read), count in believed.items() if meant == read)
    wrongly = sum(believed.values()) - rightly
    meant = Counter(one.intent for one in said)
    could_be_right = sum(meant[intent] for intent in intents)

    assert rightly >= 0.98 * could_be_right
    assert wrongly <= 0.02 * (len(said) * len(intents) - could_be_right)
    for way, other in _WRONG_WAY:
        assert believed[way, other] <= 0.25 * meant[way]


def test_the_question_offers_what_was_read() -> None:
    asked = ranked(
        (Reading("close_card", {"card": "3205"}, opened=True),),
        context_of("unfreeze 3205, he has it back"),
    ).readings[0]

    assert (asked.intent, asked.wanted, asked.opened) == ("ambiguous", "close_card", False)
    assert asked.ask is not None
    assert [option.value for option in asked.ask.options] == ["close 3205 for good"]
