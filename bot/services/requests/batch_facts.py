"""What is read of the API for a batch: the account once, and for each row only what can stop it."""

from __future__ import annotations

from typing import Any

from bot.domain.requests.lifecycle import Request
from bot.operations._base import Facts, Operation
from bot.services.core import Core

_ORDER = "card_order"


async def account(core: Core, program: str, cls: type[Operation]) -> dict[str, Any]:
    """What the account says now that bears on a batch of this kind; nothing for a freeze. Raises PartnerError."""
    partner = core.partners[program]
    if cls.kind == "card_freeze":
        return {}
    me = await partner.me()
    facts: dict[str, Any] = {
        "float_available_usd": str(me.float.available_usd),
        "allowance_left": None if me.cards.limit is None else me.cards.limit - me.cards.total,
    }
    if cls.kind == _ORDER:
        facts["monthly_fee_usd"] = str((await partner.fees()).transaction.monthly_per_card_usd)
    return facts


async def of_row(core: Core, row: Request, operation: Operation) -> Facts:
    """A row's facts just before it is sent. Raises PartnerError.

    An order by itself looks for its twins among all cards; that was told of the whole batch when it was
    asked for, and a list of every card for each row would use up the rate limit.
    """
    if operation.kind == _ORDER:
        return {**await account(core, row.program, type(operation)), "twins": []}
    return await operation.read(core.partners[row.program])
