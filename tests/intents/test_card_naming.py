"""What names a card in plain English is never guessed: more than one card that is called so is asked about."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.intents import Directory, Facts, KnownCard, Thread, parse
from tests.support import authors
from tests.support.utterances import facts

DIGITS = ("3205", "1111", "2008", "9140")
NAMES = ("ANNA", "ANNA LEE", "LEE", "GRANT HILL", "AGENT 3205", "ACME", "ACME BERLIN")
REFS = ("3205", "1111", "2008", "anna", "Anna Lee", "GRANT", "ACME Berlin", "TEAM-7", "team-7", "")
TYPED = (
    "3205",
    "1111",
    "2008",
    "Anna",
    "Anna Lee",
    "Lee",
    "Grant Hill",
    "ACME",
    "ACME Berlin",
    "TEAM-7",
    "id-1",
)
SAYINGS = ("freeze {}", "top up {} by 50", "show the balance of {}", "freeze {}'s card", "put 50 usd on {}")


@st.composite
def directories(draw: st.DrawFn) -> tuple[KnownCard, ...]:
    made = st.tuples(st.sampled_from(DIGITS), st.sampled_from(NAMES), st.sampled_from(REFS))
    drawn = draw(st.lists(made, min_size=1, max_size=5))
    return tuple(
        KnownCard(last4, name, ref, f"id-{nth}", "ACTIVE") for nth, (last4, name, ref) in enumerate(drawn)
    )


def exactly_called(cards: tuple[KnownCard, ...], typed: str) -> list[KnownCard]:
    """The rule in plain words: the last four, the reference, the id or the whole name is what was typed."""
    said = typed.lower()
    return [c for c in cards if said in (c.last4, c.partner_ref.lower(), c.id, c.holder.lower())]


def read_against(cards: tuple[KnownCard, ...]) -> Facts:
    return replace(facts(), cards=Directory(cards))


TWO = (KnownCard("3205", "ANNA", "", "id-0", "ACTIVE"), KnownCard("9140", "LEE", "3205", "id-1", "ACTIVE"))
NAMED_LIKE_A_REF = (
    KnownCard("1111", "ANNA LEE", "", "id-0", "ACTIVE"),
    KnownCard("9140", "ACME", "Anna Lee", "id-1", "ACTIVE"),
)
TWINS = (
    KnownCard("3205", "ANNA", "3205", "id-0", "ACTIVE"),
    KnownCard("3205", "ANNA", "GRANT", "id-1", "ACTIVE"),
)
LONG_REF = (
    KnownCard("1111", "ACME", "", "id-0", "ACTIVE"),
    KnownCard("9140", "LEE", "ACME Berlin", "id-1", "ACTIVE"),
)


@settings(max_examples=120, deadline=None)
@given(directories(), st.sampled_from(TYPED), st.sampled_from(SAYINGS))
@example(TWO, "3205", "top up {} by 50")
@example(NAMED_LIKE_A_REF, "Anna Lee", "freeze {}")
@example(LONG_REF, "ACME Berlin", "freeze {}")
def test_a_text_that_names_two_cards_settles_on_neither(
    cards: tuple[KnownCard, ...], typed: str, saying: str
) -> None:
    reading = parse(saying.format(typed), read_against(cards)).first
    called = exactly_called(cards, typed)

    if len(called) > 1:
        assert reading.card is None
        assert not reading.opened
    elif called and reading.card is not None:
        assert reading.card == called[0]


@settings(max_examples=80, deadline=None)
@given(directories(), st.sampled_from(TYPED))
@example(TWO, "3205")
@example(TWINS, "3205")
def test_every_answer_that_is_offered_settles_which_card_is_meant(
    cards: tuple[KnownCard, ...], typed: str
) -> None:
    known = read_against(cards)
    asked = parse(f"freeze {typed}", known).first
    if asked.ask is None or asked.ask.slot != "card":
        return

    assert len({option.label for option in asked.ask.options}) == len(asked.ask.options)
    for option in asked.ask.options:
        answered = parse(option.value, known, Thread("freeze_card", {}, "card")).first
        assert answered.card is not None
        assert (answered.card.holder, answered.card.last4) == tuple(option.label.split(",")[0].split(" ••"))


@pytest.mark.parametrize("saying", ["freeze the card ending in 3205", "freeze ••3205", "freeze *3205"])
def test_the_last_four_said_to_be_so_are_no_reference(saying: str) -> None:
    reading = parse(saying, read_against(TWO)).first

    assert reading.card == TWO[0]


def test_the_question_names_every_card_that_may_be_meant() -> None:
    reading = parse("top up 3205 by 50", read_against(TWO)).first

    assert reading.ask is not None
    assert [option.label for option in reading.ask.options] == ["ANNA ••3205, active", "LEE ••9140, active"]


#: Names that are also words, in places where they can only be names.
PEOPLE = (
    "April card lock pls, bag stolen",
    "Block temporary on April, thank you.",
    "May finally dumped her purse in the river. Freeze her card please",
    "Will keeps losing things, freeze his card please",
    "will lost his bag. please freeze his card",
    "April turned up in tears, her bag is gone. Freeze her card please",
)
#: The months and verbs that they mostly are.
WORDS = (
    "May ended badly. Freeze the card",
    "April closed well. Freeze the card please",
    "Will you freeze the card?",
    "May I freeze the card?",
    "the invoices of April. Freeze the card please",
    "block on April 5, thank you",
    "April 2026: not more than 250 weekly",
)


@pytest.mark.parametrize("text", PEOPLE)
def test_a_name_that_is_also_a_word_is_one_where_only_people_stand(text: str) -> None:
    first = parse(text, authors.facts()).first

    assert (first.intent, first.opened) == ("freeze_card", True)


@pytest.mark.parametrize("text", WORDS)
def test_a_month_or_a_verb_names_no_card(text: str) -> None:
    assert not any(reading.opened for reading in parse(text, authors.facts()).readings)
