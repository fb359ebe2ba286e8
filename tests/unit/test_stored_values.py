"""What is stored of a filled form stays as the first stored requests have it, and is read back as the same values.

Databases hold these texts, digests and MACs are made of them, and the API gets these bytes. So no change of how
values are typed inside may change one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import operations
from bot.domain.requests import request_digest
from bot.operations import Operation
from bot.operations.card_order import Order
from bot.operations.card_topup import TopUp
from bot.operations.deposit_quote import QuoteDeposit
from bot.operations.value_types import USD, CardId, ValueType
from bot.partner.codec import encode
from tests.unit.test_request_digest import ONE

ALICE = "ALICE MOREAU ••4242"
ADDRESS = {"url": "https://countersign.example.com/webhooks/main"}  # as the preview of a rotation reads it
QUOTE = {"card": "card_id", "amount_usd": "amount_usd", "asset": "asset", "chain": "chain"}


@dataclass(frozen=True)
class Kept:
    """What is typed for a kind, and what the code that made the first stored requests made of it."""

    kind: str
    typed: Mapping[str, str]
    terms: Mapping[str, str]
    private: Mapping[str, str]
    body: bytes
    summary: str
    digest: str


KEPT = (
    Kept(
        "card_3ds",
        {"card": "card1", "program_enabled": "yes"},
        {"card": "card1", "program_enabled": "yes"},
        {},
        b'{"method":"webhook"}',
        "Send the 3-D Secure codes of ALICE MOREAU ••4242 by webhook for good (program enabled: yes)",
        "441f3fc35af8e192998bd59ae9619f49c132e44f05ba5706d1fcf39fab8ff527",
    ),
    Kept(
        "card_close",
        {"card": "card1", "last4": "••4242"},
        {"card": "card1", "last4": "4242"},
        {},
        b"{}",
        "Close ALICE MOREAU ••4242 for good",
        "a134870f23feee7229f35495f6668b6e8f79c35f3d6e75295c7bccf83e69dc96",
    ),
    Kept(
        "card_freeze",
        {"card": "card1"},
        {"card": "card1"},
        {},
        b'{"frozen":true}',
        "Freeze ALICE MOREAU ••4242",
        "738182c8e8e5cf7acf4ee737becca655829e4d4b129bbf13dd24454fbd0030a4",
    ),
    Kept(
        "card_limits",
        {"card": "card1", "daily_limit": "120", "monthly_limit": "900.50"},
        {"card": "card1", "daily_limit": "120.00", "monthly_limit": "900.50"},
        {},
        b'{"daily_limit":120.00,"monthly_limit":900.50}',
        "Set the limits of ALICE MOREAU ••4242: daily limit 120.00 USD, monthly limit 900.50 USD",
        "f84e9acdceb2a36c39b1b76abb77dd4f75bda555e5a7fdd8f728cf0e179ba680",
    ),
    Kept(
        "card_order",
        {
            "card_holder_name": "Zoé Łukasz Quist",
            "phone_country_code": "+0046",
            "phone": "(070) 123-45.67",
            "email": "nora@example.com",
            "partner_ref": "emp-2001",
        },
        {
            "card_holder_name": "ZOE LUKASZ QUIST",
            "phone_country_code": "46",
            "phone": "••••4567",
            "email": "n•••@•••.com",
            "partner_ref": "emp-2001",
        },
        {"phone": "0701234567", "email": "nora@example.com"},
        b'{"card_holder_name":"ZOE LUKASZ QUIST","phone_country_code":46,"phone":"0701234567",'
        b'"email":"nora@example.com","partner_ref":"emp-2001"}',
        "Order a card for ZOE LUKASZ QUIST (phone +46 ••••4567, n•••@•••.com, reference emp-2001)",
        "3762bda21a4215b85cc75ffd4c7290b4957c0c5ad2ffc8f85c01ea10fef19024",
    ),
    Kept(
        "card_phone",
        {"card": "card1", "phone_country_code": "46", "phone": "701234567"},
        {"card": "card1", "phone_country_code": "46", "phone": "••••4567"},
        {"phone": "701234567"},
        b'{"phone_country_code":46,"phone":"701234567"}',
        "Change the phone of ALICE MOREAU ••4242 to +46 ••••4567",
        "18a88c1b766641cbc376f216343fd92f2dfb7e032e75f8e096dae28015fa5cca",
    ),
    Kept(
        "card_reveal",
        {"card": "card1"},
        {"card": "card1"},
        {},
        b"{}",
        "Show the card details of ALICE MOREAU ••4242 to the requester, once",
        "aeef0a7ed4e7abc15a819dc8fcc593a808763c3c0a8dca7f038e0057a7406e14",
    ),
    Kept(
        "card_topup",
        {"card": "card1", "amount_usd": "$1,250.5"},
        {"card": "card1", "amount_usd": "1250.50"},
        {},
        b'{"amount_usd":1250.50}',
        "Top up ALICE MOREAU ••4242 by 1,250.50 USD",
        "2baba50ffce3a2550720492ad63d59039fa8feb16d403f5923f3f5a974e3c5ef",
    ),
    Kept(
        "card_unfreeze",
        {"card": "card1"},
        {"card": "card1"},
        {},
        b'{"frozen":false}',
        "Unfreeze ALICE MOREAU ••4242",
        "8d7f368368177595873385249279c0a7c033f468c270977a8f7d2f88fc2352fc",
    ),
    Kept(
        "card_unload",
        {"card": "card1", "amount_usd": "5"},
        {"card": "card1", "amount_usd": "5.00"},
        {},
        b'{"amount_usd":5.00}',
        "Unload 5.00 USD from ALICE MOREAU ••4242 back to the float",
        "02407c548405ee2960edd9480063a7d2f518e1c36a2316339d33e40dd8492050",
    ),
    Kept(
        "deposit_quote",
        {"card": "card1", "amount_usd": "50", "asset": "usdc", "chain": "POLYGON"},
        {"amount_usd": "50.00", "card": "card1", "asset": "USDC", "chain": "POLYGON"},
        {},
        b'{"card_id":"card1","amount_usd":50.00,"asset":"USDC","chain":"POLYGON"}',
        "Quote a deposit of 50.00 USD in USDC on POLYGON for ALICE MOREAU ••4242",
        "d32840e8cd508c49e1bc638c382a22e84efd4fb248753ccb133f0bcb6437d3f0",
    ),
    Kept(
        "event_redeliver",
        {"event_id": "evt_1"},
        {"event_id": "evt_1"},
        {},
        b"{}",
        "Have the event evt_1 delivered again",
        "1c7b1076481b98a15016003623511c781619702c1014b540ed666a4b75a6f202",
    ),
    Kept(
        "fees_markup",
        {"markup_percent": "2.50 %"},
        {"markup_percent": "2.5"},
        {},
        b'{"markup_pct":0.025}',
        "Set the markup on deposits to 2.5 %",
        "2a0279b3c0c8c57f3e7162d1815123cf5d4e937b5d2aee3f597d97ac5c45aade",
    ),
    Kept(
        "funding_submit",
        {"tx_hash": "0xABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB", "network": "bsc"},
        {"tx_hash": "0xabababababababababababababababababababababababababababababababab", "network": "BNB"},
        {},
        b'{"tx_hash":"0xabababababababababababababababababababababababababababababababab","network":"BNB"}',
        "Submit funding 0xabababababababababababababababababababababababababababababababab on BNB",
        "51c572029f4e0a1542e1dd9edf73fdf1b7b02800e35003959c9084f026e3b780",
    ),
    Kept(
        "webhook_register",
        {"url": "https://Countersign.example.com:443/webhooks/main"},
        {"url": "https://countersign.example.com/webhooks/main"},
        {},
        b'{"url":"https://countersign.example.com/webhooks/main"}',
        "Register https://countersign.example.com/webhooks/main for the service's events",
        "00bebec144a718b3b7196790d32c248014148e70c6ea34bbc664eece1444fc0d",
    ),
    Kept(
        "webhook_rotate",
        {},
        {"url": "https://countersign.example.com/webhooks/main"},
        {},
        b'{"url":"https://countersign.example.com/webhooks/main","rotate":true}',
        "Rotate the webhook secret of https://countersign.example.com/webhooks/main",
        "9511d6cc0b13dfdccd666e7398f21433b5603f30c6fb3c567bf0520065b7daab",
    ),
)


def kind_of(name: str) -> type[Operation]:
    cls = operations.kinds()[name]
    return cls.configured(QUOTE) if issubclass(cls, QuoteDeposit) else cls


def filled(kept: Kept) -> Operation:
    """The operation that is made of what is typed, its card found and its preview read."""
    cls = kind_of(kept.kind)
    card = {"card": CardId(kept.typed["card"])} if "card" in kept.typed else {}
    operation = cls({**cls.parse(kept.typed), **card}, ALICE)
    return cls({**operation.values, **operation.learned(ADDRESS)}, ALICE)


EACH = pytest.mark.parametrize("kept", KEPT, ids=lambda kept: kept.kind)


def test_every_kind_is_here() -> None:
    assert [kept.kind for kept in KEPT] == list(operations.kinds()), "KEPT has what is stored of each kind"


@EACH
def test_what_is_stored_signed_and_sent_of_a_filled_form_never_changes(kept: Kept) -> None:
    operation = filled(kept)

    assert operation.terms() == kept.terms
    assert operation.private() == kept.private
    assert encode(operation.body()) == kept.body
    assert operation.summary() == kept.summary
    request = replace(
        ONE,
        kind=kept.kind,
        terms=operation.terms(),
        subject=operation.subject,
        summary=operation.summary(),
        exposure_usd=operation.exposure_usd(),
        facts={},
    )
    assert request_digest(request) == kept.digest


@EACH
def test_what_is_stored_is_read_back_as_the_values_that_were_typed(kept: Kept) -> None:
    operation = filled(kept)

    again = type(operation).of_stored(operation.stored(), ALICE, private=operation.stored())
    assert again.values == operation.values
    assert encode(again.body()) == kept.body
    approved = type(operation).of_stored(kept.terms, ALICE)
    assert approved.summary() == kept.summary
    assert approved.terms() == kept.terms


@EACH
def test_a_value_is_of_the_class_that_its_field_names(kept: Kept) -> None:
    operation = filled(kept)

    for field in operation.declared:
        if field.name in operation.values:
            value = getattr(operation, field.name)
            assert value is operation.values[field.name]
            assert type(value) is field.holds.python
            assert field.holds.load(field.holds.store(value)) == value


def test_an_operation_takes_no_text_for_an_amount_and_no_name_it_does_not_have() -> None:
    for values in ({"amount_usd": "50.00"}, {"card": "card1", "note": "x"}):
        with pytest.raises(TypeError, match="takes other values for"):
            TopUp(values)


def test_a_private_value_that_is_known_masked_only_is_never_sent() -> None:
    approved = Order.of_stored({**KEPT[4].terms}, ALICE)

    assert "0701234567" not in repr(filled(KEPT[4]).values)
    with pytest.raises(ValueError, match="only the masked value"):
        approved.body()


@given(st.decimals(Decimal("0.01"), Decimal("999999999.99"), places=2))
def test_an_amount_is_stored_and_read_back_to_the_cent(usd: Decimal) -> None:
    holds: ValueType[Any] = USD

    assert holds.read(f"{usd:f}") == usd
    assert holds.load(holds.store(usd)) == usd
    assert holds.store(holds.read(f"{usd:f}")) == f"{usd:.2f}"
