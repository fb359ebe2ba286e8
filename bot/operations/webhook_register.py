"""Register the address at which this bot takes events [PUT /webhook]; another address makes another secret."""

from __future__ import annotations

from typing import Any

from bot.operations._base import Concern, Facts
from bot.operations._fields import Field
from bot.operations._webhook import WebhookOperation
from bot.operations.value_types import PUBLIC_URL


class RegisterWebhook(WebhookOperation):
    """Registering the address at which Countersign receives events. Source: PUT /webhook."""

    kind = "webhook_register"
    title = "Register the webhook"
    verb = "Register the webhook"
    command = ("countersign", "webhook register")
    example = "/countersign webhook register"
    help = "have your card provider deliver its events to an address (admins)"
    phrases = ("register the webhook at {url}",)
    url = Field(
        "Public URL",
        PUBLIC_URL,
        placeholder="https://countersign.example.com/webhooks/main",
        hint="Ends in /webhooks/ and the name of the program.",
    )
    place = 13

    def summary(self) -> str:
        """Names the address."""
        return f"Register {self.url} for the service's events"

    def body(self) -> dict[str, Any]:
        """`url` alone; another address gives another secret (PUT /webhook)."""
        return {"url": self.url}

    def concerns(self, facts: Facts) -> list[Concern]:
        """Nothing here stops it; warns that another address changes the secret."""
        if not facts["url"]:
            return [Concern("Events queued until now are delivered in one go: expect old ones.")]
        if facts["url"] == self.url:
            return [Concern("This address is registered already: nothing changes, and no secret is given.")]
        return [
            Concern(
                f"Events stop going to {facts['url']}, and the secret changes with the address: whatever"
                " receives them there needs it."
            )
        ]
