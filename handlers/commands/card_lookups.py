"""`/card`: the look-ups about cards."""

from __future__ import annotations

from collections.abc import Callable

from bot.domain.errors import InvalidInput, NotFound
from bot.domain.events import PurchaseFilter, purchase_filter
from bot.domain.money import InvalidAmount
from bot.domain.time import periods
from bot.operations import Buttons
from bot.services.cards import card_choice, card_lookups, card_requests, purchases, spend
from bot.services.core import Core
from bot.view_models import CardView
from handlers.commands import request_lookups
from handlers.commands.lookup import Asking, LookUp
from handlers.views import Block
from handlers.views.lookups import Button, cards, request_lists
from handlers.views.lookups import spend as spend_view

# As people write it -> the card's status.
_STATUSES = {"ACTIVE": "ACTIVE", "FROZEN": "FROZEN", "BLOCKED": "BLOCKED", "CLOSED": "DELETED"}
_MOST_UNDER_THE_DOTS = 5  # all that Slack takes there


async def _list(asked: Asking) -> Block:
    words = asked.rest.upper().split()
    numbers = [word for word in words if word.isascii() and word.isdigit() and len(word) < 6]
    unknown = [word.lower() for word in words if word not in (*_STATUSES, *numbers, "PAGE")]
    if unknown:
        raise NotFound(
            f"“{unknown[0][:40]}” isn't a filter of this list. Write /card list, or /card list with active, frozen,"
            f" blocked or closed. To find one card, write /card show {unknown[0][:40]}."
        )
    status = next((s for s in _STATUSES if s in words), None)
    page = next(map(int, numbers), asked.page)
    again = " ".join(filter(None, ("card list", (status or "").lower())))
    found = await card_lookups.card_list(
        asked.core, status=_STATUSES[status] if status else None, page=page, beside=asked.beside
    )
    return cards.card_list(found, again)


async def _show(asked: Asking) -> Block:
    if not asked.command.rest:
        raise NotFound(
            "Name the card by its last four digits, a name, a reference or its id: /card show CARD."
        )
    found = await card_lookups.card_now(asked.core, asked.command.rest, zone=asked.zone)
    buttons, more = _next_steps(asked.core, found)
    return cards.card_answer(found, buttons, more)


def _next_steps(core: Core, card: CardView) -> tuple[list[Button], list[Button]]:
    """Operations on this card as buttons that open their form: first what its status asks for."""
    if card.status == "DELETED":
        return [], []
    first = _buttons(core, lambda buttons: buttons.first_on.get(card.status or "", 0), card)
    return first, _buttons(core, lambda buttons: buttons.more, card)[:_MOST_UNDER_THE_DOTS]


def _buttons(core: Core, place: Callable[[Buttons], int], card: CardView) -> list[Button]:
    found = sorted(
        (cls for cls in core.kinds.values() if place(cls.buttons)), key=lambda cls: place(cls.buttons)
    )
    return [(cls.verb, f"{' '.join(cls.command)} {card.id}") for cls in found]


async def _transactions(asked: Asking) -> Block:
    # A card says its program itself, so no word at the end is taken for one.
    head, period = asked.period(asked.command.rest)
    card, only = _filtered(head)
    if not card:
        raise NotFound(
            "Name the card by its last four digits, a name, a reference or its id: /card tx CARD 7d."
        )
    if period is None:
        named = await card_choice.named_first(asked.core, card)
        if wrong := card.removeprefix(named).strip():
            raise NotFound(periods.not_a_period(wrong))
    found = await purchases.transactions(asked.core, card, period or asked.days_back(30), only)
    again = " ".join(filter(None, ("card tx", found.card_id, only.typed, found.period.named)))
    return cards.statement(found, again, asked.page)


def _filtered(text: str) -> tuple[str, PurchaseFilter]:
    """The card, and which of its purchases: `3018 at Shell above 200 declined`. Raises InvalidInput."""
    try:
        return purchase_filter.split(text)
    except InvalidAmount as wrong:
        raise InvalidInput("amount", str(wrong)) from None


async def _declines(asked: Asking) -> Block:
    head, period = asked.period()
    if head:
        raise NotFound(periods.not_a_period(head))
    found = await purchases.declined(asked.core, period or asked.days_back(1), program=asked.program)
    return cards.declines(found, asked.zone)


async def _spend(asked: Asking) -> Block:
    head, period = asked.period()
    card, only = _filtered(head)
    word, _, named = card.partition(" ")
    if card and word.lower() != "on":
        raise NotFound(
            f"“{head[:40]}” isn't a period. Write /card spend last month, or 7d, or 2026-03-01..2026-03-07; before it"
            " may stand on CARD, at MERCHANT, or above AMOUNT."
        )
    wanted = period or asked.period("this month")[1] or asked.days_back(30)
    return spend_view.spend(
        await spend.of_those(asked.core, wanted, program=asked.program, card=named.strip(), only=only)
    )


async def _requests(asked: Asking) -> Block:
    """The requests about one card, the newest in full."""
    head, period = asked.period(asked.command.rest)
    card, _, last = head.rpartition(" ")
    kind = request_lookups.kind_called(last.lower(), asked.core.kinds) if card else ""
    card = card if kind else head
    if not card:
        raise NotFound(
            "Name the card by its last four digits, a name, a reference or its id: /card requests CARD."
        )
    found = await card_requests.of_card(
        asked.core, card, kind=kind, period=period, page=asked.page, beside=asked.beside
    )
    named = (last if kind else "", period.named if period else "")
    again = " ".join(filter(None, ("card requests", found.card_id, *named)))
    return request_lists.of_card(found, again, asked.zone)


LOOK_UPS = (
    LookUp(
        ("card", "list"),
        _list,
        "/card list [active|frozen|blocked|closed]",
        "the cards, with balances",
        shared=True,
    ),
    LookUp(
        ("card", "show"),
        _show,
        "/card show CARD",
        "one card: its status and why, balance, last purchases, declines, requests",
        shared=True,
    ),
    LookUp(
        ("card", "tx"),
        _transactions,
        "/card tx CARD [at MERCHANT] [above AMOUNT] [PERIOD]",
        "what was bought with it",
        shared=True,
    ),
    LookUp(
        ("card", "spend"),
        _spend,
        "/card spend [on CARD] [at MERCHANT] [PERIOD]",
        "what was spent, by card and merchant; this month where none is named",
        shared=True,
    ),
    LookUp(
        ("card", "requests"),
        _requests,
        "/card requests CARD [KIND] [PERIOD]",
        "the requests about a card, the newest with its decisions",
        shared=True,
    ),
    LookUp(
        ("card", "declines"),
        _declines,
        "/card declines [PERIOD]",
        "declined purchases by cause, with the next step",
        shared=True,
    ),
)
