"""The tester's hand: the calls under `/_control`, outside the API, for loopback peers only.

Amounts are decimal strings. What a call does not name keeps its value; an unknown field or value is
a 400 that names it. One table of calls, each with the form of its body.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

import msgspec

from sandbox.partner import codec, control_chain, control_spending, control_state, control_view, money
from sandbox.partner.accounts import Utc, accounts, api_keys
from sandbox.partner.background import deliveries, due_timers
from sandbox.partner.calls import Fault, Keyed, faults, idempotency, journal
from sandbox.partner.cards import cards, topups, unloads
from sandbox.partner.control_form import ControlCall, Form, Nothing, Reply, Wrong, account_named
from sandbox.partner.ledger import ledger, monthly_fees
from sandbox.partner.routes import OPERATIONS, table
from sandbox.partner.scenarios import SCENARIOS, catalogue
from sandbox.partner.state import Snapshot, World, stamp_now

Scope = Literal[
    "users:read",
    "users:write",
    "cards:read",
    "cards:write",
    "cards:pan",
    "deposits:read",
    "deposits:write",
]


_YEARS = (2000, 2199)
_SNAPSHOTS_MOST = 20


class Reset(Form):
    seed: str | None = None
    scenario: str | None = None


class ClockChange(Form):
    mode: Literal["realtime", "frozen"] | None = None
    set: Utc | None = None
    advance_seconds: Annotated[float, msgspec.Meta(ge=0, le=10**10)] | None = None


class KeyOrder(Form):
    account: str | None = None
    scopes: list[Scope] | None = None
    rate_limit_per_minute: Annotated[int, msgspec.Meta(ge=1)] = api_keys.RATE_LIMIT_PER_MINUTE
    key: str | None = None
    revoked: Literal[True] | None = None


class FloatChange(Form):
    amount_usd: Decimal
    account: str | None = None


class CardChange(Form):
    status: Literal["ACTIVE", "FROZEN", "BLOCKED", "INACTIVE", "EXPIRED"] | None = None
    balance_readable: bool | None = None
    last4: Annotated[str, msgspec.Meta(pattern="^[0-9]{4}$")] | None = None
    details_available: bool | None = None
    expiry_known: bool | None = None
    unreadable_rows: Annotated[int, msgspec.Meta(ge=0, le=10**6)] | None = None


class Resolution(Form):
    as_: Literal["credited", "refunded"] = msgspec.field(name="as")


def reset(world: World, form: Reset) -> Reply:
    if form.scenario is not None and form.scenario not in SCENARIOS:
        raise Wrong(f"scenario: {form.scenario} is not a scenario here; known: {', '.join(SCENARIOS)}")
    catalogue.empty(world, form.seed)
    return catalogue.play(world, form.scenario) if form.scenario else {"seed": world.seed}


def change_clock(world: World, form: ClockChange) -> Reply:
    by = None if form.advance_seconds is None else timedelta(seconds=form.advance_seconds)
    before = world.clock.now()
    _check_year(form.set or before, by or timedelta(0))
    world.clock.change(form.mode, form.set, by)
    if world.clock.now() < before:
        monthly_fees.start(world)
    return {"clock": codec.stamp(world.clock.now()), "mode": world.clock.mode}


def _check_year(start: datetime, by: timedelta) -> None:
    """Months are billed one by one, so the clock keeps to years that somebody might mean."""
    try:
        year = (start + by).year
    except OverflowError as error:
        raise Wrong("advance_seconds: beyond the calendar") from error
    if not _YEARS[0] <= min(start.year, year) <= max(start.year, year) <= _YEARS[1]:
        raise Wrong(f"set, advance_seconds: the clock runs from {_YEARS[0]} to {_YEARS[1]}")


def open_account(world: World, form: Nothing) -> Reply:
    number = world.store.number("SELECT count(*) FROM accounts") + 1
    return {"account": accounts.open_account(world, f"Partner {number}", None)}


def change_keys(world: World, form: KeyOrder) -> Reply:
    if form.key is not None or form.revoked is not None:
        return _revoke(world, form)
    account_id = account_named(world, form.account)
    scopes = tuple(form.scopes) if form.scopes else api_keys.SCOPES
    key = api_keys.issue_key(
        world, account_id, scopes=scopes, rate_limit_per_minute=form.rate_limit_per_minute
    )
    return {"key": key}


def _revoke(world: World, form: KeyOrder) -> Reply:
    if form.key is None or form.revoked is None:
        raise Wrong("revoked: revoking takes key and revoked: true together")
    key = api_keys.find_key(world, form.key)
    if key is None:
        raise Wrong("key: unknown")
    api_keys.revoke(world, key)
    return {"revoked": True}


def change_account(world: World, form: dict[str, Any]) -> Reply:
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
    return {"float": control_state.float_text(world, accounts.account(world, account_id))}


def change_card(world: World, form: CardChange, card_id: str) -> Reply:
    card = cards.find(world, card_id)
    if card is None:
        raise Wrong(f"id: card {card_id} is not here", 404)
    if card.closed and (form.status or form.last4 or form.balance_readable is not None):
        raise Wrong(f"id: card {card_id} is closed, and closing is final")
    changes: dict[str, Any] = {}
    if form.status is not None:
        changes |= {"status": form.status, "synced_at": min(card.synced_at, stamp_now(world))}
    if form.last4 is not None:
        changes |= {"last4": form.last4, "synced_at": min(card.synced_at, stamp_now(world))}
    if form.balance_readable is not None:
        cards.refresh_cached(world, card)
        changes["balance_readable"] = int(form.balance_readable)
    for name in ("details_available", "expiry_known", "unreadable_rows"):
        value: int | None = getattr(form, name)
        if value is not None:
            changes[name] = int(value)
    if changes:
        world.store.update("cards", "id", card_id, **changes)
    return {"card": control_state.card_text(world, cards.find(world, card_id) or card)}


def set_fault(world: World, form: Fault) -> Reply:
    operation = table.by_name(form.operation)
    if operation is None:
        known = ", ".join(operation.name for operation in OPERATIONS)
        raise Wrong(f"operation: {form.operation} is not an operation here; known: {known}")
    if form.effect == "status" and form.status is None:
        raise Wrong("status: the effect status needs one")
    if form.effect == "processor" and (form.processor is None or not operation.processor):
        raise Wrong(
            "processor: the effect processor needs an answer, and an operation that asks the processor"
        )
    if form.effect == "drop_midway" and not operation.midway:
        raise Wrong(f"effect: {operation.name} has no two commits to drop between")
    if form.effect == "delay" and form.seconds is None:
        raise Wrong("seconds: the effect delay needs them")
    return {"id": faults.add(world, form)}


def clear_faults(world: World, form: Nothing) -> Reply:
    faults.clear(world)
    return {"faults": []}


def resolve_top_up(world: World, form: Resolution, key: str) -> Reply:
    """Support settles a top-up by hand; its key then replays, or is spent (U30)."""
    keyed = _waiting(world, "topup", key)
    if form.as_ == "credited":
        _check_open(world, keyed)
        topups.credit_top_up(world, keyed)
    else:
        topups.refund_top_up(world, keyed)
    return {"key": key, "state": idempotency.by_id(world, keyed.id).state}


def resolve_unload(world: World, form: Resolution, key: str) -> Reply:
    """Support settles an unload by hand: `credited` to the float, or `refunded` to the card."""
    keyed = _waiting(world, "unload", key)
    if form.as_ == "credited":
        unloads.credit_unload(world, keyed)
    else:
        _check_open(world, keyed)
        unloads.return_unload(world, keyed)
    return {"key": key, "state": idempotency.by_id(world, keyed.id).state}


def _check_open(world: World, keyed: Keyed) -> None:
    card = cards.find(world, keyed.card_id or "")
    if card is None or card.closed:
        raise Wrong("as: the card is closed; the money can only go to the float", 409)


def _waiting(world: World, kind: Literal["topup", "unload"], key: str) -> Keyed:
    keyed = idempotency.unsettled(world, kind, key)
    if keyed is None:
        raise Wrong(f"key: no {kind} under {key}", 404)
    if keyed.state not in ("in_flight", "unresolved"):
        raise Wrong(f"key: {kind} {key} is already {keyed.state}", 409)
    return keyed


def play_scenario(world: World, form: Nothing, name: str) -> Reply:
    if name not in SCENARIOS:
        raise Wrong(f"name: {name} is not a scenario here; known: {', '.join(SCENARIOS)}", 404)
    catalogue.empty(world, None)
    return catalogue.play(world, name)


def take_snapshot(world: World, form: Nothing, name: str) -> Reply:
    """Keep everything as it is now under a name, as long as the simulator runs."""
    if len(world.snapshots) >= _SNAPSHOTS_MOST and name not in world.snapshots:
        raise Wrong(
            f"name: at most {_SNAPSHOTS_MOST} snapshots are kept; known: {', '.join(world.snapshots)}"
        )
    world.snapshots[name] = Snapshot(world.store.copy(), dict(world.bodies))
    return {"snapshot": name, "snapshots": list(world.snapshots)}


def restore_snapshot(world: World, form: Nothing, name: str) -> Reply:
    """Everything as it was: accounts, API keys, clock and seed included. A snapshot can be restored often."""
    kept = world.snapshots.get(name)
    if kept is None:
        raise Wrong(f"name: no snapshot {name}; known: {', '.join(world.snapshots) or 'none'}", 404)
    world.restore(kept)
    return {"snapshot": name, "clock": codec.stamp(world.clock.now())}


def read_state(world: World, form: Nothing) -> Reply:
    return control_state.state(world)


def read_view(world: World, form: Nothing) -> Reply:
    return {**control_view.view(world), "scenarios": list(SCENARIOS)}


def read_journal(world: World, form: Nothing) -> Reply:
    return {"requests": journal.read(world)}


CALLS: tuple[ControlCall, ...] = (
    ControlCall("GET", "state", Nothing, read_state),
    ControlCall("GET", "view", Nothing, read_view),
    ControlCall("GET", "journal", Nothing, read_journal),
    ControlCall("POST", "reset", Reset, reset),
    ControlCall("POST", "clock", ClockChange, change_clock),
    ControlCall("POST", "accounts", Nothing, open_account),
    ControlCall("POST", "keys", KeyOrder, change_keys),
    ControlCall("POST", "account", dict[str, Any], change_account),
    ControlCall("POST", "float", FloatChange, change_float),
    ControlCall("POST", "cards/{}", CardChange, change_card),
    ControlCall("POST", "faults", Fault, set_fault),
    ControlCall("DELETE", "faults", Nothing, clear_faults),
    ControlCall("POST", "topups/{}/resolve", Resolution, resolve_top_up),
    ControlCall("POST", "unloads/{}/resolve", Resolution, resolve_unload),
    *control_chain.CALLS,
    *control_spending.CALLS,
    ControlCall("POST", "snapshots/{}", Nothing, take_snapshot),
    ControlCall("POST", "snapshots/{}/restore", Nothing, restore_snapshot),
    ControlCall("POST", "scenarios/{}", Nothing, play_scenario),
)


async def handle_and_deliver(world: World, method: str, path: str, body: bytes) -> tuple[int, bytes]:
    """As `handle`; when the clock was moved, what is due has been attempted before the answer."""
    due_timers.run_due(world)
    answer = _answer(world, method, path, body)
    if path == "clock":
        await deliveries.catch_up(world)
    return answer


def handle(world: World, method: str, path: str, body: bytes) -> tuple[int, bytes]:
    """Answer a control call; `path` is what follows `/_control/`. Nothing is delivered."""
    due_timers.run_due(world)
    answer = _answer(world, method, path, body)
    due_timers.run_due(world)
    return answer


def _answer(world: World, method: str, path: str, body: bytes) -> tuple[int, bytes]:
    try:
        call, values = _find(method, path.split("/"))
        form = msgspec.convert(codec.decode(body) if body else {}, call.form)
        return 200, codec.encode(call.run(world, form, *values))
    except Wrong as error:
        return error.status, codec.encode({"error": str(error)})
    except (codec.Malformed, msgspec.ValidationError) as error:
        return 400, codec.encode({"error": str(error)})


def _find(method: str, segments: list[str]) -> tuple[ControlCall, list[str]]:
    known = False
    for call in CALLS:
        wanted = call.path.split("/")
        if len(wanted) != len(segments):
            continue
        values = [given for want, given in zip(wanted, segments, strict=True) if want == "{}"]
        if all(want in ("{}", given) for want, given in zip(wanted, segments, strict=True)):
            known = True
            if call.method == method:
                return call, values
    raise Wrong(f"{method} /_control/{'/'.join(segments)} is not a control call", 405 if known else 404)
