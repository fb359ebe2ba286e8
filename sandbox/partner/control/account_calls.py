"""Control calls on accounts: open one, its keys, its settings, its float."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

import msgspec

from sandbox.partner import money
from sandbox.partner.accounts import accounts, api_keys
from sandbox.partner.background import deliveries
from sandbox.partner.control import state_view
from sandbox.partner.control.forms import ControlCall, Form, Reply, Wrong, account_named
from sandbox.partner.ledger import ledger
from sandbox.partner.state import World

Scope = Literal[
    "users:read",
    "users:write",
    "cards:read",
    "cards:write",
    "cards:pan",
    "deposits:read",
    "deposits:write",
]


class AccountOrder(Form):
    """What the account is called; one that has this name already is given again."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=100)] | None = None


class KeyOrder(Form):
    """A new key for an account, with every scope and the usual limit unless it says otherwise.

    With `key` and `revoked` the end of one, and nothing else; with `every` another `rate_limit_per_minute` for all.
    """

    account: str | None = None
    scopes: Annotated[list[Scope], msgspec.Meta(min_length=1)] | None = None
    rate_limit_per_minute: Annotated[int, msgspec.Meta(ge=1, le=10**9)] | None = None
    key: str | None = None
    revoked: Literal[True] | None = None
    every: Literal[True] | None = None


class FloatChange(Form):
    """An amount in USD to add to the float; a negative one is taken from it."""

    amount_usd: Decimal
    account: str | None = None


def open_account(world: World, form: AccountOrder) -> Reply:
    """Open another partner account, or find the one of that name; its id."""
    known = world.store.one("SELECT id FROM accounts WHERE name = ? ORDER BY seq LIMIT 1", form.name)
    if known is not None:
        return {"account": known["id"]}
    number = world.store.number("SELECT count(*) FROM accounts") + 1
    return {"account": accounts.open_account(world, form.name or f"Partner {number}", None)}


def change_keys(world: World, form: KeyOrder) -> Reply:
    """Issue an API key, shown in full this once, revoke one, or change the limit of every key of an account."""
    account_id = account_named(world, form.account)
    if form.every is not None:
        if form.key is not None or form.revoked is not None or form.scopes is not None:
            raise Wrong("every: takes rate_limit_per_minute and account only")
        limit = form.rate_limit_per_minute
        if limit is None:
            raise Wrong("every: give rate_limit_per_minute, the new limit of every key")
        world.store.update("api_keys", "account", account_id, rate_limit_per_minute=limit)
        return {"account": account_id, "rate_limit_per_minute": limit}
    if form.key is not None or form.revoked is not None:
        return _revoke(world, form)
    key = api_keys.issue_key(
        world,
        account_id,
        scopes=tuple(form.scopes) if form.scopes else api_keys.SCOPES,
        rate_limit_per_minute=form.rate_limit_per_minute or api_keys.RATE_LIMIT_PER_MINUTE,
    )
    return {"key": key}


def _revoke(world: World, form: KeyOrder) -> Reply:
    if form.key is None or form.revoked is None:
        raise Wrong("revoked: revoking takes key and revoked: true together")
    if form.scopes is not None or form.rate_limit_per_minute is not None:
        raise Wrong("revoked: scopes and rate_limit_per_minute are for a new key; leave them out")
    key = api_keys.find_key(world, form.key)
    if key is None:
        raise Wrong("key: no such key was issued here")
    api_keys.revoke(world, key)
    return {"revoked": True}


def change_account(world: World, form: dict[str, Any]) -> Reply:
    """Change settings of an account, and switches; the settings as they are then."""
    changes = dict(form)
    account_id = account_named(world, changes.pop("account", None))
    accounts.change_settings(world, account_id, changes)
    if "suspended" in changes or "suspended_deliveries" in changes:
        deliveries.make_due_now(world)
    settings = accounts.account(world, account_id).settings
    return {"account": account_id, **msgspec.to_builtins(settings)}


def change_float(world: World, form: FloatChange) -> Reply:
    """Credit or debit the float as the operators would: settled by arrangement, without a load fee."""
    if (
        not form.amount_usd.is_finite()
        or money.decimals(form.amount_usd) > 10
        or abs(form.amount_usd) > 10**12
    ):
        raise Wrong("amount_usd: a number of at most 10 decimals, up to 10^12")
    account_id = account_named(world, form.account)
    with world.store.transaction():
        ledger.post(world, account_id, form.amount_usd, "funding", description="Settled by arrangement")
    return {"float": state_view.float_text(world, accounts.account(world, account_id))}


CALLS: tuple[ControlCall, ...] = (
    ControlCall("POST", "accounts", AccountOrder, open_account),
    ControlCall("POST", "keys", KeyOrder, change_keys),
    ControlCall("POST", "account", dict[str, Any], change_account),
    ControlCall("POST", "float", FloatChange, change_float),
)
