"""The webhook's registration as people see it: where events go, and whether we have the secret that signs them."""

from __future__ import annotations

from bot.services import people
from bot.services.core import Core
from bot.view_models import WebhookView
from storage.events import inbox, webhook_secrets


def our_url(core: Core, program: str) -> str:
    """The address at which this bot takes the events of a program; empty where it has no public one."""
    return f"{core.public_url}/webhooks/{program}" if core.public_url else ""


async def look(core: Core, slack_id: str, program: str) -> WebhookView:
    """Read live from the API, beside what is stored here. Raises PartnerError and `LookupFailed`."""
    found = await core.partners[program].webhook()
    async with core.store.read() as tx:
        secret = await webhook_secrets.newest(tx, program)
        last = await inbox.last_received(tx, program, "webhook")
    return WebhookView(
        program=program,
        url=found.url if found else None,
        updated_at=found.updated_at if found else None,
        our_url=our_url(core, program),
        signing=secret.state if secret else "none",
        secret_since=secret.since if secret else None,
        last_delivery_at=last,
        may_change=slack_id in await people.admins(core),
        live=core.is_live(program),
    )
