"""Ten recipes with the client that a generator made of the simulator's description. Prints the name of each that held.

Run with the address of the API and a key. What is imported as `partner_api` is the generated package.
"""

import sys

from partner_api import AuthenticatedClient
from partner_api.api.account import get_account, list_funding_addresses, list_ledger
from partner_api.api.cards import (
    freeze_card,
    get_card,
    get_limits,
    list_cards,
    order_card,
    set_limits,
    top_up_card,
    unload_card,
)
from partner_api.api.webhooks_and_events import list_events, set_webhook
from partner_api.models import (
    FreezeBody,
    LimitsBody,
    OrderBody,
    TopUpBody,
    UnloadBody,
    WebhookBody,
)

api = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2], prefix="", auth_header_name="X-API-Key")
body = OrderBody("Ada Lovelace", 49, "15123456789", "ada@example.com")


def held(name: str, it_did: bool) -> None:
    assert it_did, name
    print(name)


me = get_account.sync(client=api).data
held("read the account", me.float_.balance_usd == 5000 and me.key.rate_limit_per_minute == 120)

first = order_card.sync(client=api, body=body, idempotency_key="order-1").data.card
again = order_card.sync(client=api, body=body, idempotency_key="order-1").data.card
held("order a card once", first.id == again.id and first.card_holder_name == "ADA LOVELACE")

listed = list_cards.sync(client=api, limit=10).data
held("list the cards", [card.id for card in listed.cards] == [first.id] and listed.count == 1)

for _ in range(2):
    done = top_up_card.sync(
        client=api, card_id=first.id, body=TopUpBody(amount_usd=25.5), idempotency_key="top-up-1"
    ).data
held("top up once", done.credited_usd == 25.5 and done.fee_usd == 0)

read = get_card.sync(client=api, card_id=first.id).data
held("read a card with its balance", read.balance_usd == 25.5)

refused = top_up_card.sync_detailed(
    client=api, card_id=first.id, body=TopUpBody(amount_usd=9999), idempotency_key="top-up-2"
)
held(
    "be refused for want of funds",
    refused.status_code == 402 and refused.parsed.code.value == "INSUFFICIENT_FUNDS",
)

back = unload_card.sync(
    client=api, card_id=first.id, body=UnloadBody(amount_usd=5.5), idempotency_key="unload-1"
).data
held("take money off a card", back.unloaded_usd == 5.5)

set_limits.sync(client=api, card_id=first.id, body=LimitsBody(daily_limit=100))
limits = get_limits.sync(client=api, card_id=first.id).data
held("set a limit", limits.daily_limit == 100 and limits.weekly_limit is None)

set_webhook.sync(client=api, body=WebhookBody(url="https://hooks.example.com/a"))
freeze_card.sync(client=api, card_id=first.id, body=FreezeBody(frozen=True))
events = list_events.sync(client=api, type_="card.status_changed").data.events
held("freeze and find the event", [one.payload["reason"] for one in events] == ["partner_freeze"])

entries = list_ledger.sync(client=api, limit=100).data.entries
total = sum(entry.amount_usd for entry in entries)
balance = get_account.sync(client=api).data.float_.balance_usd
addresses = list_funding_addresses.sync(client=api).data.addresses
held("add up the ledger", round(total - balance, 9) == 0 and len(addresses) == 3)
