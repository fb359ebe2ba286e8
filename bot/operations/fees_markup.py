"""Set the partner's markup on deposits [Account, PUT /fees]. Float funding and top-ups are not touched.

People type percent; the API takes a fraction, kept at five places: 12.5 % is 0.125. It holds from the
next deposit quoted on; pending ones keep the rate they were quoted at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from bot.domain.money import format_usd, plain
from bot.operations._base import Concern, Facts, Line, Look, Operation, Sought
from bot.operations._fields import Field
from bot.operations._handling import Handling
from bot.operations.value_types import ValueType
from bot.outcomes import Evidence, Finding, Outcome, timing
from bot.partner.calls import account as account_calls
from bot.partner.client import PartnerClient

_PERCENT = re.compile(r"(0|[1-9][0-9]?)(?:\.([0-9]+))?")
_MOST_PERCENT = Decimal(50)
_HUNDRED = Decimal(100)


def percent(text: str) -> Decimal:
    """A percentage: `12.5`, `12.5%` or `12.5 %` as 12.5; 0 to 50, at most three decimals.

    Raises ValueError with the sentence for the field. The API takes a fraction of at most 0.5 with five
    decimals (Account, PUT /fees).
    """
    typed = text.strip().removesuffix("%").rstrip()
    match = _PERCENT.fullmatch(typed)
    if match is None:
        raise ValueError("Write the markup as a plain percentage from 0 to 50, for example 2.5.")
    if len(match[2] or "") > 3:
        raise ValueError("Use at most three decimals of a percent: your card provider keeps no more.")
    if Decimal(typed) > _MOST_PERCENT:
        raise ValueError("The markup may be at most 50 percent.")
    return Decimal(_short(Decimal(typed)))


def _short(number: Decimal) -> str:
    """Plain digits without trailing zeros."""
    text = plain(number)
    return text.rstrip("0").rstrip(".") if "." in text else text


PERCENT = ValueType(Decimal, percent, Decimal, _short)


class SetMarkup(Operation):
    """Setting the partner's markup on deposits, typed in percent. Source: Account, PUT /fees."""

    kind = "fees_markup"
    title = "Set the markup"
    verb = "Set the markup"
    command = ("float", "markup")
    example = "/float markup 2.5"
    help = "set your markup on deposits of end users, in percent; float and top-ups are not touched"
    phrases = ("set the markup to {markup_percent}",)
    endpoint = account_calls.SET_FEES
    markup_percent = Field(
        "Markup (%)",
        PERCENT,
        placeholder="2.5",
        hint="In percent: 2.5 means 2.5 USD of a deposit of 100 USD.",
    )
    handling = Handling(superseded_by=("fees_markup",))
    place = 12
    intent = "set_markup"
    opposite = "fees_markup"
    no_opposite = "The old markup isn't known."

    @property
    def subject(self) -> str:
        """Always `markup`: an account has one."""
        return "markup"

    @property
    def fraction(self) -> Decimal:
        """The markup as the API takes it, a fraction: 0.125 is 12.5 percent."""
        return self.markup_percent / _HUNDRED

    def summary(self) -> str:
        """Names the markup in percent."""
        return f"Set the markup on deposits to {_in_percent(self.fraction)}"

    def body(self) -> dict[str, Any]:
        """`markup_pct`, a JSON number that is a fraction from 0 to 0.5 (Account, PUT /fees)."""
        return {"markup_pct": self.fraction}

    async def read(self, partner: PartnerClient) -> Facts:
        """The markup and the deposit fee now, as fractions (GET /fees)."""
        fees = await partner.fees()
        return {
            "markup_fraction": fees.your_markup_pct,
            "deposit_fraction": fees.load_from_user_deposit_pct,
        }

    def opposite_texts(self, facts: Facts) -> Mapping[str, str]:
        """The markup that was set before, in percent."""
        before = facts.get("markup_fraction")
        return {} if before is None else {"markup_percent": _short(before * _HUNDRED)}

    def lines(self, facts: Facts) -> list[Line]:
        """The markup before and after, in percent and basis points, and the split of a deposit of 100 USD."""
        before, service = facts["markup_fraction"], facts["deposit_fraction"]
        yours, theirs = self.fraction * _HUNDRED, service * _HUNDRED
        split = f"{format_usd(yours)} yours, {format_usd(theirs)} your card provider's"
        return [
            ("Markup on deposits", f"{_in_percent(before)} → {_in_percent(self.fraction)}"),
            ("In basis points", f"{_points(before)} → {_points(self.fraction)}"),
            ("As your card provider takes it", _short(self.fraction)),
            (
                "Of a deposit of 100.00 USD",
                f"{split}, {format_usd(_HUNDRED - yours - theirs)} is credited to the card",
            ),
            ("Applies", "from the next quoted deposit on; pending ones keep their rate"),
        ]

    def concerns(self, facts: Facts) -> list[Concern]:
        """Warns below one percent, where a fraction may have been typed for a percentage."""
        found = [
            Concern(
                "This is what your users pay on deposits alone; float funding and top-ups keep their fees."
            )
        ]
        if facts["markup_fraction"] == self.fraction:
            found.insert(0, Concern("The markup is this already."))
        elif 0 < self.fraction < Decimal("0.01"):
            meant = f"less than one percent ({_points(self.fraction)} basis points)"
            found.insert(0, Concern(f"This is {meant}. The field takes percent, not a fraction."))
        return found

    async def send(self, partner: PartnerClient, key: str, body: bytes) -> Outcome:
        """Done when the answer shows this markup; otherwise UNKNOWN, and it is read again."""
        found = (await partner.set_fees(body)).your_markup_pct
        if found == self.fraction:
            return Outcome(Finding.SUCCEEDED, self._said(), {"markup_fraction": str(found)})
        return Outcome(
            Finding.UNKNOWN,
            f"Your card provider answered with a markup of {_in_percent(found)}: not confirmed. No money moves by this."
            " It is read again shortly, so do not repeat this.",
            {"markup_fraction": str(found)},
            pauses=timing.CONFIRM_PAUSES,
        )

    def _said(self) -> str:
        return (
            f"The markup on deposits is {_in_percent(self.fraction)} now. Pending deposits keep their rate."
        )

    async def look(self, partner: PartnerClient, sought: Sought) -> Look:
        """Done when GET /fees shows this markup."""
        found = (await partner.fees()).your_markup_pct
        facts = {"markup_fraction": str(found)}
        if found == self.fraction:
            return Look(Evidence.DONE, self._said(), facts)
        return Look(Evidence.ABSENT, f"The markup reads {_in_percent(found)}.", facts)


def _in_percent(fraction: Decimal) -> str:
    return f"{_short(fraction * _HUNDRED)} %"


def _points(fraction: Decimal) -> str:
    return _short(fraction * _HUNDRED * _HUNDRED)
