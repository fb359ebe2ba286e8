"""What may have been meant, as buttons in words: "Top up Jonas Weber ••5589 by 40.00 USD".

A press runs the look-up, or opens the form with what the message gave. Nothing is offered that this Countersign or
this person cannot do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from bot.domain.money import InvalidAmount, format_usd, parse_usd
from bot.intents import Reading, Suggestion
from bot.services.conversation import forms

#: What a press answers at once -> what its button says; {card} is one card, or "a card" where none was named.
#: Of the last two the answer is one more button, and nothing is cancelled or paused before that is pressed.
LOOKS: Final[Mapping[str, str]] = {
    "float_status": "Float and days of cover",
    "card_list": "List of cards",
    "card_show": "Show {card}",
    "card_balance": "Balance of {card}",
    "card_transactions": "Purchases of {card}",
    "spend_show": "What was spent",
    "decline_explain": "Why {card} was declined",
    "funding_list": "Fundings",
    "funding_show": "One funding",
    "funding_addresses": "Funding addresses",
    "fees_show": "Fees and markup",
    "ledger_show": "Movements of the float",
    "pending_approvals": "Requests that wait",
    "request_show": "Show {request}",
    "card_requests": "Requests about {card}",
    "alerts_show": "Open alerts",
    "help": "What I can do",
    "undo": "Undo {request}",
    "pause_sending": "Pause sending",
}
_NEEDED: Final = {"funding_show": ("tx_hash",), "request_show": ("request",)}


def offered(
    suggestions: Sequence[Suggestion], kinds: forms.Kinds, *, may_ask: bool, may_pause: bool
) -> list[Reading]:
    """Those that can be done here and by this person, as the readings that a press goes on with."""
    found = []
    allowed = {"undo": may_ask, "pause_sending": may_pause}
    for one in suggestions:
        reading = one.reading
        if not allowed.get(one.intent, True):
            continue
        if forms.kind_of(one.intent, kinds) is not None:
            if may_ask:
                found.append(replace(reading, notes=(_FILLED,) if reading.slots else ()))
        elif one.intent in LOOKS and all(one.slots.get(slot) for slot in _NEEDED.get(one.intent, ())):
            found.append(reading)
    return found


def is_look(reading: Reading) -> bool:
    """Whether a press answers, rather than opening a form."""
    return reading.intent in LOOKS


def label(reading: Reading, kinds: forms.Kinds) -> str:
    """What the button says."""
    card = forms.label(reading.card) if reading.card is not None else "a card"
    if is_look(reading):
        request = str(reading.slots.get("request") or "last").replace("last", "my last request")
        return LOOKS[reading.intent].format(card=card, request=request)
    cls = forms.kind_wanted(reading, kinds)
    if any(field.card for field in cls.fields):
        return f"{cls.verb}: {card}{_by(reading)}"
    return f"{cls.verb}{_about(reading)}"


def _by(reading: Reading) -> str:
    amount = reading.slots.get("amount")
    if amount is None:
        return ""
    try:
        return f" by {format_usd(parse_usd(str(amount)))}"
    except InvalidAmount:
        return ""


def _about(reading: Reading) -> str:
    said = reading.slots.get("name") or reading.slots.get("network") or ""
    percent = (
        f"{reading.slots['amount']} %" if reading.intent == "set_markup" and "amount" in reading.slots else ""
    )
    return f": {said or percent}" if said or percent else ""


_FILLED: Final = "What is filled in is from your message. Check each field before you submit."
