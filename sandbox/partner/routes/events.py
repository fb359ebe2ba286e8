"""GET /events and POST /events/{eventId}/redeliver (Webhooks and events)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sandbox.partner import codec
from sandbox.partner.calls import PAGED, Call, Operation, paging
from sandbox.partner.events import event_log
from sandbox.partner.http import Answer, bad_request, not_found
from sandbox.partner.schemas import moment, response_schemas, string
from sandbox.partner.state import stamp_now


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
    found = paging.envelope(page, len(rows), total, call.account.settings, zero=zero)
    return Answer.of({"events": [event_log.record(row) for row in rows], **found})


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


OPERATIONS = (
    Operation(
        "GET",
        "/events",
        "cards:read",
        read_events,
        response_schemas.EVENTS,
        query=(*PAGED, string("type", required=False), moment("since", required=False)),
        codes={400: ("BAD_REQUEST",)},
    ),
    Operation(
        "POST",
        "/events/{eventId}/redeliver",
        "users:write",
        redeliver,
        response_schemas.REDELIVERY,
        codes={404: ("NOT_FOUND",)},
    ),
)
