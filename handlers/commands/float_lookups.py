"""`/float`: the look-ups about the program's money."""

from __future__ import annotations

from bot import operations
from bot.domain.time import periods
from bot.partner.calls import account as account_calls
from bot.services.money import float_lookups, ledger_lookups
from handlers.commands.lookup import Asking, LookUp, NotUnderstood
from handlers.views import Block
from handlers.views.lookups import float_and_ledger


async def _now(asked: Asking) -> Block:
    head, period = asked.period()
    if head:
        raise NotUnderstood(periods.not_a_period(head))
    found = await float_lookups.float_now(asked.core, program=asked.program, period=period, zone=asked.zone)
    return float_and_ledger.float_answer(found)


async def _ledger(asked: Asking) -> Block:
    head, period = asked.period()
    if head:
        raise NotUnderstood(periods.not_a_period(head))
    found = await ledger_lookups.ledger(asked.core, period or asked.days_back(7), program=asked.program)
    return float_and_ledger.ledger(found, f"float ledger {found.period.named} {asked.program}", asked.page)


async def _fees(asked: Asking) -> Block:
    changing = operations.asking(asked.core.kinds, account_calls.SET_FEES)
    change = " ".join(asked.core.kinds[changing[0]].command) if changing else ""
    return float_and_ledger.fees(
        await ledger_lookups.fees(asked.core, program=asked.program), asked.program, change
    )


async def _earnings(asked: Asking) -> Block:
    return float_and_ledger.earnings(
        await ledger_lookups.earnings(asked.core, program=asked.program), asked.program
    )


LOOK_UPS = (
    LookUp(
        ("float", ""),
        _now,
        "/float [PERIOD]",
        "balance, available, runway, what pending requests will take, and its history",
        shared=True,
    ),
    LookUp(("float", "ledger"), _ledger, "/float ledger [PERIOD]", "its movements, in words", shared=True),
    LookUp(("float", "fees"), _fees, "/float fees", "what your card provider charges, and when", shared=True),
    LookUp(("float", "earnings"), _earnings, "/float earnings", "your commission", shared=True),
)
