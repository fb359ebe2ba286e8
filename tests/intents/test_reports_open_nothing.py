"""What has happened to a card already, or is asked after, opens no form for the same: a report pays nothing twice.

Kinds of reports by verbs by tenses: a verb in the past, the noun of a request with what became of it, a question after
it, a status in front of it, thanks for it.
"""

from itertools import product

import pytest

from bot import operations
from bot.intents import Parsed, parse
from tests.support import authors

KINDS = operations.kinds()
CARDS = ("3018", "Hugo's card", "Nora", "card 3018", "Hugo")
#: What is said behind the verb, with a value for what moves money or sets a limit.
MONEY, STATE, LIMIT = "{card} by 50", "{card}", "{card} to 500 daily"
#: The verb, its past, its participle and its noun, by what stands behind it.
VERBS = {
    "top up": ("topped up", "topped up", "top up", MONEY),
    "topup": ("topped up", "topped up", "topup", MONEY),
    "load": ("loaded", "loaded", "load", MONEY),
    "reload": ("reloaded", "reloaded", "reload", MONEY),
    "refill": ("refilled", "refilled", "refill", MONEY),
    "recharge": ("recharged", "recharged", "recharge", MONEY),
    "fund": ("funded", "funded", "funding", MONEY),
    "credit": ("credited", "credited", "credit", MONEY),
    "freeze": ("froze", "frozen", "freeze", STATE),
    "block": ("blocked", "blocked", "block", STATE),
    "lock": ("locked", "locked", "lock", STATE),
    "suspend": ("suspended", "suspended", "suspension", STATE),
    "unfreeze": ("unfroze", "unfrozen", "unfreeze", STATE),
    "unblock": ("unblocked", "unblocked", "unblock", STATE),
    "unlock": ("unlocked", "unlocked", "unlock", STATE),
    "reactivate": ("reactivated", "reactivated", "reactivation", STATE),
    "close": ("closed", "closed", "closure", STATE),
    "limit": ("limited", "limited", "limit", LIMIT),
    "raise": ("raised", "raised", "raise", LIMIT),
    "lower": ("lowered", "lowered", "change", LIMIT),
}
PAST = (
    "{past} {rest}",
    "just {past} {rest}",
    "{past} {rest} this morning",
    "{past} {rest}, thanks",
    "already {past} {rest}",
    "I {past} {rest}",
    "we {past} {rest} yesterday",
    "I've just {past} {rest}",
    "have {past} {rest}",
    "Bob {past} {rest}",
    "somebody {past} {rest} an hour ago",
    "they have {past} {rest}",
    "fyi {past} {rest}",
    "ok {past} {rest}",
    "{past} {rest} as agreed",
)
PASSIVE = (
    "{card} was {done}{value}",
    "{card} has been {done}{value}",
    "{card} got {done}{value}",
    "{card} is {done}{value} now",
    "{card} {done}{value}",
    "{card} already {done}{value}",
    "{card} {done}{value} yesterday",
    "{card} {done}{value}, thanks",
    "{card} was {done} again{value}",
    "looks like {card} was {done}{value}",
)
#: What became of it.
FATES = (
    *(
        "failed",
        "is stuck",
        "stuck",
        "was double",
        "received thanks",
        "received",
        "is pending",
        "pending",
        "bounced",
    ),
    *(
        "arrived",
        "did not arrive",
        "hasn't arrived",
        "went through",
        "is late",
        "still missing",
        "completed",
        "sent",
    ),
    *("was approved", "was rejected", "declined", "expired", "cancelled", "is done", "confirmed", "waiting"),
    *(
        "didn't work",
        "never came",
        "still not there",
        "is through",
        "has landed",
        "in progress",
        "executed",
        "timed out",
    ),
)
NOUNS = (
    "{noun}{of} for {card} {fate}",
    "{noun}{of} on {card} {fate}",
    "the {noun}{of} for {card} {fate}",
    "{verb} {card}{value} {fate}",
    "{card} {noun}{value} {fate}",
    "my {noun}{of} on {card} {fate}",
    "{card}: {noun}{of} {fate}",
)
ASKED = (
    "where is the{value} {noun} for {card}",
    "where's the {noun}{of} on {card}",
    "any news on the{value} {noun} for {card}",
    "update on the{value} {noun} for {card}",
    "status of the {noun}{of} for {card}",
    "what happened to the {noun}{of} for {card}",
    "did the {noun}{of} for {card} arrive",
    "has the {noun}{of} for {card} gone through",
    "is the {noun}{of} on {card} done",
    "when was {card} {done}{value}",
    "who {past} {rest}",
    "why was {card} {done}{value}",
    "{noun} on {card} since when",
    "{noun}{of} on {card}, when was that",
    "did you {verb} {rest}",
    "have you {past} {rest}",
    "how long is {card} {done} already",
)
STATUSES = (
    *("approved", "done", "completed", "executed", "requested", "pending", "declined", "rejected", "failed"),
    *("sent", "received", "confirmed", "processed", "expired", "cancelled", "finished", "submitted", "fyi"),
    *("notification", "receipt", "confirmation", "status", "in progress", "paid", "booked"),
)
LABELLED = (
    "{status}: {verb} {rest}",
    "{status} - {verb} {rest}",
    "{status}: {noun}{of} for {card}",
    "[{status}] {verb} {rest}",
)
THANKS = (
    "thanks Bob for {doing} {rest}",
    "thank you for {doing} {rest}",
    "thx for {doing} {rest}",
    "sorry for {doing} {rest}",
)
#: What somebody runs into is not asked for.
RUN_INTO = (
    *("{card} over {limit}", "over {limit}, {card}", "{card} is over its {limit}", "{card} above {limit}"),
    *(
        "{card} at {limit}",
        "{card} beyond {limit}",
        "{card} near {limit}",
        "{card} past the {limit}",
        "{card} reached {limit}",
    ),
    *(
        "{card} gets message {limit}",
        "{card} gets error {limit}",
        "{card} sees {limit}",
        "{card} shows {limit}",
    ),
    *(
        "message for {card}: {limit}",
        "error {limit} on {card}",
        "alert: {limit} on {card}",
        "{card} declined, {limit}",
    ),
    *(
        "{limit} exceeded on {card}",
        "{limit} reached on {card}",
        "{card} hit {limit}",
        "{card} stuck at {limit}",
    ),
    *(
        "app says {limit} for {card}",
        "{card} got a notice {limit}",
        "{card} ran into {limit}",
        "{card} under {limit}",
    ),
)
LIMITS = (
    "weekly limit 900",
    "daily limit of 500",
    "limit 500 daily",
    "500 daily limit",
    "monthly limit 2000",
)


def _filled(frames: tuple[str, ...], verb: str, **more: tuple[str, ...]) -> list[str]:
    """Every frame with a verb in all its forms, and with every one of the other words; the cards in turn."""
    past, done, noun, rest = VERBS[verb]
    value = rest.removeprefix("{card}")
    doing = {"top up": "topping up"}.get(verb, verb.rstrip("e") + "ing")
    made = [dict(zip(more, words, strict=True)) for words in product(*more.values())]
    texts = []
    for number, (frame, one) in enumerate(product(frames, made)):
        card = CARDS[number % len(CARDS)]
        of = " of 50" if rest == MONEY else value
        words = {
            "past": past,
            "done": done,
            "noun": noun,
            "verb": verb,
            "value": value,
            "of": of,
            "doing": doing,
        }
        texts.append(frame.format(**words, **one, card=card, rest=rest.format(card=card)))
    return texts


def _read(text: str) -> Parsed:
    return parse(text, authors.facts(), kinds=KINDS)


def _asks_for_it(text: str) -> bool:
    """Does a form open, or only wait for what is missing?"""
    return any(one.opened or (one.is_action and one.ask) for one in _read(text).readings)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("frames", [PAST, PASSIVE], ids=["active", "passive"])
def test_what_was_done_is_not_done_again(verb: str, frames: tuple[str, ...]) -> None:
    assert [text for text in _filled(frames, verb) if _asks_for_it(text)] == []


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("verb", VERBS)
def test_what_became_of_a_request_is_no_request(verb: str) -> None:
    assert [text for text in _filled(NOUNS, verb, fate=FATES) if _asks_for_it(text)] == []


@pytest.mark.parametrize("verb", VERBS)
def test_a_question_after_a_request_is_no_request(verb: str) -> None:
    assert [text for text in _filled(ASKED, verb) if _asks_for_it(text)] == []


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("verb", VERBS)
def test_a_request_under_a_status_is_no_request(verb: str) -> None:
    assert [text for text in _filled(LABELLED, verb, status=STATUSES) if _asks_for_it(text)] == []


@pytest.mark.parametrize("verb", VERBS)
def test_thanks_for_something_ask_for_nothing(verb: str) -> None:
    assert [text for text in _filled(THANKS, verb) if _asks_for_it(text)] == []


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_that_somebody_runs_into_is_not_set(limit: str) -> None:
    texts = [
        frame.format(card=CARDS[(number + place) % len(CARDS)], limit=limit)
        for number, frame in enumerate(RUN_INTO)
        for place in range(2)
    ]

    assert [text for text in texts if _asks_for_it(text)] == []


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("just topped up 3018 by 50", "card_requests"),
        ("topped up 3018 50", "card_requests"),
        ("loaded 50 on 3018", "card_requests"),
        ("50 loaded on 3018", "card_requests"),
        ("put 50 on 3018 this morning", "card_requests"),
        ("sent 50 to 3018, thanks", "card_requests"),
        ("hugo got his 50 top up", "card_requests"),
        ("top up of 50 for 3018 is stuck", "card_requests"),
        ("where is the 50 top up for 3018", "card_requests"),
        ("any news on the 50 top up for 3018", "card_requests"),
        ("top up 3018 50 received thanks", "card_requests"),
        ("top up of 50 on 3018 was double", "card_requests"),
        ("approved: top up 3018 50", "card_requests"),
        ("3018 freeze failed", "card_requests"),
        ("freeze on 3018 since when", "card_requests"),
        ("freeze on 3018 still there", "card_requests"),
        ("unblocked hugo", "card_requests"),
        ("3018 unblocked", "card_requests"),
        ("3018 over weekly limit 900", "card_show"),
        ("hugo gets message limit 500 daily", "card_show"),
    ],
)
def test_a_report_is_answered_with_what_is_known_of_it(text: str, intent: str) -> None:
    parsed = _read(text)

    assert parsed.first.intent == intent
    assert parsed.first.card is not None


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("top up 3018 by 50", "topup_card"),
        ("3018 needs to be topped up by 50", "topup_card"),
        ("please have 3018 topped up by 50", "topup_card"),
        ("can we get 3018 topped up by 50", "topup_card"),
        ("I want 3018 topped up by 50", "topup_card"),
        ("top up of 50 for 3018 please", "topup_card"),
        ("need a top up of 50 on 3018", "topup_card"),
        ("top up 3018 by 50, approved by Bob", "topup_card"),
        ("top up 3018 by 50. Bob approved it by mail", "topup_card"),
        ("top up 3018 by 50, his payment failed", "topup_card"),
        ("top up 3018 by 50, he is stuck at the hotel", "topup_card"),
        ("his card was declined, top up 3018 by 50", "topup_card"),
        ("please top up 3018 by 50, I topped it up last week as well", "topup_card"),
        ("freeze 3018, it was stolen", "freeze_card"),
        ("I lost my wallet, freeze 3018", "freeze_card"),
        ("3018 should be frozen", "freeze_card"),
        ("I want 3018 frozen", "freeze_card"),
        ("unfreeze 3018, I froze it by mistake", "unfreeze_card"),
        ("3018 was frozen yesterday, please unfreeze it", "unfreeze_card"),
        ("hugo hit his daily limit, raise to 500", "set_limits"),
        ("weekly limit 900 for 3018", "set_limits"),
        ("Card of Priya frozen, please, as soon as you can", "freeze_card"),
        ("Nora got her card out of the hotel safe, unfreeze it", "unfreeze_card"),
        ("I want to have the card of Ms. Osei frozen", "freeze_card"),
    ],
)
def test_a_request_beside_a_report_is_still_one(text: str, intent: str) -> None:
    assert {one.intent for one in _read(text).readings if one.opened} == {intent}
