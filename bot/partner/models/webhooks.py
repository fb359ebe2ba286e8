"""The webhook registration and the event log."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from bot.partner.models.base import Answer, Count, Known, SecretText, Utc

CHALLENGE = "card.3ds_challenge"
"""The event that holds a one-time code: it is relayed to nobody, and its code is kept nowhere."""
EVENT_TYPES = (
    "card.authorized", "card.transaction", "card.declined", "card.unloaded", "card.status_changed",
    CHALLENGE, "float.credited",
)  # fmt: skip


class Webhook(Answer):
    """Where events go. `updated_at` moves on every PUT, even one that changes nothing."""

    url: str
    active: bool
    updated_at: Utc


class WebhookAddress(Answer):
    """The address as the card provider wrote it down; it decides by this form whether a later one differs."""

    url: str


class WebhookChange(Answer):
    """What PUT /webhook did. A `secret` is given once and can never be read again, only replaced.

    No secret: the address was registered already and the stored secret goes on [PUT /webhook].
    """

    hidden = frozenset({"secret"})

    webhook: WebhookAddress
    secret: SecretText | None
    note: str | None = None


class Event(Answer):
    """A row of the event log. `payload` may hold a one-time code: cut it before anything is stored."""

    id: str
    type: Annotated[str, Known(EVENT_TYPES)]
    payload: Mapping[str, Any] = Field(repr=False)
    delivered: bool
    delivered_at: Utc | None = None
    attempts: Count
    created_at: Utc


class Redelivery(Answer):
    """An event queued again under its own id, its attempts back at zero."""

    event_id: str
    type: Annotated[str, Known(EVENT_TYPES)]
    queued: bool
