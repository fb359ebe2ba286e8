"""Sentences that are understood, to show where one was not. Shown, never offered as a button."""

from __future__ import annotations

from collections.abc import Mapping

from rapidfuzz import fuzz, process

from bot.intents import ACTIONS
from bot.operations._base import Operation

SHOWN = 3

# Intent -> a sentence that is read as it.
SENTENCES: Mapping[str, str] = {
    "float_status": "what's our float now",
    "card_list": "list the cards on hold",
    "card_show": "tell me about 3018",
    "card_balance": "balance of Nora's card",
    "card_transactions": "purchases on 2675 this week",
    "decline_explain": "why does 3018 get refused",
    "funding_list": "fundings in review",
    "funding_addresses": "funding address on BNB",
    "fees_show": "show the fee schedule",
    "ledger_show": "ledger of the past two weeks",
    "pending_approvals": "which requests need my decision",
    "alerts_show": "open alerts please",
    "order_card": "order a card for Hugo Okonkwo",
    "topup_card": "load 85 onto 9140",
    "unload_card": "take 20 off 9140",
    "freeze_card": "freeze card 3018",
    "unfreeze_card": "unfreeze card 3018",
    "set_limits": "weekly limit 900 for card 3018",
}


def nearest(text: str, kinds: Mapping[str, type[Operation]]) -> tuple[str, ...]:
    """The sentences nearest to a text, of look-ups and of the wishes in `kinds`."""
    sayable = [
        sentence
        for intent, sentence in SENTENCES.items()
        if intent not in ACTIONS or ACTIONS[intent] in kinds
    ]
    found = process.extract(text[:500], sayable, scorer=fuzz.token_set_ratio, limit=SHOWN)
    return tuple(sentence for sentence, _, _ in found)
