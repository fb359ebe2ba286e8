"""Words after `/requests` as a search: states, kinds, a person, a period, in any order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.domain.requests.lifecycle import OPEN, State
from bot.domain.time.periods import Period
from bot.operations._base import Operation
from handlers.commands.grammar import mentioned

_GROUPS: Mapping[str, frozenset[State]] = {
    "all": frozenset(),
    "open": OPEN,
    "decided": frozenset(State) - OPEN,
}
_JOINING = frozenset({"by", "from", "of", "and", "requests"})


@dataclass(frozen=True, slots=True)
class Filter:
    """What was asked for. `person` is a Slack id, or `@name` as typed; empty is anybody."""

    states: frozenset[State] = frozenset()
    kinds: tuple[str, ...] = ()
    person: str = ""
    named: tuple[str, ...] = field(default=())

    def in_words(self, period: Period | None) -> str:
        """What was searched for, for the answer."""
        when = period.in_words() if period else "of any time"
        return f"{' '.join(self.named) or 'all'}, {when}"


def read(head: str, asker: str, kinds: Mapping[str, type[Operation]]) -> Filter | None:
    """The filter; None where a word is none that is known."""
    states: set[State] = set()
    found_kinds: list[str] = []
    person = ""
    named = head.split()
    for word in named:
        lower = word.lower().rstrip(",")
        kind = _kind(lower, kinds)
        if lower in _GROUPS:
            states |= _GROUPS[lower]
        elif lower in set(State):
            states.add(State(lower))
        elif lower == "mine":
            person = asker
        elif kind:
            found_kinds.append(kind)
        elif mentioned(word):
            person = mentioned(word)
        elif word.startswith("@") and len(word) > 1:
            person = word
        elif lower not in _JOINING:
            return None
    return Filter(frozenset(states), tuple(found_kinds), person, tuple(named))


def _kind(word: str, kinds: Mapping[str, type[Operation]]) -> str:
    """`topup`, `top-up` or `card_topup`; a word that two kinds share is none of them."""
    plain = word.replace("-", "").replace("topups", "topup")
    fits = [k.kind for k in kinds.values() if word == k.kind or plain == k.command[1]]
    return fits[0] if len(fits) == 1 else ""
