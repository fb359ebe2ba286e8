"""Control calls on cards, and support's hand on top-ups and unloads without an outcome."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from sandbox.partner.calls import Keyed, idempotency
from sandbox.partner.cards import cards, topups, unloads
from sandbox.partner.control import state_view
from sandbox.partner.control.forms import ControlCall, Form, Reply, Wrong
from sandbox.partner.state import World, stamp_now


class CardChange(Form):
    """What to change on a card as the processor would; what is left out stays. Nobody knows UNDER_OBSERVATION."""

    status: Literal["ACTIVE", "FROZEN", "BLOCKED", "INACTIVE", "EXPIRED", "UNDER_OBSERVATION"] | None = None
    balance_readable: bool | None = None
    last4: Annotated[str, msgspec.Meta(pattern="^[0-9]{4}$")] | None = None
    details_available: bool | None = None
    expiry_known: bool | None = None
    unreadable_rows: Annotated[int, msgspec.Meta(ge=0, le=10**6)] | None = None


class Resolution(Form):
    """How support ends a call without an outcome."""

    as_: Literal["credited", "refunded"] = msgspec.field(name="as")


def change_card(world: World, form: CardChange, card_id: str) -> Reply:
    """Change a card as the processor or the operators would; the card as it is then."""
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
    return {"card": state_view.card_text(world, cards.find(world, card_id) or card)}


def resolve_top_up(world: World, form: Resolution, key: str) -> Reply:
    """Support settles a top-up by hand; its key then replays, or is spent."""
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


CALLS: tuple[ControlCall, ...] = (
    ControlCall("POST", "cards/{}", CardChange, change_card),
    ControlCall("POST", "topups/{}/resolve", Resolution, resolve_top_up),
    ControlCall("POST", "unloads/{}/resolve", Resolution, resolve_unload),
)
