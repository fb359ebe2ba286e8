"""Every switch does something: what is seen under its other value, where the default is seen elsewhere."""

import asyncio
import typing
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

import pytest

from sandbox.partner.accounts import Settings
from tests.sandbox_partner.conftest import ORDER, Api, Hand

Trial = Callable[[Api, Hand, str], Awaitable[Any]]
_TRIALS: dict[str, list[tuple[Any, Trial, Any, Any]]] = {}


def trial(switch: str, value: Any, *, default: Any, switched: Any) -> Callable[[Trial], Trial]:
    """Register what a trial sees under the default and under ``value``."""

    def register(run: Trial) -> Trial:
        _TRIALS.setdefault(switch, []).append((value, run, default, switched))
        return run

    return register


async def status_of_unload(api: Api, card: str, key: str = "u1") -> int:
    return (await api.post(f"/cards/{card}/unload", {"amount_usd": 1}, idem=key)).status


@trial("unload_replay", "conflict", default=200, switched=409)
async def _unload_again(api: Api, _hand: Hand, card: str) -> int:
    await status_of_unload(api, card)
    return await status_of_unload(api, card)


@trial("bearer_on_me", "refuse", default=200, switched=401)
async def _bearer(api: Api, _hand: Hand, _card: str) -> int:
    return (await api.http.get("/me", headers={"Authorization": f"Bearer {api.key}"})).status_code


@trial("first_sync", "immediate", default=None, switched="ACTIVE")
async def _new_card(api: Api, _hand: Hand, _card: str) -> Any:
    return (await api.post("/cards", ORDER)).data["card"]["status"]


@trial("unload_reference", "none", default="unload:u1", switched=None)
async def _unload_row(api: Api, _hand: Hand, card: str) -> Any:
    await status_of_unload(api, card)
    return (await api.ledger())[0]["reference"]


@trial("order_claim_row", "no", default=1, switched=0)
async def _claim_rows(api: Api, _hand: Hand, _card: str) -> int:
    await api.order("claimed")
    return len([row for row in await api.ledger() if row["reference"] == "card-order:claimed"])


@trial("create_replay", "current", default=None, switched="FROZEN")
async def _order_again(api: Api, hand: Hand, _card: str) -> Any:
    made = await api.order("again")
    await hand(f"cards/{made}", status="FROZEN")
    return (await api.post("/cards", ORDER, idem="again")).data["card"]["status"]


@trial("funds_check", "before_replay", default=200, switched=402)
async def _replay_without_funds(api: Api, hand: Hand, card: str) -> int:
    await hand("float", amount_usd="-75")
    return (await api.top_up(card)).status


@trial("key_scope", "account", default=200, switched=409)
async def _key_of_another_kind(api: Api, _hand: Hand, card: str) -> int:
    return (await api.top_up(card, "1", idem="order-1")).status


@trial("key_amount", "conflict", default=200, switched=409)
async def _key_with_another_amount(api: Api, _hand: Hand, card: str) -> int:
    return (await api.top_up(card, "26")).status


@trial("key_days", 2, default=1, switched=2)
async def _key_after_days(api: Api, hand: Hand, card: str) -> int:
    await hand("clock", advance_seconds=3 * 86400)
    await api.top_up(card)
    return len([row for row in await api.ledger() if row["reference"] == "topup:topup-1"])


@trial("create_400_key", "spent", default=201, switched=409)
async def _order_after_a_refusal(api: Api, _hand: Hand, _card: str) -> int:
    await api.post("/cards", {**ORDER, "phone": "1"}, idem="bad")
    return (await api.post("/cards", ORDER, idem="bad")).status


@trial("refund_reference", "same", default="topup:r1:refund", switched="topup:r1")
async def _refund_row(api: Api, hand: Hand, card: str) -> Any:
    await hand.fault("processor", processor="400")
    await api.top_up(card, "1", idem="r1")
    return next(row["reference"] for row in await api.ledger() if row["kind"] == "refund")


@trial("processor_timeout", "500", default=502, switched=500)
@trial("processor_timeout", 500, default=502, switched=500)
@trial("processor_timeout", "hang", default=502, switched="no answer")
async def _processor_timeout(api: Api, hand: Hand, card: str) -> Any:
    await hand.fault("processor", processor="timeout")
    try:
        async with asyncio.timeout(0.4):
            return (await api.top_up(card, "1", idem="t1")).status
    except TimeoutError:
        return "no answer"


@trial("order_without_float", "refuse", default=201, switched=400)
async def _order_without_float(api: Api, hand: Hand, _card: str) -> int:
    await hand("account", monthly_fee_usd="1")
    await hand("float", amount_usd="-75")
    return (await api.post("/cards", ORDER)).status


@trial("monthly_fee", "invoice", default=1, switched=0)
async def _fee_rows(api: Api, hand: Hand, _card: str) -> int:
    await hand("account", monthly_fee_usd="1")
    await api.order("billed")
    return len([row for row in await api.ledger() if row["kind"] == "fee"])


@trial("topup_frozen", "refuse", default=200, switched=400)
async def _top_up_frozen(api: Api, _hand: Hand, card: str) -> int:
    await api.post(f"/cards/{card}/freeze", {"frozen": True})
    return (await api.top_up(card, "1", idem="frozen")).status


@trial("repeat_freeze_event", "yes", default=1, switched=2)
async def _freeze_twice(api: Api, _hand: Hand, card: str) -> Any:
    for _ in range(2):
        await api.post(f"/cards/{card}/freeze", {"frozen": True})
    return (await api.get("/events")).data["total"]


@trial("close_again", "conflict", default=400, switched=409)
async def _close_twice(api: Api, _hand: Hand, card: str) -> int:
    await api.post(f"/cards/{card}/close")
    return (await api.post(f"/cards/{card}/close")).status


@trial("total_past_end", "true", default=0, switched=1)
async def _past_the_end(api: Api, _hand: Hand, card: str) -> Any:
    await api.post(f"/cards/{card}/freeze", {"frozen": True})
    return (await api.get("/events?page=9")).data["total"]


@trial("late_network_change", "stored", default=400, switched=200)
async def _late_correction(api: Api, hand: Hand, _card: str) -> int:
    tx_hash = "0x" + "5" * 64
    sent = {"network": "BASE", "tx_hash": tx_hash, "senders": ["0x1"], "token": "USDC", "amount": "20"}
    await hand("chain/transfers", **sent)
    await api.post("/funding", {"tx_hash": tx_hash, "network": "BASE"})
    return (await api.post("/funding", {"tx_hash": tx_hash, "network": "BNB"})).status


@trial("outstanding", "live_balances", default=5, switched=30)
async def _headroom_of_unresolved(api: Api, hand: Hand, card: str) -> Any:
    """An unresolved top-up is outstanding, but on no card."""
    await hand("account", float_limit_usd="55")
    await hand.fault("processor", processor="5xx")
    await api.top_up(card, "25", idem="unresolved")
    return (await api.float())["available_usd"]


@trial("events_days", 1, default=1, switched=0)
async def _old_events(api: Api, hand: Hand, card: str) -> Any:
    await api.post(f"/cards/{card}/freeze", {"frozen": True})
    await hand("clock", advance_seconds=2 * 86400)
    return (await api.get("/events")).data["total"]


@trial("threeds_default", "webhook", default="sms", switched="webhook")
async def _mode_of_a_new_card(api: Api, hand: Hand, _card: str) -> Any:
    await api.order("another")
    return (await hand.state())["cards"][-1]["three_ds_method"]


@trial("spend_window", "rolling", default="authorized", switched="declined")
async def _spend_after_midnight(api: Api, hand: Hand, card: str) -> Any:
    await hand("clock", set="2026-05-10T23:00:00Z")
    await api.call("PUT", f"/cards/{card}/limits", {"daily_limit": 10})
    assert (await hand.buy(card, "10"))["outcome"] == "authorized"
    await hand("clock", advance_seconds=2 * 3600)
    return (await hand.buy(card, "10"))["outcome"]


@trial("authorization_days", 0, default="reversed", switched="pending")
async def _authorization_that_never_settles(api: Api, hand: Hand, card: str) -> Any:
    await hand(f"cards/{card}", status="ACTIVE")
    await hand.buy(card, "10")
    await hand("clock", advance_seconds=7 * 86400)
    return (await api.history(card))[0]["status"]


@trial("suspended_deliveries", "continue", default=0, switched=1)
async def _deliver_while_suspended(api: Api, hand: Hand, card: str) -> Any:
    await api.call("PUT", "/webhook", {"url": "https://hooks.example.com/"})
    await hand("account", suspended=True)
    await hand.buy(card, "1")
    await hand("clock", advance_seconds=1)
    return len((await hand.state())["deliveries"])


NOT_SWITCHES = {
    "cards_limit", "float_limit_usd", "accept_any_wallet", "suspended", "networks", "addresses_unreadable",
    "countries_refused", "automatic_funding_since", "background_refresh_seconds", "monthly_fee_usd", "load_pct",
    "profile", "threeds_webhook_enabled", "deposits_enabled", "transaction_markup_pct", "velocity_per_minute",
    "threeds_tries",
}  # fmt: skip
# Both values of each are tried in test_places_left_open and test_exchange_rates.
TRIED_THERE = {
    "phone_check", "tx_hash_prefix", "unsynced_card", "unload_closed", "frozen_reads_blocked", "closed_balance",
    "foreign_atm", "pages_past_end", "row_original",
}  # fmt: skip


def test_every_switch_and_every_value_of_it_is_tried() -> None:
    hints = typing.get_type_hints(Settings)
    assert set(hints) - NOT_SWITCHES - TRIED_THERE == set(_TRIALS)
    for switch, trials in _TRIALS.items():
        values = typing.get_args(hints[switch]) if typing.get_origin(hints[switch]) is typing.Literal else ()
        default = getattr(Settings(), switch)
        tried = {value for value, *_ in trials} | {default}
        assert {str(value) for value in values} <= {str(value) for value in tried}, switch


CASES = [(switch, *case) for switch, cases in _TRIALS.items() for case in cases]


@pytest.mark.by_turns(5)
@pytest.mark.parametrize(("switch", "value", "run", "default", "switched"), CASES)
@pytest.mark.parametrize("set_it", [False, True])
async def test_a_switch_changes_what_its_trial_sees(
    api: Api, hand: Hand, switch: str, value: Any, run: Trial, default: Any, switched: Any, set_it: bool
) -> None:
    await hand("clock", mode="frozen", set="2026-05-10T00:00:00Z")
    await hand("account", monthly_fee_usd="0")
    await hand("float", amount_usd="100")
    card = await api.order()
    assert (await api.top_up(card)).data["partner_balance_usd"] == Decimal(75)
    if set_it:
        await hand("account", **{switch: value})

    assert await run(api, hand, card) == (switched if set_it else default)
