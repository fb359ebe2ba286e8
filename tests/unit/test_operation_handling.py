"""How requests of each kind are handled: one value a kind, with no kind in it that there is not."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict
from typing import Any

import pytest

from bot import operations
from bot.operations import Operation
from bot.operations._handling import Handling

PAYS = ("card_topup", "card_unload", "card_close")
# What each kind has otherwise than most.
OF_KINDS: dict[str, dict[str, Any]] = {
    "card_3ds": {
        "asked_by_admins": True,
        "needs_deliveries": True,
        "superseded_by": ("card_3ds",),
        "reads_back": False,
        "needs_our_records": True,
    },
    "card_close": {"doubts": PAYS},
    "card_freeze": {
        "run_now": "Freeze now",
        "can_run_now": True,
        "is_urgent": True,
        "must_recheck": False,
        "superseded_by": ("card_freeze", "card_unfreeze"),
        "urgency": {
            "not_yet": "Not frozen yet",
            "done": "Frozen",
            "not_done": "not frozen",
            "meanwhile": "Purchases still go through.",
            "perhaps": "Purchases may still go through.",
            "for_now": "Frozen for now",
            "unchanged": "the card stays as it is",
            "advice": "If it is urgent, call your card provider: they can stop the card, too.",
        },
    },
    "card_limits": {"superseded_by": ("card_limits",)},
    "card_order": {},
    "card_phone": {"superseded_by": ("card_phone",), "reads_back": False, "needs_our_records": True},
    "card_reveal": {"needs_public_url": True},
    "card_topup": {"moves_float": True, "doubts": PAYS},
    "card_unfreeze": {"superseded_by": ("card_freeze", "card_unfreeze")},
    "card_unload": {"doubts": PAYS},
    "deposit_quote": {"repeats": False},
    "event_redeliver": {"superseded_by": ("event_redeliver",)},
    "fees_markup": {"superseded_by": ("fees_markup",)},
    "funding_submit": {"superseded_by": ("funding_submit",), "leaves_a_trace": True},
    "webhook_register": {"asked_by_admins": True, "alone": True, "repeats": False},
    "webhook_rotate": {"asked_by_admins": True, "alone": True, "repeats": False},
}
KINDS = operations.kinds()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_is_handled_as_it_says(kind: str) -> None:
    usual = asdict(Handling())

    found = {name: value for name, value in asdict(KINDS[kind].handling).items() if value != usual[name]}

    assert kind in OF_KINDS, f"OF_KINDS says how {kind} is handled; {{}} where as most: here {found}"
    assert found == OF_KINDS[kind]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_a_kind_names_are_kinds(kind: str) -> None:
    handling = KINDS[kind].handling

    assert {*handling.doubts, *handling.superseded_by} <= set(KINDS)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_kinds_that_set_the_same_or_doubt_each_other_say_so_both_ways(kind: str) -> None:
    """The older request is asked which kinds replace it, the newer one which it replaces."""
    handling = KINDS[kind].handling

    assert all(kind in KINDS[other].handling.superseded_by for other in handling.superseded_by)
    assert all(kind in KINDS[other].handling.doubts for other in handling.doubts)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"doubts": "card_topup"}, "doubts is a tuple"),
        ({"superseded_by": ["card_topup"]}, "superseded_by is a tuple"),
        ({"moves_float": True, "run_now": "Do it now"}, "second person"),
        ({"moves_float": True, "must_recheck": False}, "checked again"),
        ({"run_now": "Do it now"}, "cannot wait"),
        ({"repeats": False, "urgency": KINDS["card_freeze"].handling.urgency}, "may be repeated"),
    ],
)
def test_what_no_kind_may_be_is_refused_when_it_is_defined(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(TypeError, match=why):
        Handling(**wrong)


def test_nothing_changes_how_a_kind_is_handled_afterwards() -> None:
    with pytest.raises(FrozenInstanceError):
        Operation.handling.repeats = False  # type: ignore[misc]
