"""The event log and the endpoint an account has registered for it (Webhooks and events).

`events` records what happened, kept whether or not an endpoint is registered; `webhooks` is the registration.
Delivery is done elsewhere, in `background`.
"""

from __future__ import annotations

from sandbox.partner.events.webhooks import Registration

__all__ = ["Registration", "event_log", "webhook_urls", "webhooks"]
