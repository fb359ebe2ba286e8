"""Idempotency keys: one key has at most one effect, whatever is sent again under it.

A keyed call goes through these states, each in its own commit:

- `in_flight`: claimed (for a top-up: the float is debited); also what a crash leaves behind;
- `done`: completed, replays its answer;
- `refunded`: rejected after the float was debited and given back; the key is spent;
- `unresolved`: the processor's outcome is unknown; only support's hand ends it;
- `spent`: refused without an effect, where a switch says that a refusal spends the key.

A call without a key runs under one of its own (`auto-<uuid>`, U24) that nobody can send again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, Literal

from sandbox.partner import codec, money
from sandbox.partner.calls.call import Call
from sandbox.partner.http import Lost, Request, Wire, bad_request, conflict
from sandbox.partner.state import World, stamp_now

Kind = Literal["create", "topup", "unload", "close"]
State = Literal["in_flight", "done", "refunded", "unresolved", "spent"]
_KEY = re.compile("[A-Za-z0-9_-]{1,128}")

IN_FLIGHT = "A call with this Idempotency-Key is in flight or its outcome is not recorded."
REFUNDED = "The call with this Idempotency-Key was rejected and the amount was returned; use a new key."
OTHER_USE = "This Idempotency-Key belongs to another call."


@dataclass(frozen=True)
class Keyed:
    """One keyed call as stored. `answer` is the first answer's data, once there is one."""

    id: int
    account: str
    kind: Kind
    key: str
    card_id: str | None
    amount_usd: Decimal | None
    state: State
    answer: dict[str, Any] | None
    created_at: str


def key_of(request: Request) -> str | None:
    """The checked Idempotency-Key, or None; 400 for an empty, repeated or malformed header (U23)."""
    given = request.header("Idempotency-Key")
    if not given:
        return None
    if len(given) > 1 or not _KEY.fullmatch(given[0]):
        raise bad_request("Idempotency-Key must be 1 to 128 letters, digits, hyphens or underscores.")
    return given[0]


def find(call: Call, kind: Kind, key: str | None) -> Keyed | None:
    """The call stored under a key; 409 when, by the switch, the key belongs to another kind."""
    if key is None:
        return None
    _retire_old(call)
    rows = call.world.store.all(
        "SELECT * FROM keyed WHERE account = ? AND key = ? AND given = 1 AND retired = 0",
        call.account_id,
        key,
    )
    for row in rows:
        if row["kind"] == kind:
            return of_row(row)
    if rows and call.account.settings.key_scope == "account":
        raise conflict(OTHER_USE)
    return None


def _retire_old(call: Call) -> None:
    days = call.account.settings.key_days
    if days:
        before = codec.stamp(call.world.clock.now() - timedelta(days=days))
        call.world.store.run(
            "UPDATE keyed SET retired = 1 WHERE account = ? AND created_at < ?", call.account_id, before
        )


def claim(
    call: Call,
    kind: Kind,
    key: str | None,
    *,
    card_id: str | None = None,
    amount_usd: Decimal | None = None,
    state: State = "in_flight",
) -> Keyed:
    """Store the call as begun, in the caller's transaction."""
    return claim_for(
        call.world, call.account_id, kind, key, card_id=card_id, amount_usd=amount_usd, state=state
    )


def claim_for(
    world: World,
    account_id: str,
    kind: Kind,
    key: str | None,
    *,
    card_id: str | None = None,
    amount_usd: Decimal | None = None,
    state: State = "in_flight",
) -> Keyed:
    """As `claim`, without a call: how a scenario brings about what a call would have."""
    name = key or f"auto-{world.ids.uuid('auto_key')}"
    number = world.store.insert(
        "keyed",
        account=account_id,
        kind=kind,
        key=name,
        card_id=card_id,
        amount_usd=None if amount_usd is None else money.text(amount_usd),
        state=state,
        created_at=stamp_now(world),
        given=int(key is not None),
    )
    return by_id(world, number)


def settle(world: World, keyed: Keyed, state: State, answer: dict[str, Any] | None = None) -> None:
    """Record the outcome, in the caller's transaction."""
    written = None if answer is None else codec.encode(answer).decode()
    world.store.update("keyed", "id", keyed.id, state=state, answer=written)


def release(world: World, keyed: Keyed) -> None:
    """Forget the claim: the same key may be sent again and starts afresh (POST /cards, 502)."""
    world.store.run("DELETE FROM keyed WHERE id = ?", keyed.id)


def by_id(world: World, number: int) -> Keyed:
    """The keyed call with this row number; KeyError when there is none."""
    row = world.store.one("SELECT * FROM keyed WHERE id = ?", number)
    if row is None:
        raise KeyError(number)
    return of_row(row)


def after_waiting(world: World, keyed: Keyed) -> Keyed:
    """The call again after a wait, in which support may have settled it.

    Raises Lost when a reset has emptied the simulator meanwhile: there is nobody left to answer.
    """
    row = world.store.one("SELECT * FROM keyed WHERE id = ?", keyed.id)
    if row is None or (row["key"], row["created_at"]) != (keyed.key, keyed.created_at):
        raise Lost(Wire.DROP)
    return of_row(row)


def unsettled(world: World, kind: Kind, key: str) -> Keyed | None:
    """A call that waits for support's hand, by its key, whoever's it is."""
    row = world.store.one(
        "SELECT * FROM keyed WHERE kind = ? AND key = ? AND retired = 0 ORDER BY id DESC LIMIT 1", kind, key
    )
    return of_row(row) if row else None


def all_keyed(world: World) -> list[Keyed]:
    """Every keyed call of every account, oldest first."""
    return [of_row(row) for row in world.store.all("SELECT * FROM keyed ORDER BY id")]


def of_row(row: Any) -> Keyed:
    """A keyed call as its row holds it."""
    return Keyed(
        row["id"],
        row["account"],
        row["kind"],
        row["key"],
        row["card_id"],
        None if row["amount_usd"] is None else Decimal(row["amount_usd"]),
        row["state"],
        codec.decode(row["answer"].encode()) if row["answer"] else None,
        row["created_at"],
    )
