"""What ops people write, in our own words: tests/intents/utterances, written before the rules."""

import pytest

from bot.intents import Facts, parse
from tests.support.utterances import Score, facts, measured, utterances


@pytest.fixture(scope="module", params=["dev", "held_out"])
def score(request: pytest.FixtureRequest) -> Score:
    return measured(request.param)


def test_there_are_at_least_400_utterances_and_a_third_of_them_is_held_out() -> None:
    dev, held = len(list(utterances("dev"))), len(list(utterances("held_out")))

    assert dev + held >= 400
    assert 0.28 < held / (dev + held) < 0.38


def test_no_form_opens_that_was_not_asked_for_nor_with_another_value(score: Score) -> None:
    assert score.harm == []


def test_queries_actions_and_slots_are_understood_well_enough(score: Score) -> None:
    assert score.share("query") >= 0.90, score.wrong
    assert score.share("action") >= 0.85, score.wrong
    assert score.share("slot") >= 0.95, score.wrong


def test_two_requests_in_one_text_open_nothing_by_themselves() -> None:
    parsed = parse("load 85 onto 9140 and freeze 3018", facts())

    assert [reading.intent for reading in parsed.readings] == ["topup_card", "freeze_card"]
    assert not any(reading.opened for reading in parsed.readings)


def test_more_than_three_requests_are_asked_to_be_said_one_by_one() -> None:
    text = "load 1 on 9140. load 2 on 3018. freeze 2675. close 5521."

    parsed = parse(text, facts())

    assert parsed.first.intent == "ambiguous"
    assert not any(reading.opened for reading in parsed.readings)


def test_a_card_number_is_neither_kept_nor_echoed() -> None:
    parsed = parse("top up 4111 1111 1111 1111 with 50", facts())

    assert parsed.guarded
    assert "4111" not in repr(parsed)


def test_a_text_too_long_to_be_meant_is_not_read() -> None:
    parsed = parse("load 85 onto 9140 " + "because " * 400, facts())

    assert parsed.first.intent == "ambiguous"
    assert not parsed.first.opened


def test_the_public_entry_takes_facts_without_cards() -> None:
    from datetime import UTC, datetime

    assert not parse("freeze 3018", Facts(now=datetime(2026, 3, 11, tzinfo=UTC))).first.opened
