"""Whatever surrounds a request: a negation, quotes, foreign digits or hidden characters never open a form."""

import re
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.intents import Directory, Facts, KnownCard, Parsed, parse
from bot.intents.extraction import as_one_line, read_entities
from bot.intents.plain_text import clean

CARDS = Directory(
    [KnownCard("9140", "Nora Lindqvist", "nora-eu-1"), KnownCard("3018", "Hugo Okonkwo", "HO-77")]
)
FACTS = Facts(now=datetime(2026, 3, 11, 10, tzinfo=UTC), cards=CARDS)
HASH = "0x" + "4f1a2b3c" * 8

commands = st.sampled_from(
    [
        "load 85 onto 9140",
        "top up 9140 with $85",
        "take 40 off 3018",
        "freeze 3018",
        "unfreeze Nora's card",
        "close 3018 for good",
        "weekly limit 900 for 3018",
        f"submit funding {HASH} on polygon",
        "deposit markup 0.8%",
        "send 3018's purchase codes to our webhook",
        "change the phone of 3018 to +47 912 34 567",
    ]
)
fillers = st.sampled_from(["", "please ", "hey team, ", "ok so ", "Morning!\n", "now "])
quick = settings(max_examples=60, deadline=None)


def opens(parsed: Parsed) -> bool:
    return any(reading.opened for reading in parsed.readings)


@given(commands, fillers)
@quick
def test_the_plain_request_does_open_its_form(command: str, filler: str) -> None:
    assert opens(parse(filler + command, FACTS))


@given(
    st.sampled_from(
        [
            "don't {}",
            "do not {}",
            "please don't {}",
            "never {}",
            "don’t {}",
            "dont {}",
            "no, don't {}",
            "whatever you do, do not {}",
            "do not, under any circumstances, {}",
            "don't... {}",
            "please do not\n{}",
            "no need to {}",
            "I'd rather not {}",
            "we should not {}",
            "you must not {}",
            "{}. just kidding",
            "{}, not",
            "{} - never mind",
            "{}\nscratch that",
            "avoid this: {}",
            "stop, do not {}",
        ]
    ),
    commands,
    fillers,
)
@quick
def test_a_negated_request_opens_nothing(pattern: str, command: str, filler: str) -> None:
    assert not opens(parse(filler + pattern.format(command), FACTS))


@given(
    st.sampled_from(
        ['"{}"', "“{}”", "'{}'", "> {}", "&gt; {}", "`{}`", "```{}```", "```\n{}\n```", "~{}~", '"{}', "«{}»"]
    ),
    commands,
    st.sampled_from(["", "Hugo wrote:\n", "is this right?\n", "look at this\n"]),
)
@quick
def test_quoted_text_opens_nothing(pattern: str, command: str, before: str) -> None:
    assert not opens(parse(before + pattern.format(command), FACTS))


@given(
    st.sampled_from(
        [
            "if he asks, {}",
            "unless it is late, {}",
            "Hugo said {}",
            "Hugo said: {}",
            "she asked us to {}",
            "they told me to {}",
            "why {}",
            "should we {}?",
            "maybe {}",
            "what if we {}",
            "when he lands, {}",
            "{} if he asks",
            "{} tomorrow",
            "{} at 6pm",
            "{} next monday",
            "considering: {}",
            "I was told to {}",
            "did you {}",
            "who can {}",
            "e.g. {}",
            "{} was wrong",
            "tell Nora to {}",
        ]
    ),
    commands,
)
@quick
def test_a_conditional_reported_or_later_request_opens_nothing(pattern: str, command: str) -> None:
    assert not opens(parse(pattern.format(command), FACTS))


@given(commands.filter(lambda text: any(c.isdigit() for c in text)), st.data())
@quick
def test_digits_of_another_script_open_nothing(command: str, data: st.DataObject) -> None:
    place = data.draw(st.sampled_from([i for i, c in enumerate(command) if c.isdigit()]))
    zero = data.draw(st.sampled_from([0x0660, 0x06F0, 0x0966, 0xFF10, 0x1D7CE]))

    foreign = command[:place] + chr(zero + int(command[place])) + command[place + 1 :]

    assert not opens(parse(foreign, FACTS))


@given(commands, st.data())
@quick
def test_hidden_characters_open_nothing(command: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(command)))
    hidden = data.draw(
        st.sampled_from(
            "\u200b\u200c\u200d\u2060\u202e\u2066\ufeff\u00ad\u2800\u3164\u034f\ufe0f\x00\x07\x1b"
        )
    )

    text = command[:place] + hidden + command[place:]

    before, after = command[place - 1 : place], command[place : place + 1]
    if hidden != "\u200d" or before.strip() or after.strip():  # a joiner among blanks joins nothing
        assert not opens(parse(text, FACTS))


@given(commands, st.data())
@quick
def test_a_lookalike_letter_opens_nothing(command: str, data: st.DataObject) -> None:
    lookalikes = {"a": "а", "e": "е", "o": "о", "c": "с", "p": "р", "i": "і"}
    places = [i for i, c in enumerate(command) if c in lookalikes and HASH[2:] not in command]
    if places:
        place = data.draw(st.sampled_from(places))
        assert not opens(parse(command[:place] + lookalikes[command[place]] + command[place + 1 :], FACTS))


@given(
    commands,
    st.sampled_from(
        [", {}", " x{}", ". {} more", "\n{}", " and {}", " ({})", " /{}", " per {} weeks", " #{}"]
    ),
    st.integers(1, 99_999),
)
@quick
def test_a_number_nobody_can_place_opens_nothing(command: str, pattern: str, number: int) -> None:
    assert not opens(parse(command + pattern.format(number), FACTS)) or str(number) in ("9140", "3018")


texts = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "load",
                "onto",
                "9140",
                "$",
                "85",
                "2.4k",
                "since",
                "mar",
                "5/6",
                "-",
                ",",
                ".",
                HASH,
                "+47",
                "%",
                "'s",
                "card",
                "3",
            ]
        ),
        st.text(alphabet="0123456789.,-+/:$€% kmx\n", max_size=8),
    ),
    max_size=12,
).map(" ".join)


@given(texts)
@settings(max_examples=200, deadline=None)
def test_every_digit_belongs_to_exactly_one_entity(text: str) -> None:
    cleaned = clean(text)

    found = read_entities(as_one_line(cleaned.text), FACTS, CARDS)

    assert not re.search(r"\d", re.sub(r"§[a-z]\d+§", "", found.masked))
    spans = [(entity.start, entity.end) for entity in found.entities]
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@given(st.text(max_size=120))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert parse(text, FACTS).readings


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        ("$85", "85"),
        ("85$", "85"),
        ("USD85", "85"),
        ("85 bucks", "85"),
        ("2.4k", "2400"),
        ("3 grand", "3000"),
        ("eighty dollars", "80"),
        ("three hundred and ten bucks", "310"),
        ("6,200.00", "6200"),
        ("6.200,00", "6200"),
        ("6 200", "6200"),
        ("85 000", "85000"),
        ("75.50", "75.5"),
    ],
)
def test_an_amount_is_read_whole(written: str, amount: str) -> None:
    reading = parse(f"load {written} onto 9140", FACTS).first

    assert reading.opened
    assert reading.slots == {"card": "9140", "amount": amount}


@pytest.mark.parametrize(
    "written",
    [
        "2,75",
        "3.000",
        "3,00",
        "1,50",
        "2m",
        "1e3",
        "0",
        "-5",
        "10.555",
        "€50",
        "50 pounds",
        "50 or 60",
        "roughly 200",
        "85 000 0",
        "12,34,567",
        "85-90",
        "2.4kk",
        "50%",
        "200ish",
        "250000",
        "1.2.3",
        "007",
        "x85",
        "~40",
        "8 5",
    ],
)
def test_an_amount_with_two_readings_or_none_is_asked_about(written: str) -> None:
    reading = parse(f"load {written} onto 9140", FACTS).first

    assert not reading.opened
    assert reading.intent == "ambiguous"
    assert reading.ask is not None


@pytest.mark.parametrize(
    "text",
    [
        "set daily limit of 3018 100 lower",
        "weekly limit 900 higher for 3018",
        "deposit markup 0.8% was too high",
        "deposit markup 0.8% is way too low",
        "please un-unfreeze 9140",
        "re: unfreeze 3018",
        "Fwd: load 85 onto 9140",
    ],
)
def test_a_difference_a_verdict_a_double_turn_and_the_subject_of_an_answer_open_nothing(text: str) -> None:
    assert not opens(parse(text, FACTS))
