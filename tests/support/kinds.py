"""Every operation kind with values that it takes, and a request of it in a world that has what it needs."""

from __future__ import annotations

import pytest

from bot import operations
from bot.domain.requests import Request
from bot.operations import Operation
from bot.partner.codec import encode
from bot.services.requests import local_facts
from storage.cards import otp_recipients
from tests.support.world import ALICE, CAROL, World

NORA = {
    "card_holder_name": "Nora Quist",
    "phone_country_code": "46",
    "phone": "701234567",
    "email": "nora@example.com",
}
HASH = "0x" + "ab" * 32
TEXTS: dict[str, dict[str, str]] = {
    "card_order": {**NORA, "partner_ref": "emp-2001"},
    "card_topup": {"amount_usd": "50"},
    "card_unload": {"amount_usd": "5"},
    "card_close": {},
    "card_limits": {"daily_limit": "120", "monthly_limit": "900.50"},
    "card_phone": {"phone_country_code": "46", "phone": "701234567"},
    "card_3ds": {"program_enabled": "yes"},
    "fees_markup": {"markup_percent": "2.5"},
    "event_redeliver": {},
    "deposit_quote": {"amount_usd": "50", "asset": "USDC", "chain": "POLYGON"},
    "card_freeze": {},
    "card_unfreeze": {},
    "card_reveal": {},
    "funding_submit": {"tx_hash": HASH, "network": "POLYGON"},
    "webhook_register": {"url": "https://countersign.example.com/webhooks/main"},
    "webhook_rotate": {},
}
#: The call of each, as faults of the simulator name it.
PATH = {kind: cls.endpoint.value for kind, cls in operations.kinds().items()}
#: The fields of a quote, which the document does not name.
QUOTE_NAMES = {"card": "card_id", "amount_usd": "amount_usd", "asset": "asset", "chain": "chain"}
#: Two requests on one setting, the older first: kind and values of each, without the card.
SETTINGS: dict[str, tuple[str, dict[str, str], str, dict[str, str]]] = {
    "unfreeze, then freeze": ("card_unfreeze", {}, "card_freeze", {}),
    "freeze, then unfreeze": ("card_freeze", {}, "card_unfreeze", {}),
    "limits": ("card_limits", {"daily_limit": "900"}, "card_limits", {"daily_limit": "10"}),
    "phone": (
        "card_phone",
        {"phone_country_code": "46", "phone": "701234567"},
        "card_phone",
        {"phone_country_code": "46", "phone": "707654321"},
    ),
    "markup": ("fees_markup", {"markup_percent": "9"}, "fees_markup", {"markup_percent": "2"}),
}
EACH = pytest.mark.parametrize("kind", list(operations.kinds()))
# Showing card details makes a link and calls nothing; test_reveal.py holds it to that.
CALLING = pytest.mark.parametrize("kind", [kind for kind in operations.kinds() if kind != "card_reveal"])


def kind_class(kind: str) -> type[Operation]:
    return operations.kinds()[kind]


async def asked(world: World, kind: str) -> Request:
    """A request of this kind, on the first card where it names one; what it needs is there."""
    assert kind in TEXTS, f"{kind} needs an example in tests/support/kinds.py"
    texts = dict(TEXTS[kind])
    card = world.cards[0]
    if any(field.card for field in kind_class(kind).fields):
        texts["card"] = world.cards[0]["id"]
    if kind == "card_unfreeze":
        await world.tell(f"cards/{world.cards[0]['id']}", {"status": "FROZEN"})
    if kind == "card_close":
        texts["last4"] = card["last4"]
    if kind == "event_redeliver":
        texts["event_id"] = (await world.state())["events"][0]["id"]
    if kind == "deposit_quote":
        await world.tell("account", {"deposits_enabled": True})
    if kind in ("webhook_rotate", "card_3ds"):
        registered = encode({"url": "https://countersign.example.com/webhooks/main"})
        await world.core.partners["main"].set_webhook(registered)
        await world.advance(600)
    if kind == "card_3ds":
        await local_facts.note_repeated(world.core, "main")
        async with world.store.begin() as tx:
            await otp_recipients.put(tx, card["partner_ref"], CAROL)
    return await world.ask(kind, texts, by=CAROL if kind_class(kind).handling.asked_by_admins else ALICE)
