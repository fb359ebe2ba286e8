"""The exchange rate of an event or a row belongs to the figures beside it, whatever a merchant does with a purchase."""

import random
from decimal import Decimal
from typing import Any

import pytest

from tests.sandbox_partner.conftest import Api, Hand

RATE_STEP = Decimal("0.000001")
CURRENCIES = {"USD": "1", "EUR": "1.10", "GBP": "1.27", "JPY": "0.0067"}


def fits(rate: Decimal, original: Decimal, total_usd: Decimal) -> bool:
    """Whether the rate leads from the original amount to the total, to the cent and the last digit of the rate."""
    return abs(original * rate - total_usd) <= abs(original) * RATE_STEP + Decimal("0.01")


def check_row(row: dict[str, Any]) -> None:
    if row["amount_usd"] == 0:
        assert (row["original_amount"], row["exchange_rate"]) == (0, None), row
    else:
        assert fits(row["exchange_rate"], row["original_amount"], row["amount_usd"]), row


def check_event(event: dict[str, Any], row: dict[str, Any]) -> None:
    """A settlement leaves out the authorization's fee, so its rate leads to the total on the row."""
    data = event["payload"]
    total_usd = row["amount_usd"] if data["event"] == "cleared" else abs(data["amount_usd"])
    assert fits(data["exchange_rate"], data["original_amount"], total_usd), (data, row)


async def test_a_rate_leads_from_the_original_amount_to_the_amount_beside_it(api: Api, hand: Hand) -> None:
    """P1: forty purchases with every order of authorization, reversal, settlement and refund, from one seed."""
    chance = random.Random(19)
    card = await api.loaded(hand, "50000")
    await hand("account", velocity_per_minute=1000)
    for _ in range(40):
        currency = chance.choice(list(CURRENCIES))
        charge_usd = Decimal(chance.randrange(200, 30000)) / 100
        original = (charge_usd / Decimal(CURRENCIES[currency])).quantize(Decimal("0.01"))
        bought = await hand.buy(
            card, str(charge_usd), original_amount=str(original), original_currency=currency
        )
        legs = chance.choice(
            (["settle"], ["reverse"], ["reverse", "settle"], ["settle", "refund"], ["refund"])
        )
        for place, leg in enumerate(legs):
            part = place == 0 and (len(legs) > 1 or chance.random() < 0.7)
            body = {"amount_usd": str((charge_usd / 3).quantize(Decimal("0.01")))} if part else {}
            await hand(f"purchases/{bought['transaction_id']}/{leg}", **body)
            row = (await api.history(card))[0]
            check_row(row)
            check_event((await api.events())[-1], row)


async def test_the_history_row_follows_a_settlement_of_another_amount(api: Api, hand: Hand) -> None:
    """P12: the row and the settlement's event name the same original amount."""
    card = await api.loaded(hand)
    bought = await hand.buy(card, "20", original_amount="18", original_currency="EUR")
    await hand(f"purchases/{bought['transaction_id']}/settle", amount_usd="25")
    row, event = (await api.history(card))[0], (await api.events())[-1]["payload"]
    assert row["original_amount"] == event["original_amount"] == Decimal("22.5")
    assert row["exchange_rate"] == event["exchange_rate"]


@pytest.mark.parametrize(("choice", "original"), [("follows", "9"), ("authorized", "18")])
async def test_a_switch_keeps_the_authorized_original_amount_on_the_row(
    api: Api, hand: Hand, choice: str, original: str
) -> None:
    """The document is silent on it: the default follows the amount, which a reversal lowers."""
    card = await api.loaded(hand)
    await hand("account", row_original=choice)
    bought = await hand.buy(card, "20", original_amount="18", original_currency="EUR")
    await hand(f"purchases/{bought['transaction_id']}/reverse", amount_usd="10")
    row = (await api.history(card))[0]
    assert row["original_amount"] == Decimal(original)
    check_row(row)


@pytest.mark.parametrize(
    ("charge_usd", "original", "currency"),
    [
        ("0.01", "900", "IRR"), ("1", "42000", "IRR"), ("25.5", "2282250", "LBP"), ("4999.99", "81999836", "IDR"),
        ("33.33", "1", "KWD"), ("0.4", "0.37", "EUR"), ("0.01", "999999999", "LBP"), ("10", "1500", "JPY"),
    ],
)  # fmt: skip
async def test_a_rate_has_the_digits_that_its_currency_needs(
    api: Api, hand: Hand, charge_usd: str, original: str, currency: str
) -> None:
    card = await api.loaded(hand, "9000")
    await hand.buy(card, charge_usd, original_amount=original, original_currency=currency)
    row = (await api.history(card))[0]
    for shown in (row, (await api.events())[-1]["payload"]):
        assert shown["exchange_rate"] > 0
        led = shown["original_amount"] * shown["exchange_rate"]
        assert led.quantize(Decimal("0.01")) == shown["amount_usd"].quantize(Decimal("0.01"))
