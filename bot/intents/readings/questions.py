"""What is asked, in sentences, and how an answer would be typed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from bot.domain import cards as card_labels
from bot.intents.directory import Directory
from bot.intents.model import Ask, KnownCard, Option

MOST_OPTIONS: Final = 5

#: Action -> how a person would say it, with its slots.
_SAID: Final[Mapping[str, str]] = {
    "topup_card": "top up {card} by {amount}",
    "unload_card": "unload {amount} from {card}",
    "freeze_card": "freeze {card}",
    "unfreeze_card": "unfreeze {card}",
    "close_card": "close {card} for good",
    "set_limits": "set the limits of {card}",
    "submit_funding": "submit funding {tx_hash} on {network}",
    "set_markup": "set the markup to {amount}%",
    "change_phone": "change the phone of {card} to {phone}",
    "set_3ds": "send the 3-D Secure codes of {card} to the webhook",
    "order_card": "order a card for {name}",
}
#: Action -> the command that takes a list of cards for it.
IN_BULK: Final[Mapping[str, str]] = {"topup_card": "/card topup bulk", "freeze_card": "/card freeze bulk"}
_MISSING: Final[Mapping[str, str]] = {
    "card": "Which card? Name it by its last four digits, its reference or the holder's full name.",
    "amount": "How much, in US dollars? For example 85 or 85.50.",
    "limits": "Which limit, and how much? For example: daily 200, monthly 2000.",
    "tx_hash": "Which transaction? Paste the whole hash, 0x and 64 characters.",
    "network": "On which network was it sent?",
    "phone": "Which phone number, with its country? For example +49 151 12345678.",
    "email": "Which e-mail address?",
    "name": "Whose name goes on the card?",
    "since": "From which day? Write it like 2026-03-05.",
}
_MARKUP: Final = "Which markup, in percent? For example 0.8%."


def missing(slot: str, intent: str, networks: Sequence[str] = ()) -> Ask:
    """The question for a slot nobody has filled. Networks are a closed set and come with buttons."""
    question = (
        _MARKUP if intent == "set_markup" and slot == "amount" else _MISSING.get(slot, f"Which {slot}?")
    )
    options = tuple(Option(name, name) for name in networks) if slot == "network" else ()
    return Ask(slot, question, options)


def which_card(written: str, candidates: Sequence[KnownCard], cards: Directory) -> Ask:
    """Several cards fit: holder, last four and status of each, at most five as options."""
    more = "" if len(candidates) <= MOST_OPTIONS else f" {len(candidates)} fit; here are {MOST_OPTIONS}."
    return Ask("card", f"Which card is “{written}”?{more}", _options(candidates, cards))


def unknown_card(written: str) -> Ask:
    return Ask("card", f"No card here ends in or is called “{written}”. Which one do you mean?")


def did_you_mean(written: str, candidates: Sequence[KnownCard], cards: Directory) -> Ask:
    return Ask("card", f"There is no “{written}”. Did you mean this card?", _options(candidates, cards))


def one_card_each(intent: str, candidates: Sequence[KnownCard], cards: Directory) -> Ask:
    """Several cards were named, and text is for one at a time: chosen by a button, or which command takes a list."""
    return Ask("card", f"I do one card at a time. Which one?{_for_many(intent)}", _options(candidates, cards))


def not_all_cards(intent: str, cards: Directory) -> Ask:
    """All cards were meant: which command takes a list of them, and those of them for which it makes sense."""
    status = "FROZEN" if intent == "unfreeze_card" else "ACTIVE"
    fit = [card for card in cards if card.status == status] or list(cards)
    some = f" Here are {MOST_OPTIONS} of {len(fit)}." if len(fit) > MOST_OPTIONS else ""
    return Ask(
        "card", f"I do one card at a time.{_for_many(intent)} Which card first?{some}", _options(fit, cards)
    )


def _for_many(intent: str) -> str:
    return f" For many cards, type `{IN_BULK[intent]}`." if intent in IN_BULK else ""


def _options(candidates: Sequence[KnownCard], cards: Directory) -> tuple[Option, ...]:
    """A button a card; cards of one holder with the same last four get the reference or id."""
    alike = Counter(label(card) for card in candidates)
    made = []
    for card in candidates[:MOST_OPTIONS]:
        own = name_of(card, cards)
        made.append(Option(own, f"{label(card)}, {own}" if alike[label(card)] > 1 else label(card)))
    return tuple(made)


def label(card: KnownCard) -> str:
    status = f", {card.status.lower()}" if card.status else ""
    return f"{card_labels.label(card.holder, card.last4)}{status}"


def name_of(card: KnownCard, cards: Directory) -> str:
    """The shortest name that means this card alone: typed as an answer, it settles the question."""
    names = (card.last4, card.partner_ref, card.id, card.holder)
    alone = (name for name in names if name and all(other == card for other in cards.called(name)))
    return next(alone, card.id or card.holder)


def exactly(slot: str, doubt: str) -> Ask:
    """Asks for what is in doubt (`how much that is`); a whole sentence says itself what is wrong."""
    return Ask(slot, doubt if doubt.endswith(".") else f"Please tell me {doubt}.")


def unplaced(written: str) -> Ask:
    return Ask("text", f"What is “{written}” in this? Say it again without it, or as its own message.")


def really(intent: str, slots: Mapping[str, Any], why: str) -> Ask:
    """A request that was read, but is not a plain one: offered, never taken."""
    said = said_of(intent, slots)
    return Ask("intent", f"{why} Did you mean: {said}?", (Option(said, said[:1].upper() + said[1:]),))


def close_or_freeze(slots: Mapping[str, Any]) -> Ask:
    """A card shall be put out of use, and nothing says whether it may come back."""
    said = [said_of(intent, slots) for intent in ("freeze_card", "close_card")]
    options = tuple(Option(one, one[:1].upper() + one[1:]) for one in said)
    return Ask("intent", "Freeze it for now, or close it for good?", options)


def said_of(intent: str, slots: Mapping[str, Any]) -> str:
    """How a person would type it, so that it is read as asked for."""
    gaps = {
        "card": "a card",
        "amount": "an amount",
        "name": "somebody",
        "tx_hash": "a hash",
        "network": "a network",
    }
    words = {**gaps, "phone": "a new number", **{k: str(v) for k, v in slots.items()}}
    said = _SAID.get(intent, intent.replace("_", " "))
    if slots.get("everything"):
        words["amount"] = "everything"
    if intent == "set_limits" and slots.get("limits"):
        limits = ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in slots["limits"].items())
        return f"limits {words['card']}: {limits}"
    return said.format(**words)


def choose_first(actions: Sequence[tuple[str, Mapping[str, Any]]]) -> Ask:
    options = tuple(Option(said_of(i, s), said_of(i, s)) for i, s in actions[:MOST_OPTIONS])
    return Ask("intent", "That is several things to change. Which one first?", options)
