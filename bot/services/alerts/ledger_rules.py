"""The ledger must add up to the float [Ledger entry]. Where it does not, somebody has to ask why."""

from __future__ import annotations

from decimal import Decimal

from bot.domain.alerts import float_alerts
from bot.domain.money import exact_sum, format_usd
from bot.partner.ratelimit import Lane
from bot.services.alerts import lifecycle as alerts
from bot.services.core import Core
from storage.cards import api_snapshots

_KEPT = "ledger_watch"


async def compare(core: Core, program: str) -> None:
    """Read both. A difference seen twice, the float standing still around each, is told. Raises PartnerError."""
    partner = core.partners[program]
    before = (await partner.me(lane=Lane.BACKGROUND)).float.balance_usd
    total = exact_sum([entry.amount_usd async for entry in partner.ledger_entries(lane=Lane.BACKGROUND)])
    after = (await partner.me(lane=Lane.BACKGROUND)).float.balance_usd
    if before != after:
        return  # money moved meanwhile: the next reading tells
    async with core.store.begin() as tx:
        kept = await api_snapshots.get(tx, program, _KEPT)
        differs = after - total
        await api_snapshots.put(tx, program, _KEPT, {"differs_usd": str(differs)})
        if not differs:
            await alerts.resolve(tx, core, float_alerts.LEDGER_DIFFERS.condition(program))
        elif kept is not None and Decimal(kept.value["differs_usd"]) == differs:
            said = float_alerts.LEDGER_DIFFERS.says(
                program=program,
                difference=format_usd(differs),
                total=format_usd(total),
                balance=format_usd(after),
            )
            condition = float_alerts.LEDGER_DIFFERS.condition(program)
            await alerts.keep(
                tx, core, said, condition=condition, subject=program, facts={"program": program}
            )
