"""`/float`: the look-ups about the program's money."""

from __future__ import annotations

from bot.services import lookups
from handlers.looking import Asking, LookUp, NotUnderstood
from handlers.views import money_views
from handlers.views.blocks import Block


async def _now(asked: Asking) -> Block:
    head, period = asked.period()
    if head:
        raise NotUnderstood
    found = await lookups.float_now(asked.core, program=asked.program, period=period, zone=asked.zone)
    return money_views.float_answer(found)


async def _ledger(asked: Asking) -> Block:
    head, period = asked.period()
    if head:
        raise NotUnderstood
    found = await lookups.ledger(asked.core, period or asked.days_back(7), program=asked.program)
    return money_views.ledger(found, f"float ledger {found.period.named} {asked.program}", asked.page)


async def _fees(asked: Asking) -> Block:
    kind = asked.core.kinds.get("fees_markup")
    change = " ".join(kind.command) if kind else ""
    return money_views.fees(await lookups.fees(asked.core, program=asked.program), asked.program, change)


async def _earnings(asked: Asking) -> Block:
    return money_views.earnings(await lookups.earnings(asked.core, program=asked.program), asked.program)


LOOK_UPS = (
    LookUp(
        ("float", ""),
        _now,
        "/float [PERIOD]",
        "balance, available, runway, what pending requests will take, and its course",
        shared=True,
    ),
    LookUp(("float", "ledger"), _ledger, "/float ledger [PERIOD]", "its movements, in words", shared=True),
    LookUp(("float", "fees"), _fees, "/float fees", "what the service charges, and when", shared=True),
    LookUp(("float", "earnings"), _earnings, "/float earnings", "your commission", shared=True),
)
