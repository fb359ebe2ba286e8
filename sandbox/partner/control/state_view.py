"""What `GET /_control/state` shows: the whole truth of the simulator, without a secret.

Amounts are decimal strings.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec

from sandbox.partner import codec, invariants, money
from sandbox.partner.accounts import Account, account, all_accounts, first_account
from sandbox.partner.background import deliveries
from sandbox.partner.calls import Keyed, chaos, faults, idempotency, journal
from sandbox.partner.cards import Card, cards
from sandbox.partner.events import event_log
from sandbox.partner.funding import Submission, deposits, submissions
from sandbox.partner.ledger import ledger
from sandbox.partner.purchases import Purchase, purchases
from sandbox.partner.state import World


def state(world: World) -> dict[str, Any]:
    """Figures of the first account stand at the top; `accounts` has every account's."""
    owner = account(world, first_account(world))
    wrong = invariants.broken(world)
    return {
        "clock": codec.stamp(world.clock.now()),
        "clock_mode": world.clock.mode,
        "seed": world.seed,
        "account": account_text(owner),
        "accounts": [{**account_text(one), "float": float_text(world, one)} for one in all_accounts(world)],
        "float": float_text(world, owner),
        "suspense_usd": money.text(invariants.suspense_usd(world, owner.id)),
        "ledger_sum": money.text(ledger.rows_total(world, owner.id)),
        "ledger": _ledger(world),
        "cards": [card_text(world, card) for card in cards.all_cards(world)],
        "funding": [funding_text(one) for one in submissions.all_submissions(world)],
        "wallets": [dict(row) for row in world.store.all("SELECT * FROM wallets ORDER BY registered_at")],
        "transfers": _transfers(world),
        "keys": keys(world),
        "idempotency": [keyed_text(keyed) for keyed in idempotency.all_keyed(world)],
        "events": [event_text(row) for row in world.store.all("SELECT * FROM events ORDER BY seq")],
        "deliveries": _deliveries(world),
        "delivery_mode": deliveries.mode(world),
        "delivery_map": deliveries.hosts(world),
        "delivery_serial": deliveries.serial(world),
        "delivery_timestamps": deliveries.timestamps(world),
        "webhooks": webhooks(world),
        "purchases": [purchase_text(one) for one in purchases.all_purchases(world)],
        "challenges": [
            challenge_text(row) for row in world.store.all("SELECT * FROM challenges ORDER BY seq")
        ],
        "deposits": [
            texts(deposits.shown(row)) for row in world.store.all("SELECT * FROM deposits ORDER BY seq")
        ],
        "timers": timers(world),
        "faults": faults.all_faults(world),
        "chaos": msgspec.to_builtins(chaos.current(world)),
        "invariants": {"ok": not wrong, "broken": wrong},
    }


def float_text(world: World, owner: Account) -> dict[str, Any]:
    """The Float object of an account, amounts as decimal strings."""
    return dict(texts(ledger.float_of(world, owner)))


def account_text(owner: Account) -> dict[str, Any]:
    """An account with its settings and switches, without its keys."""
    settings = msgspec.to_builtins(owner.settings)
    return {
        "id": owner.id,
        "name": owner.name,
        "created_at": owner.created_at,
        "cards_ordered": owner.cards_ordered,
        "markup_pct": money.text(owner.markup_pct),
        **settings,
    }


def card_text(world: World, card: Card) -> dict[str, Any]:
    """A card with what the API hides: the true status and balance."""
    shown = cards.shown(world, card)
    return {
        **shown,
        "account": card.account,
        "status": card.status,
        "last4": card.last4,
        "synced": shown["status"] is not None,
        "balance_usd": money.text(card.balance_usd),
        "balance_readable": card.balance_readable,
        "closed_at": card.closed_at,
        "daily_limit": texts(card.daily_limit_usd),
        "weekly_limit": texts(card.weekly_limit_usd),
        "monthly_limit": texts(card.monthly_limit_usd),
        "three_ds_method": card.threeds,
        "details_available": card.details_available,
        "expiry_known": card.expiry_known,
        "unreadable_rows": card.unreadable_rows,
    }


def purchase_text(purchase: Purchase) -> dict[str, Any]:
    """A purchase with what the history does not show: what the card has paid, and what is in suspense."""
    names = [name for name in purchase.__dataclass_fields__ if name != "id"]
    return dict(texts({"fee_usd": purchase.fee_usd, **{name: getattr(purchase, name) for name in names}}))


def challenge_text(row: Any) -> dict[str, Any]:
    """A 3-D Secure challenge without its code."""
    return {name: row[name] for name in row.keys() if name not in ("seq", "code")}  # noqa: SIM118 - a Row is no dict


def event_text(row: Any) -> dict[str, Any]:
    """An Event record with when it is tried next; a one-time code is masked."""
    shown = dict(texts(event_log.record(row)))
    payload = journal.masked(shown["payload"])
    return {**shown, "payload": payload, "account": row["account"], "next_attempt_at": row["next_at"]}


def _deliveries(world: World) -> list[dict[str, Any]]:
    """Every attempt, oldest first: when, where to, and the status or what went wrong."""
    rows = world.store.all(
        "SELECT deliveries.*, events.type FROM deliveries JOIN events ON events.id = event_id"
        " ORDER BY deliveries.seq"
    )
    names = ("event_id", "type", "account", "number", "at", "url", "status", "problem", "hops")
    return [{name: row[name] for name in names} for row in rows]


def webhooks(world: World) -> list[dict[str, Any]]:
    """Every registered endpoint, without its secret."""
    rows = world.store.all("SELECT * FROM webhooks ORDER BY account")
    return [{name: row[name] for name in ("account", "url", "updated_at")} for row in rows]


def timers(world: World) -> list[dict[str, Any]]:
    """Every timer, the one due first at the top."""
    rows = world.store.all("SELECT due_at, kind, subject FROM timers ORDER BY due_at, seq")
    return [dict(row) for row in rows]


def _ledger(world: World) -> list[dict[str, Any]]:
    rows = world.store.all("SELECT * FROM ledger ORDER BY seq")
    return [{**ledger.entry(row), "account": row["account"]} for row in rows]


def funding_text(submission: Submission) -> dict[str, Any]:
    """A submission as the API shows it, with whose it is."""
    shown = {**submissions.shown(submission), "account": submission.account}
    return dict(texts({**shown, "verified_at": submission.verified_at}))


def _transfers(world: World) -> list[dict[str, Any]]:
    rows = world.store.all("SELECT * FROM transfers ORDER BY sent_at")
    return [{**dict(row), "payments": msgspec.json.decode(row["payments"])} for row in rows]


def keys(world: World) -> list[dict[str, Any]]:
    """Every API key by its prefix, with scopes and rate; never the key itself."""
    rows = world.store.all("SELECT * FROM api_keys ORDER BY rowid")
    return [
        {
            "prefix": row["prefix"],
            "account": row["account"],
            "scopes": row["scopes"].split(),
            "rate_limit_per_minute": row["rate_limit_per_minute"],
            "revoked": bool(row["revoked"]),
        }
        for row in rows
    ]


def keyed_text(keyed: Keyed) -> dict[str, Any]:
    """A keyed call with its state; the amount as a decimal string."""
    return dict(
        texts(
            {
                "key": keyed.key,
                "kind": keyed.kind,
                "account": keyed.account,
                "card_id": keyed.card_id,
                "amount_usd": keyed.amount_usd,
                "state": keyed.state,
                "created_at": keyed.created_at,
            }
        )
    )


def texts(value: Any) -> Any:
    """The same with every Decimal as a decimal string."""
    if isinstance(value, dict):
        return {key: texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [texts(item) for item in value]
    return money.text(value) if isinstance(value, Decimal) else value
