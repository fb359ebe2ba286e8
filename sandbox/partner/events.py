"""The event log: what happened, kept whether or not a webhook is registered."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sandbox.partner import codec
from sandbox.partner.accounts import account
from sandbox.partner.calls import Call, paging
from sandbox.partner.http import Answer, bad_request, not_found
from sandbox.partner.schemas import PAYLOADS, project
from sandbox.partner.state import World, stamp_now


def emit(world: World, account_id: str, kind: str, payload: dict[str, Any]) -> str:
    """Record an event in the caller's transaction; its id. Its bytes never change afterwards.

    With an endpoint registered the first attempt is due at once, without one the event waits (U61, U66).
    """
    shown = project(PAYLOADS[kind], payload, account(world, account_id).settings.profile)
    registered = world.store.one("SELECT 1 FROM webhooks WHERE account = ?", account_id)
    event_id = world.ids.uuid("event")
    world.store.insert(
        "events",
        id=event_id,
        account=account_id,
        type=kind,
        payload=codec.encode(shown).decode(),
        created_at=stamp_now(world),
        delivered=0,
        delivered_at=None,
        attempts=0,
        next_at=stamp_now(world) if registered else None,
    )
    world.stirred.set()
    return event_id


def queue_waiting(world: World, account_id: str) -> None:
    """The first endpoint: everything that waited for one is due, oldest first (U66)."""
    world.store.run(
        "UPDATE events SET next_at = ? WHERE account = ? AND delivered = 0 AND attempts = 0",
        stamp_now(world),
        account_id,
    )
    world.stirred.set()


async def redeliver(call: Call) -> Answer:
    """POST /events/{eventId}/redeliver: the same event again, on a fresh schedule (U62)."""
    event_id = call.path["eventId"]
    row = call.world.store.one("SELECT * FROM events WHERE id = ? AND account = ?", event_id, call.account_id)
    if row is None:
        raise not_found("The event")
    registered = call.world.store.one("SELECT 1 FROM webhooks WHERE account = ?", call.account_id)
    next_at = stamp_now(call.world) if registered else None
    fresh = {"delivered": 0, "delivered_at": None, "attempts": 0, "next_at": next_at}
    call.world.store.update("events", "id", event_id, **fresh)
    call.world.stirred.set()
    return Answer.of({"event_id": event_id, "type": row["type"], "queued": True})


def record(row: Any) -> dict[str, Any]:
    """An Event record as GET /events shows it."""
    return {
        "id": row["id"],
        "type": row["type"],
        "payload": codec.decode(row["payload"].encode()),
        "delivered": bool(row["delivered"]),
        "delivered_at": row["delivered_at"],
        "attempts": row["attempts"],
        "created_at": row["created_at"],
    }


async def read_events(call: Call) -> Answer:
    """GET /events: newest first; ``since`` is inclusive."""
    page = paging.digits(call.query, default=50, most=100)
    where, values = _filter(call)
    store = call.world.store
    total = store.number("SELECT count(*) FROM events WHERE " + where, *values)  # noqa: S608 - fixed terms
    which = "SELECT * FROM events WHERE " + where  # noqa: S608 - fixed terms
    newest_first = which + " ORDER BY created_at DESC, seq DESC LIMIT ? OFFSET ?"
    rows = store.all(newest_first, *values, page.limit, page.skipped)
    zero = call.account.settings.total_past_end == "zero"
    found = paging.envelope(page, len(rows), total, zero_past_end=zero)
    return Answer.of({"events": [record(row) for row in rows], **found})


def _filter(call: Call) -> tuple[str, list[Any]]:
    where, values = ["account = ?"], [call.account_id]
    if "type" in call.query:
        where.append("type = ?")
        values.append(call.query["type"])
    if "since" in call.query:
        where.append("created_at >= ?")
        values.append(_since(call.query["since"]))
    days = call.account.settings.events_days
    if days:
        where.append("created_at >= ?")
        values.append(codec.stamp(call.world.clock.now() - timedelta(days=days)))
    return " AND ".join(where), values


def _since(text: str) -> str:
    """The stamp to compare with; a stamp cut to milliseconds must not admit an earlier event."""
    try:  # the + of an offset, unescaped, arrives as a space
        moment = datetime.fromisoformat(text.replace(" ", "+"))
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise bad_request("since is not an ISO 8601 timestamp.") from error
    if moment.microsecond % 1000:
        moment += timedelta(milliseconds=1)
    return codec.stamp(moment)
