"""Partner accounts: opened, read, and their settings changed."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

import msgspec

from sandbox.partner import money
from sandbox.partner.accounts.settings import Settings
from sandbox.partner.state import World

OPENED_AT = "2024-01-01T00:00:00.000Z"  # long before any transfer a test is likely to script


@dataclass(frozen=True)
class Account:
    """A partner as of now; read again after anything that may change it."""

    id: str
    name: str | None
    contact_email: str | None
    created_at: str
    settings: Settings
    funded_usd: Decimal
    spent_usd: Decimal
    markup_pct: Decimal
    accrued_usd: Decimal
    paid_out_usd: Decimal
    last_payout_at: str | None
    cards_ordered: int
    open_cards: int
    ledger_rows: int
    ledger_last_at: str
    ledger_in_order: bool
    net_topups_usd: Decimal

    @property
    def balance_usd(self) -> Decimal:
        """What is on the float, in USD: funded less spent; negative after a reversal (Float)."""
        return money.add(self.funded_usd, -self.spent_usd)


def open_account(world: World, name: str, contact_email: str | None) -> str:
    """Open an account with everything at its default; its id."""
    number = world.store.count("account")
    account_id = world.ids.uuid(f"account:{number}")
    world.store.insert(
        "accounts",
        id=account_id,
        seq=number,
        name=name,
        contact_email=contact_email,
        created_at=OPENED_AT,
        **_fresh(),
    )
    return account_id


def _fresh() -> dict[str, Any]:
    return {
        "settings": _dump(Settings()),
        "funded_usd": "0",
        "spent_usd": "0",
        "markup_pct": "0",
        "accrued_usd": "0",
        "paid_out_usd": "0",
        "last_payout_at": None,
        "cards_ordered": 0,
        "open_cards": 0,
        "ledger_rows": 0,
        "ledger_last_at": "",
        "ledger_in_order": 1,
        "net_topups_usd": "0",
    }


def reset_all(world: World) -> None:
    """Every account back to the empty start; accounts and their keys stay."""
    for row in world.store.all("SELECT id FROM accounts"):
        world.store.update("accounts", "id", row["id"], **_fresh())


def first_account(world: World) -> str:
    """The account that control calls mean when they name none."""
    row = world.store.one("SELECT id FROM accounts ORDER BY seq LIMIT 1")
    if row is None:
        raise LookupError("the simulator has no account")
    return str(row["id"])


def account(world: World, account_id: str) -> Account:
    """Raises KeyError for an unknown id."""
    row = world.store.one("SELECT * FROM accounts WHERE id = ?", account_id)
    if row is None:
        raise KeyError(account_id)
    return _of(tuple(row.keys()), tuple(row))


@lru_cache(maxsize=64)
def _of(names: tuple[str, ...], stored: tuple[Any, ...]) -> Account:
    """Asked for several times in each call, and changed by few of them."""
    values = dict(zip(names, stored, strict=True))
    del values["seq"]
    for name in ("funded_usd", "spent_usd", "markup_pct", "accrued_usd", "paid_out_usd", "net_topups_usd"):
        values[name] = Decimal(values[name])
    values["ledger_in_order"] = bool(values["ledger_in_order"])
    return Account(**{**values, "settings": _settings(values["settings"])})


def all_accounts(world: World) -> list[Account]:
    """Every account, in the order in which they were opened."""
    return [account(world, row["id"]) for row in world.store.all("SELECT id FROM accounts ORDER BY seq")]


def change_settings(world: World, account_id: str, changes: dict[str, Any]) -> Settings:
    """Apply named changes; raises msgspec.ValidationError naming an unknown field or value."""
    current = msgspec.to_builtins(account(world, account_id).settings)
    settings = msgspec.convert({**current, **changes}, Settings)
    world.store.update("accounts", "id", account_id, settings=_dump(settings))
    return settings


@lru_cache(maxsize=64)
def _settings(text: str) -> Settings:
    """Asked for several times in each call, and changed seldom."""
    return msgspec.json.decode(text, type=Settings)


def _dump(settings: Settings) -> str:
    return msgspec.json.encode(settings).decode()
