"""Replace the secret that signs the card provider's deliveries [PUT /webhook with rotate]."""

from __future__ import annotations

from typing import Any

from bot.domain.alerts import Remedy
from bot.domain.errors import Stale
from bot.operations._base import Concern, Facts
from bot.operations._fields import learned
from bot.operations._webhook import WebhookOperation
from bot.operations.value_types import PUBLIC_URL, PublicUrl


class RotateWebhook(WebhookOperation):
    """Replacing the secret that signs deliveries. Source: PUT /webhook with `rotate`.

    The address is no field: it is the registered one, fixed when the preview reads it.
    """

    kind = "webhook_rotate"
    remedy = Remedy.ROTATE_WEBHOOK_SECRET
    title = "Rotate the secret"
    verb = "Rotate the secret"
    command = ("countersign", "webhook rotate")
    example = "/countersign webhook rotate"
    help = "replace the secret that signs your card provider's events (admins)"
    phrases = ("rotate the webhook secret",)
    url = learned(PUBLIC_URL)
    place = 14

    def learned(self, facts: Facts) -> dict[str, Any]:
        """`url`, the registered address; nothing where none is registered."""
        return {"url": PublicUrl(facts["url"])} if facts["url"] else {}

    def summary(self) -> str:
        """Names the address whose secret is replaced."""
        return f"Rotate the webhook secret of {self.url or 'an address that is not registered'}"

    def body(self) -> dict[str, Any]:
        """The same `url` with `rotate` true. Raises Stale when no address is registered."""
        if self.url is None:
            raise Stale("No address is registered, so there is no secret to rotate. Nothing was recorded.")
        return {"url": self.url, "rotate": True}

    def concerns(self, facts: Facts) -> list[Concern]:
        """Stops when no address is registered, or another one than was approved."""
        if not facts["url"]:
            text = "No address is registered, so there is no secret to rotate: register one first."
            return [Concern(text, stops=True)]
        if self.url not in (None, facts["url"]):
            text = f"The registered address is {facts['url']} now, and rotating would put the old one back."
            return [Concern(text, stops=True)]
        return [Concern("Other systems that verify with the old secret refuse deliveries from then on.")]
