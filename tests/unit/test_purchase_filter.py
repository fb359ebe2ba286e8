"""Which purchases a command means: read from its arguments, written back, and decided for one purchase."""

from decimal import Decimal

import pytest

from bot.domain.events import PurchaseFilter
from bot.domain.events.purchase_filter import split
from bot.domain.money import InvalidAmount

ALL = PurchaseFilter()


@pytest.mark.parametrize(
    ("text", "head", "found"),
    [
        ("3018", "3018", ALL),
        ("Marta Kowalska at Shell", "Marta Kowalska", PurchaseFilter("Shell")),
        (
            "3018 at Corner Coffee above 20",
            "3018",
            PurchaseFilter("Corner Coffee", (("above", Decimal(20)),)),
        ),
        ('on 3018 at "Up To You" declined', "on 3018", PurchaseFilter("Up To You", (), "declined")),
        (
            "3018 over 20 at most 1,250.50 refunds",
            "3018",
            PurchaseFilter("", (("above", Decimal(20)), ("at most", Decimal("1250.50"))), "refunded"),
        ),
    ],
)
def test_it_is_read_after_the_card_and_written_back_the_same(
    text: str, head: str, found: PurchaseFilter
) -> None:
    assert split(text) == (head, found)
    assert split(found.typed) == ("", found)


@pytest.mark.parametrize(
    ("only", "words"),
    [
        (ALL, ""),
        (PurchaseFilter("Shell"), "at “Shell”"),
        (
            PurchaseFilter("", (("above", Decimal(200)), ("at most", Decimal("1250.5"))), "refunded"),
            "above 200.00 USD, at most 1,250.50 USD, refunded",
        ),
        (
            PurchaseFilter("Shell", (("above", Decimal(200)),), "declined"),
            "at “Shell”, above 200.00 USD, declined",
        ),
    ],
)
def test_it_is_said_in_words_and_as_nothing_where_everything_is_meant(
    only: PurchaseFilter, words: str
) -> None:
    assert only.in_words == words
    assert bool(only) is bool(words)


def test_an_amount_with_too_many_decimals_is_refused() -> None:
    with pytest.raises(InvalidAmount):
        split("3018 above 20.005")


@pytest.mark.parametrize(
    ("only", "fits"),
    [
        (ALL, True),
        (PurchaseFilter("shell"), True),
        (PurchaseFilter("Bakery"), False),
        (PurchaseFilter(bounds=(("above", Decimal(20)),)), False),
        (PurchaseFilter(bounds=(("at least", Decimal(20)),)), True),
        (PurchaseFilter(bounds=(("below", Decimal(20)),)), False),
        (PurchaseFilter(bounds=(("at most", Decimal(20)),)), True),
        (PurchaseFilter(kind="refunded"), True),
        (PurchaseFilter(kind="declined"), False),
    ],
)
def test_one_purchase_of_20_usd_at_shell_partly_refunded(only: PurchaseFilter, *, fits: bool) -> None:
    assert only.fits("SHELL 4711", Decimal(20), "partially_refunded") is fits


def test_a_purchase_without_a_known_amount_fits_no_bound() -> None:
    assert not PurchaseFilter(bounds=(("below", Decimal(20)),)).fits("Shell", None, "settled")
