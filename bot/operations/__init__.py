"""Every operation kind, found by looking: one file in this package is one kind."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from bot.operations import value_types
from bot.operations._base import Buttons, Concern, Facts, Line, Look, Operation, Others, Sought
from bot.operations._facts import loaded_facts, stored_facts
from bot.operations._fields import Field
from bot.operations._handling import DELIVERED_WITHIN, Urgency
from bot.operations.card_reveal import odd_status
from bot.operations.deposit_quote import QuoteDeposit
from bot.operations.funding_words import facts_of as funding_facts
from bot.operations.funding_words import reason_in_words, stage_of
from bot.operations.readers import REASON_LIMIT, read_reason, refuse_card_number
from bot.partner.endpoints import Endpoint

__all__ = [
    "DELIVERED_WITHIN",
    "REASON_LIMIT",
    "Buttons",
    "Concern",
    "Facts",
    "Field",
    "Line",
    "Look",
    "Operation",
    "Others",
    "QuoteDeposit",
    "Sought",
    "Urgency",
    "after_approval",
    "asking",
    "funding_facts",
    "kinds",
    "leaving",
    "listed",
    "loaded_facts",
    "moves_money",
    "odd_status",
    "read_reason",
    "readers",
    "reason_in_words",
    "refuse_card_number",
    "run_now_label",
    "stage_of",
    "stored_facts",
    "urgency",
    "value_types",
]


def _subclasses(cls: type[Operation]) -> Iterator[type[Operation]]:
    for child in cls.__subclasses__():
        yield child
        yield from _subclasses(child)


def kinds() -> Mapping[str, type[Operation]]:
    """Every operation kind: kind name to its class, in the order of the names.

    Imports each module of this package once; a class counts when it sets `kind` in a file of its own here.
    """
    modules = {f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)}
    for name in sorted(modules):
        importlib.import_module(name)
    root: Any = Operation  # mypy takes an abstract class for no class
    of_files = (cls for cls in _subclasses(root) if cls.__module__ in modules)
    found = {cls.kind: cls for cls in of_files if "kind" in cls.__dict__}
    return dict(sorted(found.items()))


@cache
def moves_money(kind: str) -> bool:
    """Can money move by a request of this kind? True also for one that this version does not know."""
    cls = kinds().get(kind)
    return cls is None or cls.moves_money


@cache
def run_now_label(kind: str) -> str:
    """What people call it that a request of this kind was sent without waiting for an approval: "Freeze now"."""
    cls = kinds().get(kind)
    return (cls.handling.run_now if cls else "") or "At once"


def listed(kinds: Mapping[str, type[Operation]]) -> tuple[str, ...]:
    """The names of these kinds in the order in which people are shown them: by `place`, then by name."""
    return tuple(sorted(kinds, key=lambda kind: (kinds[kind].place, kind)))


def asking(kinds: Mapping[str, type[Operation]], endpoint: Endpoint) -> tuple[str, ...]:
    """The names of the kinds that make this call of the API, in the order of `kinds`."""
    return tuple(kind for kind, cls in kinds.items() if cls.endpoint is endpoint)


def leaving(kinds: Mapping[str, type[Operation]], *statuses: str) -> tuple[str, ...]:
    """The names of the kinds that leave their card in one of these card statuses, such as "FROZEN"."""
    return tuple(kind for kind, cls in kinds.items() if cls.leaves_card in statuses)
