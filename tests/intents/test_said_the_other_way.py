"""Money goes where "from", "off", "to" and "onto" say, and a freeze that is off is none, whatever the verb.

Each table is a class: every verb with every way to name the place. What goes the other way is never opened.
"""

from itertools import product

import pytest

from bot import operations
from bot.intents import parse
from tests.support import authors

KINDS = operations.kinds()
FLOATS = (
    "the float",
    "float",
    "our float",
    "the pool",
    "our balance",
    "the main account",
    "the company account",
    "treasury",
    "the kitty",
    "our main balance",
    "the company float",
)
CARDS = ("3018", "card 3018", "Hugo's card", "Hugo", "the card of Hugo", "the card ending in 3018")
VERBS = (
    *(
        "top up",
        "topup",
        "load",
        "reload",
        "fund",
        "refill",
        "fill up",
        "replenish",
        "recharge",
        "credit",
        "add",
        "put",
    ),
    *(
        "move",
        "transfer",
        "send",
        "take",
        "withdraw",
        "pull",
        "unload",
        "return",
        "bring",
        "get",
        "shift",
        "push",
        "deduct",
        "debit",
    ),
)
OFF_THE_CARD = (
    *(
        "{verb} 50 from {card}",
        "{verb} 50 off {card}",
        "{verb} 50 out of {card}",
        "{verb} 50 off of {card}",
        "{verb} from {card} 50",
    ),
    *(
        "{verb} 50 from {card} to {float}",
        "{verb} 50 off {card} onto {float}",
        "{verb} 50 to {float} from {card}",
    ),
    *(
        "{verb} {float} by 50 from {card}",
        "{verb} {float} with 50 off {card}",
        "{verb} {float} from {card} by 50",
    ),
    *(
        "{verb} {float} from {card} with 50",
        "{verb} {float} 50 from {card}",
        "please {verb} 50 into {float} from {card}",
    ),
    *(
        "can you {verb} {float} up with 50 out of {card}",
        "{card}: {verb} 50 to {float}",
        "{card} {verb} 50 into {float}",
    ),
)
OFF_THE_FLOAT = (
    *(
        "{verb} 50 from {float} to {card}",
        "{verb} 50 off {float} onto {card}",
        "{verb} 50 out of {float} and put on {card}",
    ),
    *(
        "{verb} 50 to {card} from {float}",
        "{verb} 50 from {float} for {card}",
        "{verb} 50 onto {card}",
        "{verb} 50 into {card}",
    ),
    *(
        "please {verb} 50 to {card}",
        "can you {verb} 50 off {float} for {card}",
        "{verb} from {float} 50 to {card}",
    ),
    *(
        "{verb} 50: debit {float}, credit {card}",
        "debit {float} by 50 and credit {card}",
        "debit {float} credit {card} 50",
    ),
    *("{verb} everything onto {card}", "{verb} the rest from {float} to {card}"),
)


def _opened(text: str) -> set[str]:
    return {
        reading.intent for reading in parse(text, authors.facts(), kinds=KINDS).readings if reading.opened
    }


def _said(frames: tuple[str, ...], verb: str) -> list[str]:
    """Every frame with this verb, the cards and the words for the float in turn."""
    places = [*product(CARDS, FLOATS)]
    return [
        frame.format(verb=verb, card=card, float=floats)
        for number, frame in enumerate(frames)
        for card, floats in places[number :: len(frames)]
    ]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("frames", "wrong"),
    [(OFF_THE_CARD, "topup_card"), (OFF_THE_FLOAT, "unload_card")],
    ids=["off the card", "onto the card"],
)
def test_money_never_goes_against_what_from_and_onto_say(
    verb: str, frames: tuple[str, ...], wrong: str
) -> None:
    assert [text for text in _said(frames, verb) if wrong in _opened(text)] == []


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("top up 3018 from the float by 50", "topup_card"),
        ("top up Hugo's card with 50 from our balance", "topup_card"),
        ("load 50 onto 3018", "topup_card"),
        ("top off 3018 with 50", "topup_card"),
        ("move 50 from the float to 3018", "topup_card"),
        ("take 50 off 3018", "unload_card"),
        ("unload 50 from 3018", "unload_card"),
        ("withdraw 50 from 3018 to the float", "unload_card"),
        ("move 50 from Hugo's card back to the float", "unload_card"),
    ],
)
def test_money_goes_where_verb_and_place_agree(text: str, intent: str) -> None:
    assert _opened(text) == {intent}


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize(
    "frame",
    [
        *(
            "hold 50 on {card}",
            "block 50 usd on {card}",
            "reserve 50 on {card}",
            "keep 50 on {card}",
            "leave 50 on {card}",
        ),
        *(
            "freeze 50 on {card}",
            "lock the 50 on {card}",
            "float → ledger {card} 60",
            "withdraw 50 at the atm with {card}",
        ),
        *("get {card} back 50", "get {card} her 50 back"),
    ],
)
def test_money_that_stays_or_goes_elsewhere_moves_nothing(frame: str, card: str) -> None:
    assert _opened(frame.format(card=card)) == set()


WAYS_TO_SWITCH_OFF = (
    *(
        "disable {state} {card}",
        "disable {card}'s {state}",
        "disable the {state} on {card}",
        "deactivate {state} {card}",
    ),
    *(
        "turn off {state} {card}",
        "turn off the {state} on {card}",
        "turn {state} {card} off",
        "turn the {state} off for {card}",
    ),
    *(
        "switch off {state} {card}",
        "switch {state} off on {card}",
        "switch the {state} of {card} off",
        "toggle {state} off {card}",
    ),
    *(
        "{state} removal {card}",
        "{state} release {card}",
        "{state} release {card} please",
        "{state} lifted {card}",
    ),
    *(
        "{state} removed {card}",
        "{state} released for {card}, please",
        "{state} off {card}",
        "please {state} off {card}",
    ),
    *(
        "{state} off for {card} please",
        "{card} {state} off",
        "{state} {card} off",
        "{state}=false {card}",
        "{state} = off {card}",
    ),
    *(
        "{state}: no {card}",
        "{state}: off, {card}",
        "set {card} {state} = false",
        "set {state} to off on {card}",
        "{card} {state}: false",
    ),
    *(
        "set {state} false on {card}",
        "card: {card}\n{state}: off",
        "card: {card}\n{state}: false",
        "{state}: off\ncard: {card}",
    ),
    *(
        "{state}: false\ncard: {card}",
        "card: {card}\n{state}=no",
        "card: {card}\n{state}: disabled",
        "card: {card}\n{state}: removed",
    ),
    *(
        "please remove {state} {card}",
        "remove the {state} from {card}",
        "lift {state} {card}",
        "cancel {state} {card}",
        "end {state} {card}",
    ),
    *(
        "drop the {state} on {card}",
        "removal of the {state} on {card}",
        "release of the {state} for {card} please",
        "undo {state} {card}",
    ),
    *(
        "{state} on {card} off please",
        "{state} is off for {card}",
        "{state} cancelled {card}",
        "{state} cleared {card}",
        "{state} ended {card}",
    ),
    *(
        "no {state} {card}",
        "no more {state} on {card} please",
        "take {state} off {card}",
        "take {card} off {state}",
        "revoke {state} {card}",
    ),
    *("{state} no longer {card}", "{state} no more on {card}", "{state} not {card}"),
    *(
        "{state} flag false {card}",
        "{state} status off {card}",
        "{state} mode off for {card}",
        "{state}\ncard: {card}\nstatus: off",
    ),
    *(
        "card: {card}\n{state}: n",
        "card: {card}\n{state}: 0",
        "make {card} non-{state}",
        "is_{state}=false {card}",
    ),
)


@pytest.mark.parametrize("form", WAYS_TO_SWITCH_OFF)
def test_a_freeze_that_is_off_freezes_nothing(form: str) -> None:
    states = ("freeze", "block", "hold", "lock", "suspension", "pause", "frozen", "blocked")
    texts = [
        form.format(state=state, card=card)
        for state, card in product(states, ("3018", "Hugo's card", "Nora"))
    ]

    assert [text for text in texts if _opened(text) & {"freeze_card", "close_card"}] == []


@pytest.mark.parametrize("form", WAYS_TO_SWITCH_OFF)
def test_an_unfreeze_that_is_off_unfreezes_nothing(form: str) -> None:
    states = ("unfreeze", "unblock", "reactivation", "unfrozen", "unlock")
    texts = [form.format(state=state, card=card) for state, card in product(states, ("3018", "Nora"))]

    assert [text for text in texts if "unfreeze_card" in _opened(text)] == []


@pytest.mark.parametrize("form", WAYS_TO_SWITCH_OFF)
def test_a_closing_that_is_off_closes_nothing(form: str) -> None:
    texts = [
        form.format(state=state, card="3018")
        for state in ("close", "closing", "closure", "closed", "termination")
    ]

    assert [text for text in texts if "close_card" in _opened(text)] == []


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("freeze 3018", "freeze_card"),
        ("block 3018, he is off sick", "freeze_card"),
        ("put a hold on 3018", "freeze_card"),
        ("turn off 3018", "freeze_card"),
        ("unfreeze 3018", "unfreeze_card"),
        ("lift the freeze on 3018", "unfreeze_card"),
        ("3018: frozen → active", "unfreeze_card"),
        ("close 3018 for good", "close_card"),
    ],
)
def test_a_state_said_plainly_is_read(text: str, intent: str) -> None:
    assert _opened(text) == {intent}


SLIPS = ("uload", "nload", "ulnoad", "unoad", "unlad", "unlooad", "umload")
LEFT_OUT = ("kindly", "please", "could you", "pls")
NOUNS = ("block", "freeze", "hold", "lock", "suspension")
UNKNOWN_VERBS = list(product(LEFT_OUT, ("jift", "lfit", "litf", "remvoe", "ilft"), NOUNS))


@pytest.mark.parametrize(
    "said",
    [
        *(f"{slip} 3018 60.50{end}" for slip, end in product(SLIPS, ("", " pls"))),
        *(f"All is concluded with 3018. {how} the {noun}." for how, noun in product(LEFT_OUT, NOUNS)),
        *(f"{slip} 3018 please" for slip in ("ufreeze", "unfreze", "ublock", "unlok", "nfreeze")),
        *(
            f"can you {slip} 3018"
            for slip in (
                "uun-freeze",
                "unn-freeze",
                "u-freeze",
                "ub-block",
                "um-block",
                "u-ice",
                "nu-ice",
                "u-lock",
            )
        ),
        *(f"All is concluded. {how} {verb} the {noun} on 3018." for how, verb, noun in UNKNOWN_VERBS),
    ],
)
def test_a_slip_or_a_cut_that_may_hide_the_opposite_opens_no_form(said: str) -> None:
    assert not any(one.opened for one in parse(said, authors.facts(), kinds=operations.kinds()).readings)
