"""The webhook registration, the event log and redelivery: GET /webhook to POST redeliver."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import overload

from bot.partner import answers, endpoints, models, shapes
from bot.partner.answers import NO_ANSWER
from bot.partner.calls import Calls, as_model, body_of, change, member, pages
from bot.partner.endpoints import Endpoint
from bot.partner.ratelimit import Lane
from bot.partner.shapes import Sent
from bot.partner.wire import Outgoing

WEBHOOK = Endpoint(
    "GET /webhook",
    "Webhooks and events",
    endpoints.RECORD,
    answers.READ,
    shapes.holding(webhook=replace(shapes.shape_of(models.Webhook), nullable=True)),
)
# A 400 may also be a save that failed; either way the registration is as it was. Never repeated by the
# client: the answer may have held the only copy of a secret, and the repeat would not bring it again, or
# would make yet another.
SET_WEBHOOK = Endpoint(
    "PUT /webhook",
    "Webhooks and events",
    endpoints.CHANGE,
    answers.RECORD_CHANGE,
    shapes.shape_of(models.WebhookChange),
    Sent(body={"url": "string", "rotate": "boolean"}),
)
EVENTS = Endpoint(
    "GET /events",
    "Webhooks and events",
    endpoints.RECORD,
    answers.READ,
    shapes.holding(events=shapes.rows_of(models.Event), **shapes.PAGED),
    Sent(query=("type", "since", "limit", "page")),
)
# The event keeps its id, and whoever receives it twice knows it by that.
REDELIVER = Endpoint(
    "POST /events/{eventId}/redeliver",
    "Webhooks and events",
    endpoints.CHANGE,
    {
        **answers.RECORD_CHANGE,
        (500, "UNAVAILABLE"): answers.OPEN_AND_HARMLESS,
        **answers.pages(answers.OPEN_AND_HARMLESS, 500, 502, 503),
        NO_ANSWER: answers.OPEN_AND_HARMLESS,
    },
    shapes.shape_of(models.Redelivery),
)


class EventCalls(Calls):
    """How the account is notified of what happens on its cards."""

    async def webhook(self, *, lane: Lane = Lane.PEOPLE) -> models.Webhook | None:
        """Where events go; None before the first registration. The secret is never among it."""
        out = Outgoing(WEBHOOK)
        received = await self._call(out, lane)
        if isinstance(received.data, dict) and received.data.get("webhook", ...) is None:
            return None
        return as_model(models.Webhook, member(received.data, "webhook"), received, out)

    @overload
    async def set_webhook(self, body: bytes, *, lane: Lane = Lane.MONEY) -> models.WebhookChange: ...

    @overload
    async def set_webhook(
        self, *, url: str, rotate: bool = False, lane: Lane = Lane.MONEY
    ) -> models.WebhookChange: ...

    async def set_webhook(
        self,
        body: bytes | None = None,
        *,
        url: str | None = None,
        rotate: bool | None = None,
        lane: Lane = Lane.MONEY,
    ) -> models.WebhookChange:
        """Register an address, or replace the secret with `"rotate":true`.

        Store the secret of the answer before anything else: it is given this once. After a lost answer
        the only copy may be gone; no repeat brings it back, only another rotation makes a new one.
        """
        return await self._read(
            models.WebhookChange,
            change(SET_WEBHOOK, body=body_of(SET_WEBHOOK, body, url=url, rotate=rotate)),
            lane,
        )

    async def events(
        self, *, event_type: str | None = None, since: datetime | None = None, lane: Lane = Lane.BACKGROUND
    ) -> AsyncIterator[models.Event]:
        """The event log, newest first, each event once, delivered or not; `since` is inclusive."""
        query = {"limit": str(pages.PAGE)}
        if event_type is not None:
            query["type"] = event_type
        if since is not None:
            query["since"] = since.astimezone(UTC).isoformat().replace("+00:00", "Z")

        async def fetch(number: int) -> pages.Page[models.Event]:
            out = Outgoing(EVENTS, query={**query, "page": str(number)})
            return await self._read_page(models.Event, out, "events", lane)

        async for event in pages.by_page(fetch, lambda event: event.id):
            yield event

    async def redeliver(self, event_id: str, *, lane: Lane = Lane.PEOPLE) -> models.Redelivery:
        """Have an event delivered again under its own id, with a fresh schedule of attempts."""
        return await self._read(models.Redelivery, change(REDELIVER, event_id), lane)
