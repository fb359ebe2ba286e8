"""A value is not always one to set or to move: complained about, removed, a difference, a target, each week."""

from itertools import product

import pytest

from bot import operations
from bot.intents import Parsed, Thread, parse
from tests.support import authors

_FACTS, _KINDS = authors.facts(), operations.kinds()
LIMITS = ("weekly limit of 900", "900 weekly limit", "daily limit of 500", "monthly cap of 2000")
DID = (
    *("hit her", "exceeded the", "reached her", "hates her", "dislikes the", "blew through the", "knows her"),
    *(
        "is above her",
        "went over her",
        "loves the",
        "is stuck at her",
        "doesn't need the",
        "can do without the",
    ),
    *("complains about the", "need not have the", "has no need of a", "ran into her", "remembers the"),
)
WAS = (
    *(
        "is not enough",
        "was used up",
        "is unfair",
        "ran out",
        "got hit",
        "was reached",
        "blocks her",
        "eats her day",
    ),
    *("is too low", "annoys everybody", "was the old one"),
)
PHONE = "+47 912 34 567"
COMPLAINTS = (
    *(f"{who} {did} {limit}" for who, did, limit in product(("Nora", "3018"), DID, LIMITS)),
    *(f"Nora's {limit} {was}" for limit, was in product(LIMITS, WAS)),
    *(f"our markup 0.8% {does}" for does in ("eats profit", "scares clients", "was a mistake", "is unfair")),
    *(f"Nora {did} her phone {PHONE}" for did in ("lost", "dropped", "broke", "misses", "no longer uses")),
    *(
        f"{whose} {PHONE} {was}"
        for whose, was in product(
            ("Nora's phone", "3018 phone", "Nora's number"),
            ("got stolen", "hacked", "is unreachable", "was cloned", "is dead", "stopped working"),
        )
    ),
    f"someone uses Nora's phone {PHONE}",
    f"codes for 3018 went to the phone {PHONE}",
    f"remove phone {PHONE} from 3018",
    f"phone number of 3018 was {PHONE}",
    f"Nora's emergency contact is {PHONE}",
)
REMOVED = (
    *(
        f"{do} the {limit} on 3018"
        for do, limit in product(
            (
                "remove",
                "take off",
                "lift",
                "clear",
                "scrap",
                "drop",
                "delete",
                "waive",
                "abolish",
                "get rid of",
                "reset",
            ),
            ("daily limit of 300", "300 daily limit", "300 a day cap"),
        )
    ),
    *(f"{do} the markup of 0.8%" for do in ("remove", "drop", "waive", "scrap", "lift")),
    "take the 300 daily limit off 3018",
    "free Nora from the 900 weekly limit",
)
CHANGED_BY = (
    *(f"{do} 100 off Nora's daily limit" for do in ("take", "knock", "shave", "lop", "cut", "trim")),
    *(f"{do} 100 to Nora's {unit} limit" for do, unit in product(("add",), ("daily", "weekly", "monthly"))),
    *(f"{do} Nora's daily limit 100" for do in ("reduce", "bump", "up", "raise", "lower", "increase", "cut")),
    *(
        "Nora daily limit +100",
        "Nora's daily limit: +100",
        "+100 on the daily limit of Nora",
        "3018 +500 daily",
    ),
    *(
        "Nora's daily limit 100 up",
        "lower daily limit of 3018 100",
        "add 1% to the markup",
        "3018: 500 more a day",
    ),
)
ANOTHER_LIMIT = (
    *(
        f"daily {kind} limit 300 for 3018"
        for kind in ("atm", "contactless", "online", "cash", "ATM withdrawal")
    ),
    *(f"daily limit on 3018 500 {of}" for of in ("ATM only", "for atm", "at ATMs")),
    *(
        f"limit 3018 to 500 {often}"
        for often in (
            "every other day",
            "every second day",
            "a work day",
            "each business day",
            "every two weeks",
        )
    ),
)
STANDING = (
    *(
        f"top up 3018 by 50 {often}"
        for often in (
            *(
                "a day",
                "a week",
                "a month",
                "an hour",
                "pw",
                "p/m",
                "pd",
                "each",
                "apiece",
                "per week",
                "/ month",
            ),
            *("for each day of the trip", "for every night", "a head", "a pop"),
        )
    ),
    *(f"load 50 {often} onto Nora's card" for often in ("a month", "a week", "per day", "each week")),
    *(
        "load 50 onto 3018 a day",
        "please top up 3018 by 50. Repeat weekly",
        "top up 3018 by 50. Once per day",
    ),
)
TARGETS = (
    *(
        f"top up 3018 {to} 50"
        for to in (
            *("so that it has", "to a balance of", "for a total of", "to make it", "with a final balance of"),
            *(
                "so that Hugo ends up with",
                "towards",
                "making it",
                "so it holds",
                "so there's",
                "for a balance of",
            ),
        )
    ),
    *(
        "top up 3018, target 50",
        "top up 3018, final balance 50",
        "balance 3018 → 50",
        "3018 should have 50 on it",
    ),
    *(
        f"top up 3018 by 50 {less}"
        for less in (
            "minus fees",
            "ex VAT",
            "net",
            "gross",
            "incl. fees",
            "without the fee",
            "and change",
            "or so",
        )
    ),
)
MEANT = (
    ("weekly limit 900 for 3018", "set_limits"),
    ("Nora needs a weekly limit of 900", "set_limits"),
    ("Nora hit her limit, please set it to 900 a week", "set_limits"),
    ("drop the daily limit on 3018 to 500", "set_limits"),
    ("lower the daily limit on 9140 from 300 to 150", "set_limits"),
    ("Nora gets 50 a day", "set_limits"),
    ("deposit markup 0.8%", "set_markup"),
    ("markup should be 0.8%, sales complain", "set_markup"),
    (f"Nora lost her phone, the new number is {PHONE}", "change_phone"),
    (f"please replace Nora's phone by {PHONE}, the old one was stolen", "change_phone"),
    (f"3018 has the new number {PHONE}", "change_phone"),
    ("top up 3018 by 50, she fuels twice a week", "topup_card"),
    ("load 85 onto 9140", "topup_card"),
)


def _read(said: str) -> Parsed:
    return parse(said, _FACTS, kinds=_KINDS)


@pytest.mark.parametrize("said", [*COMPLAINTS, *REMOVED, *CHANGED_BY, *ANOTHER_LIMIT, *STANDING, *TARGETS])
def test_a_value_that_may_not_be_the_one_to_set_or_move_opens_no_form(said: str) -> None:
    assert not any(one.opened for one in _read(said).readings)


@pytest.mark.parametrize(("said", "intent"), MEANT)
def test_a_value_that_is_asked_for_opens_its_form(said: str, intent: str) -> None:
    (one,) = _read(said).readings

    assert (one.intent, one.opened) == (intent, True)


@pytest.mark.parametrize(
    "said", ["remove the daily limit of 300 on 3018", "Nora exceeded the daily limit of 500"]
)
def test_the_limit_that_is_no_new_one_is_asked_for_and_not_offered(said: str) -> None:
    (one,) = _read(said).readings

    assert "limits" not in one.slots
    assert one.ask is not None or one.intent == "card_show", (
        "what is reported is answered by what the card has"
    )


@pytest.mark.parametrize("often", ["a day", "per week", "each month", "weekly"])
def test_an_answer_of_so_much_each_time_is_no_amount(often: str) -> None:
    asked = Thread(intent="topup_card", slots={"card": "3018"}, asked_slot="amount")

    (one,) = parse(f"50 {often}", _FACTS, asked).readings

    assert not one.opened
    assert one.ask is not None


REPORTED_NUMBERS = (
    *(
        f"{what} {verb} +47 912 34 567"
        for what, verb in product(
            ("codes of Nora's card", "sms for 9140", "texts for Nora's card", "the codes of 9140"),
            (
                "go to",
                "still go to",
                "are going to",
                "sent to",
                "goes to",
                "were sent to",
                "arrive at",
                "land on",
            ),
        )
    ),
    *("the codes go to +47 912 34 567, Nora's card", "Nora can't find her phone +47 912 34 567"),
    *("please check that the number on 9140 is +47 912 34 567", "send an sms to Nora at +47 912 34 567"),
    *(
        f"add +47 912 34 567 as {one} number for Nora"
        for one in ("a second", "another", "a backup", "an additional")
    ),
    *("call Nora at +47 912 34 567", "text Nora on +47 912 34 567", "you can reach Nora at +47 912 34 567"),
)


@pytest.mark.parametrize("said", REPORTED_NUMBERS)
def test_a_number_that_something_goes_to_is_not_set(said: str) -> None:
    assert not any(one.opened for one in parse(said, authors.facts(), kinds=operations.kinds()).readings)


NOT_TO_MOVE = (
    *(
        f"{before}{ask} 280 on Marta's card{end}"
        for before, ask, end in product(
            ("marta is at the pump, fast pls!!, ", "please look, "),
            ("is there", "are there", "does she have"),
            ("?", "??"),
        )
    ),
    *(
        f"could you put the {slip} {what} of 3205 at 300"
        for slip, what in product(("daly", "weelky"), ("ceiling", "limit", "cap"))
    ),
    *(f"let's give Hugo 10,000 and a {what}" for what in ("yacht", "medal", "zorblat")),
)


@pytest.mark.parametrize("said", NOT_TO_MOVE)
def test_a_sum_that_is_asked_after_or_is_a_limit_is_not_moved(said: str) -> None:
    assert not any(
        one.opened and one.intent in ("topup_card", "unload_card")
        for one in parse(said, authors.facts(), kinds=operations.kinds()).readings
    )
