"""The ledger must add up to the float [Ledger entry]. Where it does not, somebody has to ask why."""

from __future__ import annotations

from decimal import Decimal

from bot.domain.money.amounts import exact_sum, format_usd
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
            await alerts.resolve(tx, core, f"ledger:{program}")
        elif kept is not None and Decimal(kept.value["differs_usd"]) == differs:
            await alerts.keep(
                tx,
                core,
                dedupe=f"ledger:{program}",
                kind="ledger_differs",
                subject=program,
                severity="critical",
                title=f"Ledger and float of {program} differ by {format_usd(differs)}",
                text=f"The rows of the ledger add up to {format_usd(total)}, the float says {format_usd(after)}."
                " Seen twice while nothing moved. Nothing is stopped; compare the newest rows with the requests"
                " here and ask the service.",
                facts={"program": program},
            )
