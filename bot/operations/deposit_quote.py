"""Ask for a quote of a deposit: an address at which an end user pays a card in crypto [POST /deposits].

The document does not show the body of this call, so it is off until `[deposits]` in countersign.toml says how
the agreement names its fields. No money moves: the card, not the float, is credited when a transfer confirms.
Each call makes another quote, so after a lost answer the list of deposits is read instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from bot.domain.errors import Stale
from bot.domain.money import format_usd
from bot.operations._base import Concern, Facts, InWords, Line, Look, Operation, Sought
from bot.operations._card_switch import CARD
from bot.operations._facts import card_facts, closed
from bot.operations._fields import Field
from bot.operations._handling import Handling
from bot.operations._whose import only_ours
from bot.operations.value_types import USD, ValueType
from bot.outcomes import Evidence, Finding, Outcome
from bot.partner.calls import deposits as deposit_calls
from bot.partner.client import PartnerClient
from bot.partner.models import Deposit, DepositQuote

_WORD = re.compile(r"[A-Z0-9][A-Z0-9-]{1,29}")
_SCOPE = "deposits:write"
_OFF = (
    "Deposits are not set up here. Your card provider's document does not show the body of this call: name its fields"
    " under [deposits] in countersign.toml, as your agreement has them, and start the bot again."
)


def _word(text: str) -> str:
    word = text.strip().upper()
    if not _WORD.fullmatch(word):
        raise ValueError("Write one word of letters, digits and dashes, for example USDC or POLYGON.")
    return word


WORD = ValueType(str, _word, str)


class QuoteDeposit(Operation):
    """Asking for an address at which an end user pays a card in crypto. Source: Deposits, POST /deposits.

    `body_names` maps our fields to those of the call; empty = off. `bot.app` sets it by `configured`.
    """

    body_names: ClassVar[Mapping[str, str]] = {}

    kind = "deposit_quote"
    title = "Quote a deposit"
    verb = "Quote"
    command = ("funding", "deposit")
    example = "/funding deposit 50 4242"
    help = "get an address at which an end user pays a card in crypto, where your agreement has deposits"
    phrases = ("quote a deposit of {amount_usd} for {card}",)
    endpoint = deposit_calls.QUOTE_DEPOSIT
    amount_usd = Field("Amount (USD)", USD, placeholder="50.00", hint="What the user pays.", one_word=True)
    card = CARD
    asset = Field("Token", WORD, placeholder="USDC")
    chain = Field("Network", WORD, placeholder="POLYGON")
    handling = Handling(repeats=False)
    in_words: ClassVar[InWords] = {
        (404, "NOT_FOUND"): (
            "Your card provider does not know this card, or has no deposits for this account.",
            "",
        ),
    }
    place = 16

    @classmethod
    def configured(cls, body_names: Mapping[str, str]) -> type[QuoteDeposit]:
        """The kind with the fields that the agreement's body has. `body_names` is our field name to theirs."""
        fields = tuple(field for field in cls.fields if field.name in body_names)
        return type(cls.__name__, (cls,), {"body_names": dict(body_names), "fields": fields})

    @classmethod
    def is_set_up(cls) -> bool:
        """The agreement's names of the fields are in countersign.toml."""
        return bool(cls.body_names)

    def summary(self) -> str:
        """Names the amount in USD, the card, and the token and network where the agreement has them."""
        named = [self.values[name] for name in ("asset", "chain") if name in self.values]
        how = f" in {' on '.join(named)}" if named else ""
        return f"Quote a deposit of {format_usd(self.amount_usd)}{how} for {self.target_label}"

    def body(self) -> dict[str, Any]:
        """The values under the agreement's names. Raises Stale when deposits are not set up."""
        if not self.body_names:
            raise Stale(f"{_OFF} Nothing was recorded.")
        return {theirs: self.values[ours] for ours, theirs in self.body_names.items()}

    async def read(self, partner: PartnerClient) -> Facts:
        """The card, the deposit fee and the markup as fractions (0.02 = 2 percent), and whether the key may quote."""
        fees, me = await partner.fees(), await partner.me()
        return {
            **await card_facts(partner, self.card),
            "deposit_fraction": fees.load_from_user_deposit_pct,
            "markup_fraction": fees.your_markup_pct,
            "may_quote": _SCOPE in me.key.scopes,
        }

    def lines(self, facts: Facts) -> list[Line]:
        """What the user pays, the fees by today's rates and about what the card gets, in USD."""
        service = self.amount_usd * facts["deposit_fraction"]
        yours = self.amount_usd * facts["markup_fraction"]
        return [
            ("The user pays", format_usd(self.amount_usd)),
            (
                "Of it",
                f"{format_usd(service)} for your card provider, {format_usd(yours)} your markup, by today's rates",
            ),
            (
                "Credited to the card",
                f"about {format_usd(self.amount_usd - service - yours)}; the quote says",
            ),
            ("Float", "not touched"),
        ]

    def concerns(self, facts: Facts) -> list[Concern]:
        """Stops when deposits are not set up, the key lacks deposits:write, or the card is closed."""
        found = closed(facts)
        if not self.body_names:
            found.append(Concern(_OFF, stops=True))
        elif not facts["may_quote"]:
            text = f"The API key lacks the scope {_SCOPE}. An admin asks your card provider to grant it."
            found.append(Concern(text, stops=True))
        return [
            *found,
            Concern("A quote isn't money: the card is credited when the user's transfer confirms."),
        ]

    async def send(self, partner: PartnerClient, key: str, body: bytes) -> Outcome:
        """Gets the quote; one for another card is UNRESOLVED."""
        quote = await partner.quote_deposit(body)
        if quote.card_id != self.card:
            return Outcome(
                Finding.UNRESOLVED,
                "Your card provider quoted for another card than was approved. Give the address to nobody and do not"
                " repeat this.",
                {"deposit_id": quote.deposit_id, "card_id": quote.card_id},
                alarm="The answer to a deposit quote names another card.",
            )
        gets = "" if quote.card_credit_usd is None else f" The card gets {format_usd(quote.card_credit_usd)}."
        text = _said(quote, quote.send_amount, exact=quote.exact_amount_required)
        return Outcome(Finding.SUCCEEDED, f"{text}{gets}", {"deposit_id": quote.deposit_id})

    @classmethod
    def effect(cls, facts: Facts) -> str:
        """The id of the deposit that was quoted."""
        return facts.get("deposit_id") or ""

    async def look(self, partner: PartnerClient, sought: Sought) -> Look:
        """Done when the list of deposits has one of this card from that time that can only be ours (GET /deposits).

        How that list is paged is not shown, so one that is not in it may have been made all the same.
        """
        listed = await partner.deposits()
        fitting = {
            deposit.id: deposit
            for deposit in listed
            if deposit.card_id == self.card and sought.may_have_made(deposit.created_at)
        }
        deposit, why_not = only_ours(fitting, await sought.others())
        if deposit is not None:
            text = _said(deposit, deposit.amount_expected, exact=True)
            return Look(Evidence.DONE, text, {"deposit_id": deposit.id})
        text = "Your card provider lists no quote for this card of that time that can only be of this request"
        why = f": {why_not}" if why_not else ", which does not prove that none was made"
        return Look(Evidence.UNPROVEN, f"{text}{why}. No money moves by a quote.", {})


def _said(quote: DepositQuote | Deposit, amount: str, *, exact: bool) -> str:
    """What the user has to do; the amount as the card provider wrote it, to the digit."""
    digit = ", to the digit" if exact else ""
    return (
        f"The user sends {amount} {quote.asset}{digit}, on {quote.chain} to {quote.deposit_address}, before"
        f" {quote.expires_at:%Y-%m-%d %H:%M} UTC. Nothing moved yet."
    )
