"""Rows of the ledger in words: by kind, sign and reference, and as they are where they are not known."""

from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.money import Known, ledger_text

CARD = "a1" * 16
HASH = "0x" + "cd" * 32
KNOWN = Known({"01-key": "R-7K3M"}, {CARD: "ALICE ••4242"})


@pytest.mark.parametrize(
    ("kind", "amount", "reference", "card", "words"),
    [
        ("funding", "100", f"funding-BASE-{HASH}", None, "Funding received on BASE, 0xcdcdcdcd…"),
        (
            "funding",
            "-100",
            f"funding-reversal-BASE-{HASH}",
            None,
            "Funding taken back by your card provider on BASE",
        ),
        (
            "funding",
            "-100",
            "by hand",
            None,
            "Taken from the float by your card provider and booked as funding; no",
        ),
        ("funding", "100", "by hand", None, "Funding received"),
        ("fee", "-1", f"funding-BASE-{HASH}:fee", None, "Load fee of a funding"),
        ("fee", "1", f"funding-reversal-BASE-{HASH}:fee", None, "Load fee given back"),
        ("fee", "-3", f"card-fee:{CARD}:2026-03", None, "Monthly fee of ALICE ••4242 for 2026-03"),
        ("fee", "-3", f"x/2026-03/{CARD}", None, "Monthly fee of ALICE ••4242 for 2026-03"),
        ("fee", "-3", None, None, "Fee"),
        ("card_topup", "-5", "topup:01-key", CARD, "Top-up of ALICE ••4242"),
        ("card_topup", "-5", "topup:01-key", "unknown1", "Top-up of card unknown1"),
        ("refund", "5", "topup:01-key:refund", None, "Top-up refused by the processor, given back"),
        ("refund", "5", "unload:01-key", CARD, "Unload of ALICE ••4242: back from the card to the float"),
        ("refund", "5", None, CARD, "Back from the card to the float of ALICE ••4242"),
        (
            "adjustment",
            "0",
            "card-order:01-key",
            CARD,
            "Marker in your card provider's books for ALICE ••4242",
        ),
        ("clawback", "-2", "who-knows", None, "Your card provider calls it clawback"),
    ],
)
def test_a_row_says_what_happened(
    kind: str, amount: str, reference: str | None, card: str | None, words: str
) -> None:
    assert ledger_text.in_words(kind, Decimal(amount), reference, card, KNOWN).startswith(words)


def test_a_key_is_found_whole_and_with_what_follows_its_colon() -> None:
    assert ledger_text.key_in("topup:01-key") == "01-key"
    assert ledger_text.key_in("topup:01-key:refund") == "01-key"
    assert ledger_text.key_in("funding-BASE-0xab") == ""
    assert ledger_text.key_in(None) == ""


def test_a_reference_of_a_funding_says_which_whether_it_came_back_and_whether_it_is_its_fee() -> None:
    for back, fee in product((False, True), (False, True)):
        reference = f"funding-{'reversal-' * back}BASE-{HASH}{':fee' * fee}"
        assert ledger_text.funding_in(reference) == ledger_text.FundingNamed(HASH, back, fee)
    for no_funding in (None, "", "topup:01-key", f"funding-BASE-{HASH}x", f"xfunding-BASE-{HASH}"):
        assert ledger_text.funding_in(no_funding) is None


@given(st.text(max_size=40), st.decimals(-1000, 1000, places=2), st.text(max_size=80), st.text(max_size=40))
def test_any_row_is_reported_in_one_line(kind: str, amount: Decimal, reference: str, card: str) -> None:
    assert ledger_text.in_words(kind, amount, reference, card, KNOWN)
