"""What an event of the service means for people: alerts, and one-time codes on their way.

Called with each event exactly once, in the transaction that marks it handled: whatever is raised here is
there if and only if the event is done.
"""

from __future__ import annotations

from bot.domain.events.purchases import Purchase
from bot.partner.models.events import CardDeclined, FloatCredited, ThreeDsChallenge
from bot.services.alerts import decline_rules, funding_rules
from bot.services.core import Core
from bot.services.events import otp_delivery
from bot.services.received_event import Heard
from storage.transaction import Tx


async def on_event(tx: Tx, core: Core, heard: Heard, purchase: Purchase | None) -> None:
    """Raise what the event calls for. `purchase` is as it stands after this event, where it is of one.

    An event of no rule raises nothing; it stays in the inbox for look-ups.
    """
    match heard.event:
        case CardDeclined() as declined:
            await decline_rules.on_decline(tx, core, heard, declined)
        case FloatCredited(data=data, created_at=created_at):
            await funding_rules.credited(tx, core, heard.program, data, created_at)
        case ThreeDsChallenge() as challenge:
            await otp_delivery.on_challenge(tx, core, heard, challenge)
