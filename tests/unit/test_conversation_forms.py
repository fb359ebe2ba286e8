"""Every request that can be said fills the form it means: no slot is lost between the words and the fields."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from bot import intents, operations
from bot.intents import ACTIONS, EXAMPLES, Directory, Facts, KnownCard, Reading
from bot.services.conversation import forms
from bot.services.conversation.examples import nearest
from handlers.commands import grammar, intent_commands
from handlers.commands.all_lookups import LOOK_UPS

KINDS = operations.kinds()
HASH = "0x" + "ab" * 32
FACTS = Facts(
    now=datetime(2026, 3, 11, 10, 0, tzinfo=UTC),
    tz="Europe/Lisbon",
    cards=(
        KnownCard("3018", "INES OKONKWO", "emp-7", "card-1", "ACTIVE"),
        KnownCard("2675", "HUGO REYES", "", "card-2", "ACTIVE"),
        KnownCard("9140", "NORA LIND", "", "card-3", "FROZEN"),
    ),
)
SAID = {
    "load 85.5 onto 9140": {"card": "card-3", "amount_usd": "85.50"},
    "take 20 off 9140": {"card": "card-3", "amount_usd": "20"},
    "freeze 3018": {"card": "card-1"},
    "unfreeze 9140": {"card": "card-3"},
    "close 2675 for good": {"card": "card-2"},  # its last four digits are typed by hand
    "weekly limit 900 for 3018": {"card": "card-1", "weekly_limit": "900"},
    f"submit funding {HASH} on bnb": {"tx_hash": HASH, "network": "BNB"},
    "deposit markup 0.8%": {"markup_percent": "0.8"},
    "3018 has the new number +47 40 61 22 33": {
        "card": "card-1", "phone_country_code": "47", "phone": "40612233",
    },
    "order a card for Hugo Okonkwo, phone +49 151 12345678, email hugo@example.com": {
        "card_holder_name": "Hugo Okonkwo", "phone_country_code": "49", "phone": "15112345678",
        "email": "hugo@example.com",
    },
}  # fmt: skip


@pytest.mark.parametrize("text", SAID)
def test_what_is_said_stands_in_the_fields(text: str) -> None:
    (reading,) = intents.parse(text, FACTS, None, KINDS).readings
    assert reading.opened, reading
    cls = forms.kind_of(forms.aim(reading), KINDS)
    assert cls is not None

    assert forms.texts(cls, reading.slots, reading.card) == SAID[text]


def test_private_details_are_masked_where_the_request_is_repeated() -> None:
    (reading,) = intents.parse("3018 has the new number +47 40 61 22 33", FACTS, None, KINDS).readings
    cls = KINDS["card_phone"]

    shown = forms.lines(cls, forms.texts(cls, reading.slots, reading.card), reading.card)

    assert ("Card", "INES OKONKWO ••3018") in shown
    assert "40612233" not in str(shown)


def test_every_action_and_every_read_has_its_way() -> None:
    # Read by the phrases that its kind declares, not by the rules.
    declared = {"reveal_card"}
    assert sorted(cls.intent for cls in KINDS.values() if cls.intent) == sorted(ACTIONS | declared)
    # Answered by words or buttons of their own.
    without_command = {"help", "undo", "pause_sending"}
    assert intent_commands.COMMANDS.keys() == EXAMPLES.keys() - ACTIONS - without_command
    for intent in intent_commands.COMMANDS:
        command = intent_commands.command_of(Reading(intent), FACTS.now, ZoneInfo("UTC"))
        assert (command.command, command.subcommand) in LOOK_UPS


@pytest.mark.parametrize(
    ("slots", "typed"),
    [
        ({}, ""),
        ({"since": "2026-03-01", "until": "2026-03-07"}, "2026-03-01..2026-03-07"),
        ({"since": "2026-03-09"}, "2026-03-09..2026-03-11"),
        ({"since": "2026-03-11T04:00", "until": "2026-03-11T10:00"}, "6h"),
        ({"since": "2026-03-10T09:00", "until": "2026-03-10T11:00"}, "2026-03-10..2026-03-10"),
    ],
)
def test_a_stretch_of_time_reaches_the_look_up_as_it_was_meant(slots: dict[str, str], typed: str) -> None:
    assert intent_commands.period(slots, FACTS.now, ZoneInfo("Europe/Lisbon")) == typed


def test_the_sentences_shown_are_understood() -> None:
    suggested = {e.suggestion("3018", "Ines"): intent for intent, e in EXAMPLES.items() if e.suggested}

    for sentence, intent in suggested.items():
        assert forms.aim(intents.parse(sentence, FACTS, None, KINDS).first) == intent, sentence
    assert suggested.keys() >= set(nearest("top it", {}, Directory(FACTS.cards)))


def test_what_is_suggested_names_a_card_that_exists_or_none() -> None:
    named = " ".join(nearest("purchases on the card of balance", KINDS, Directory(FACTS.cards)))
    assert "3018" in named or "Ines" in named

    shown = nearest("purchases on the card of balance", KINDS, Directory())
    assert shown
    assert not any(char.isdigit() for sentence in shown for char in sentence)


def test_the_command_shown_at_the_end_is_read_as_the_same_request() -> None:
    typed = forms.as_command(KINDS["card_topup"], {"card": "3018", "amount": "85"})
    command = grammar.from_text(typed.lstrip("/"))

    assert command.kind(KINDS) is KINDS["card_topup"]
    assert grammar.prefill(KINDS["card_topup"], command.rest) == {"card": "3018", "amount_usd": "85"}
