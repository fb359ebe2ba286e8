"""A plan and its steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Step:
    """One thing that happens. `number` names it for ever, also in a plan of which others were left out."""

    number: int
    wait: float
    what: str
    given: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.number}: {self.what} {self.given}"


@dataclass(frozen=True)
class Plan:
    """The steps of one seed, and what holds for all of them."""

    seed: int
    steps: tuple[Step, ...]
    scopes_missing: tuple[str, ...] = ()
    settings: dict[str, Any] | None = None  # of the account at the API
    replicas: int = 1
    jobs: frozenset[str] = frozenset()  # timers that matter to it
    relays: bool = False  # another system gets copies of events
    passkeys: bool = False  # the policy asks for them
    cool_off_s: int = 0  # so long after its last approval a request is sent at the earliest
    bursts: tuple[str, ...] = ()  # the situations that were drawn for it, by name

    def only(self, numbers: frozenset[int]) -> Plan:
        """The same with these steps alone."""
        kept = tuple(step for step in self.steps if step.number in numbers)
        return replace(self, steps=kept)
