"""Could we? The float, fees, allowance, limits and approvals of something nobody has asked for yet.

Everything is read now: the float and the fee schedule from the API, the rest from our own records. Nothing is
recorded, and nothing follows from an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from bot import intents, operations
from bot.domain.limits import LimitUse
from bot.domain.money import format_usd
from bot.domain.people import KindPolicy, Sums
from bot.operations import Line
from bot.partner.calls import cards as card_calls
from bot.partner.endpoints import Endpoint
from bot.partner.models import Fees
from bot.services.core import Core
from bot.services.money import float_lookups
from bot.services.operators import programs
from bot.services.requests import granted_sums
from bot.view_models import FloatView, WhatIfView

_LEAST_TRANSFER = Decimal(10)  # [Funding model]
_CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class _Bound:
    """One thing that limits how many: `most` of them fit; `sentence` says so where fewer do than asked."""

    lines: tuple[Line, ...]
    most: int | None
    sentence: str


async def answer(
    core: Core, asked: intents.WhatIf, slack_id: str, *, program: str | None = None
) -> WhatIfView:
    """For this person, now. Raises PartnerError."""
    program = program or core.default_program
    money = await float_lookups.float_now(core, program=program)
    fees = await core.partners[program].fees()
    fee_usd = fees.transaction.monthly_per_card_usd if asked.orders else Decimal(0)
    async with core.store.read() as tx:
        uses = await granted_sums.limit_uses(tx, core, slack_id)
        paused = await programs.why_waits(tx, program, is_urgent=False)
        kind = next(iter(operations.asking(core.kinds, card_calls.TOP_UP)), "")
        granted_usd = await granted_sums.granted_usd(tx, core, kind, slack_id) or Decimal(0)
    bounds = [_float(core, asked, money, fee_usd, fees)]
    if asked.orders:
        bounds.append(_allowance(money))
    bounds += _limits(asked, uses, min((b.most for b in bounds if b.most is not None), default=0))
    most = min((b.most for b in bounds if b.most is not None), default=None)
    count = asked.count if asked.count is not None else most or 0
    short = [b.sentence for b in bounds if b.most is not None and b.most < count and b.sentence]
    fits = count > 0 and not short
    each_usd = (asked.amount_usd or Decimal(0)) + fee_usd
    return WhatIfView(
        asked=_in_words(asked, count),
        fits=fits,
        verdict=_verdict(asked, count, most, fits=fits),
        lines=(*(line for b in bounds for line in b.lines), *_approvals(core, asked, count, granted_usd)),
        obstacles=(*short, *([paused] if paused else [])),
        most=most,
        program=program,
        live=money.live,
        float_read_at=money.read_at,
        needed_usd=each_usd * count,
    )


def _in_words(asked: intents.WhatIf, count: int) -> str:
    cards = f"{count:,} {'card' if count == 1 else 'cards'}"
    each = f" at {format_usd(asked.amount_usd)} each" if asked.amount_usd is not None else ""
    return f"{'Order' if asked.orders else 'Top up'} {cards}{each}"


def _verdict(asked: intents.WhatIf, count: int, most: int | None, *, fits: bool) -> str:
    what = _in_words(asked, count)
    if asked.count is None:
        return f"{what}: that is the most that fits just now." if count else "Not one fits just now."
    if fits:
        return f"Yes. {what}: it fits just now."
    rest = f" {most:,} would." if most else ""
    return f"No. {what}: it does not fit just now.{rest}"


def _float(core: Core, asked: intents.WhatIf, money: FloatView, fee_usd: Decimal, fees: Fees) -> _Bound:
    """What is available, less what waits for approval, against amounts and first months' fees."""
    each_usd = (asked.amount_usd or Decimal(0)) + fee_usd
    room_usd = money.available_usd - money.pending_usd
    most = None if not each_usd else max(0, int((room_usd / each_usd).to_integral_value(ROUND_FLOOR)))
    count = asked.count if asked.count is not None else most or 0
    left_usd = room_usd - each_usd * count
    fee = f", {format_usd(fee_usd)} of each is the first month's fee" if fee_usd else ""
    held_by = f"{format_usd(money.pending_usd)} in {money.pending_count} pending"
    held = [("Held for requests", held_by)] if money.pending_usd else []
    lines = [
        ("Available", format_usd(money.available_usd)),
        *held,
        ("Needed", f"{format_usd(each_usd * count)}{fee}"),
    ]
    if left_usd < 0:
        lines.append(("Short by", format_usd(-left_usd)))
        return _Bound(tuple(lines), most, _to_fund(-left_usd, fees))
    floor_usd = core.alerting.float_alert.floor_usd
    low = f", below the floor of {format_usd(floor_usd)}" if left_usd < floor_usd else ""
    return _Bound((*lines, ("Left", f"{format_usd(left_usd)}{low}")), most, "")


def _to_fund(short_usd: Decimal, fees: Fees) -> str:
    """How much to send so that, the load fee taken off, it is enough."""
    rate = fees.load_from_float_pct
    sent_usd = (short_usd / (1 - rate)).quantize(_CENT, ROUND_CEILING) if rate < 1 else short_usd
    sent_usd = max(sent_usd, _LEAST_TRANSFER)
    return (
        f"The float is {format_usd(short_usd)} short. Send at least {format_usd(sent_usd)} (a load fee of"
        f" {rate * 100:.2f} % is deducted)."
    )


def _allowance(money: FloatView) -> _Bound:
    if money.cards_limit is None:
        return _Bound((("Card allowance", "no cap"),), None, "")
    left = max(0, money.cards_limit - money.cards_total)
    said = f"{left} of {money.cards_limit} left permanently; closed cards give nothing back"
    return _Bound(
        (("Card allowance", said),),
        left,
        f"The card allowance has {left} left. Ask your card provider for more.",
    )


def _limits(asked: intents.WhatIf, uses: Sequence[LimitUse], most: int) -> list[_Bound]:
    """The policy's rolling limits; ordering a card counts nothing towards them. `most`: how many fit without them."""
    if asked.amount_usd is None:
        return []
    found = []
    for use in uses:
        fit = use.most_of(asked.amount_usd)
        usd = asked.amount_usd * (asked.count if asked.count is not None else min(fit, most))
        found.append(_Bound(((use.label, use.used_with(usd)),), fit, use.obstacle(usd)))
    return found


def _approvals(core: Core, asked: intents.WhatIf, count: int, granted_usd: Decimal) -> list[Line]:
    """Each card alone, and all in one request, whose whole amount counts for the tiers."""
    lines: list[Line] = []
    if asked.orders:
        needed = _policy_of(core, card_calls.ORDER_CARD).approvals_needed(Decimal(0))
        lines.append(("Approvals of an order", f"{needed}, not the requester's"))
    if asked.amount_usd is not None:
        policy = _policy_of(core, card_calls.TOP_UP)
        alone, together = (
            policy.approvals_needed(
                asked.amount_usd * n, Sums(asked.amount_usd, granted_usd + asked.amount_usd * n)
            )
            for n in (1, max(count, 1))
        )
        said = f"{alone} for one" if count > 1 else f"{alone}"
        all_ = f", {together} for all {count:,} in one request" if count > 1 else ""
        lines.append(("Approvals of a top-up", f"{said}{all_}, not the requester's"))
    return lines


def _policy_of(core: Core, endpoint: Endpoint) -> KindPolicy:
    """That of the kind which asks this of the API."""
    return core.policy.of(next(iter(operations.asking(core.kinds, endpoint)), ""))
