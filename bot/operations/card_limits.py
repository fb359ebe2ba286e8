"""Set what a card may spend in a day, a week or a month [Cards, PUT limits].

A limit that is set can be replaced and never removed. The answer is what the processor reads back, and
GET limits shows it again, so a lost answer is found by reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from itertools import combinations
from typing import Any

from bot.domain.alerts import Remedy
from bot.domain.errors import InvalidFields
from bot.domain.money import format_usd
from bot.operations._base import Buttons, Concern, Facts, Line, Look, Operation, Sought
from bot.operations._card_switch import CARD
from bot.operations._facts import card_facts, closed
from bot.operations._fields import Field, optional
from bot.operations._handling import Handling
from bot.operations.value_types import USD
from bot.outcomes import Evidence, Finding, Outcome, timing
from bot.partner.calls import cards as card_calls
from bot.partner.client import PartnerClient
from bot.partner.models import Limits

PERIODS = (
    ("daily_limit", "Daily limit"),
    ("weekly_limit", "Weekly limit"),
    ("monthly_limit", "Monthly limit"),
)


class SetLimits(Operation):
    """Setting a card's daily, weekly and monthly limit, each in USD. Source: Cards, PUT limits."""

    kind = "card_limits"
    title = "Set a card's limits"
    verb = "Set the limits"
    command = ("card", "limits")
    example = "/card limits 4242"
    help = "set what a card may spend in a day, a week or a month; a limit can be changed, never removed"
    phrases = (
        "set the daily limit of {card} to {daily_limit}",
        "set the weekly limit of {card} to {weekly_limit}",
        "set the monthly limit of {card} to {monthly_limit}",
    )
    endpoint = card_calls.SET_LIMITS
    remedy = Remedy.RAISE_CARD_LIMITS
    card = CARD
    daily_limit = optional(Field("Daily limit (USD)", USD, placeholder="500.00"))
    weekly_limit = optional(Field("Weekly limit (USD)", USD, placeholder="500.00"))
    monthly_limit = optional(Field("Monthly limit (USD)", USD, placeholder="500.00"))
    handling = Handling(superseded_by=("card_limits",))
    place = 7
    intent = "set_limits"
    opposite = "card_limits"
    no_opposite = "The old limits aren't known, or none was set: a limit can be changed and never removed."
    buttons = Buttons(more=2)

    @classmethod
    def parse(cls, texts: Mapping[str, str]) -> dict[str, Any]:
        """At least one limit has to be given; an empty field keeps what is set. Raises InvalidFields."""
        errors: dict[str, str] = {}
        values: dict[str, Any] = {}
        try:
            values = super().parse(texts)
        except InvalidFields as found:
            errors.update(found.errors)
        if not any((texts.get(name) or "").strip() for name, _ in PERIODS):
            errors["daily_limit"] = "Give at least one limit. An empty field keeps what is set."
        if errors:
            raise InvalidFields(errors)
        return values

    @property
    def wanted(self) -> dict[str, Decimal]:
        """The limits to set: field of the API to the limit in USD. Limits that were left empty are not in it."""
        limits = {
            "daily_limit": self.daily_limit,
            "weekly_limit": self.weekly_limit,
            "monthly_limit": self.monthly_limit,
        }
        return {name: usd for name, usd in limits.items() if usd is not None}

    @property
    def settings(self) -> frozenset[str]:
        """The limits that are given: the API keeps the others as they are."""
        return frozenset(self.wanted)

    def summary(self) -> str:
        """Names the card and every limit that is set, in USD."""
        return f"Set the limits of {self.target_label}: {self._in_words()}"

    def _in_words(self) -> str:
        return ", ".join(
            f"{label.lower()} {format_usd(self.wanted[name])}"
            for name, label in PERIODS
            if name in self.wanted
        )

    def body(self) -> dict[str, Any]:
        """The limits that were given, as numbers in USD; one that is left out keeps its value."""
        return dict(self.wanted)

    async def read(self, partner: PartnerClient) -> Facts:
        """The three limits and the single-purchase limit in USD, None = not set; and the card."""
        found = await partner.limits(self.card)
        single = found.per_transaction_limit_usd
        return {**await card_facts(partner, self.card), **_limits(found), "single_usd": single}

    def lines(self, facts: Facts) -> list[Line]:
        """Each limit before and after in USD, and the single-purchase limit that always holds."""
        lines = []
        for name, label in PERIODS:
            before = "not set" if facts[name] is None else format_usd(facts[name])
            after = (
                f"{before} → {format_usd(self.wanted[name])}" if name in self.wanted else f"{before}, kept"
            )
            lines.append((label, after))
        single = format_usd(facts["single_usd"])
        return [*lines, ("One purchase", f"at most {single}, whatever the limits are")]

    def opposite_texts(self, facts: Facts) -> Mapping[str, str]:
        """The limits that were set before, in USD; one that was not set stays as it is now."""
        before = {name: facts.get(name) for name in self.wanted}
        known = {name: f"{usd:.2f}" for name, usd in before.items() if usd is not None}
        return {"card": self.card, **known} if known else {}

    def concerns(self, facts: Facts) -> list[Concern]:
        """Stops for a closed card; warns that limits can't be removed, and of a longer one below a shorter."""
        found = closed(facts)
        if all(facts[name] is not None and facts[name] == usd for name, usd in self.wanted.items()):
            found.append(Concern("These limits are set already."))
        if any(facts[name] is None for name in self.wanted):
            found.append(Concern("A limit can be changed later and never removed. To stop spending, freeze."))
        after = {name: self.wanted.get(name, facts[name]) for name, _ in PERIODS}
        for (shorter, short_label), (longer, long_label) in combinations(PERIODS, 2):
            short_usd, long_usd = after[shorter], after[longer]
            if short_usd is not None and long_usd is not None and short_usd > long_usd:
                text = f"The {long_label.lower()} is below the {short_label.lower()} and decides alone."
                found.append(Concern(text))
        return found

    async def send(self, partner: PartnerClient, key: str, body: bytes) -> Outcome:
        """Done when the answer shows the limits as read back; otherwise UNKNOWN, and they are read again."""
        found = await partner.set_limits(self.card, body)
        if self._as_wanted(found):
            return Outcome(Finding.SUCCEEDED, self._said(), _texts(found))
        return Outcome(
            Finding.UNKNOWN,
            "Your card provider took the change, but the card does not show it yet: not confirmed. No money moves by"
            " this. It is read again shortly, so do not repeat this.",
            _texts(found),
            pauses=timing.CONFIRM_PAUSES,
        )

    def _as_wanted(self, found: Limits) -> bool:
        return all(getattr(found, name) == usd for name, usd in self.wanted.items())

    def _said(self) -> str:
        return f"{self.target_label} now has the {self._in_words()}, as read back from the processor."

    async def look(self, partner: PartnerClient, sought: Sought) -> Look:
        """Done when GET limits shows every limit that was requested."""
        found = await partner.limits(self.card)
        if self._as_wanted(found):
            return Look(Evidence.DONE, self._said(), _texts(found))
        return Look(Evidence.ABSENT, "The card's limits are not the requested ones.", _texts(found))


def _limits(found: Limits) -> dict[str, Decimal | None]:
    return {name: getattr(found, name) for name, _ in PERIODS}


def _texts(found: Limits) -> dict[str, str | None]:
    """The same as they are kept with an outcome."""
    return {name: None if usd is None else str(usd) for name, usd in _limits(found).items()}
