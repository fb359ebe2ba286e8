"""The library that receivers use takes what the relay sends, and nothing else."""

from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from bot.domain.events import secret_text
from tests.events.receiving import authorized
from tests.relay.receivers import Fleet


async def test_the_receivers_own_library_verifies_what_came_over_the_wire(fleet: Fleet) -> None:
    # The library knows no other clock than the machine's.
    fleet.world.clock.advance((datetime.now(UTC) - fleet.world.clock.now()).total_seconds())
    event_id = await fleet.happens("card.authorized", authorized())
    await fleet.deliver("ledger")
    ((headers, body),) = fleet.receivers["ledger"].got
    keys = {name: fleet.world.store.vault.derived("relay_secret", name)[0] for name in ("ledger", "crm")}

    shown = Webhook(secret_text(keys["ledger"])).verify(body, headers)

    assert shown["data"]["transaction_id"] == "tx-1"
    assert headers["webhook-id"] == event_id
    for secret, sent, changed in (
        (keys["crm"], body, headers),
        (keys["ledger"], body + b" ", headers),
        (keys["ledger"], body, {**headers, "webhook-id": "evt-other"}),
        (keys["ledger"], body, {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) + 1)}),
    ):
        with pytest.raises(WebhookVerificationError):
            Webhook(secret_text(secret)).verify(sent, changed)
