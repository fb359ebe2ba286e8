"""Who may do what, in words: for each thing that can be done, the rules in the order in which they are said.

Written from the docs (docs/approvals.md), not from the code. The first rule that fits refuses with its sentence; where
none does, it is done. A door without a rule of its own (a command that does not exist) lets nobody through.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.authorization.cast import Person

#: What somebody reads who is no full member, whatever they do.
OUTSIDE = {
    "guest": "Guests cannot use Countersign",
    "single-channel guest": "Guests cannot use Countersign",
    "stranger": "People of other workspaces cannot use Countersign",
    "other workspace": "People of other workspaces cannot use Countersign",
    "bot": "Bots and workflows cannot use Countersign",
    "workflow": "Bots and workflows cannot use Countersign",
    "deactivated": "This Slack account is deactivated",
    "unknown to Slack": "Slack does not know this account, so it cannot use Countersign",
}
FOR_ADMINS = ("card_3ds", "webhook_register", "webhook_rotate")


@dataclass(frozen=True)
class Cell:
    """One person at one door."""

    person: Person
    asker: Person
    state: str = "pending"
    kind: str = "card_topup"
    approved_by: tuple[str, ...] = ()
    at_once: bool = False  # it was done at the requester's word: Freeze now

    @property
    def is_own(self) -> bool:
        return self.person == self.asker

    @property
    def is_same_person(self) -> bool:
        """The other account of the one who asked."""
        who = {"asks": "asks", "away": "away"}
        return self.person.tie.partition(",")[0] == who.get(self.asker.tie) and not self.is_own

    @property
    def is_linked(self) -> bool:
        """By a delegation: the one who is away, with any account, and the two who decide in her place."""
        seat = ("away", "delegate")
        return self.person.tie.partition(",")[0] in seat and self.asker.tie in seat and not self.is_own


Rule = tuple[str, Callable[[Cell], bool]]

_OUTSIDE: list[Rule] = [
    (sentence, lambda c, kind=kind: c.person.membership == kind)  # type: ignore[misc]
    for kind, sentence in OUTSIDE.items()
]
_SECOND: list[Rule] = [
    ("You requested this, so somebody else has to decide", lambda c: c.is_own),
    ("You have been an approver for less than 24 hours", lambda c: c.person.tie == "new"),
    ("Only @card-approvers may decide on this", lambda c: not c.person.decides),
    ("You requested this with another account of yours", lambda c: c.is_same_person),
    ("You and the requester are linked by a delegation", lambda c: c.is_linked),
]
_APPROVER: list[Rule] = [
    ("You have been an approver for less than 24 hours", lambda c: c.person.tie == "new"),
    ("Only @card-approvers may decide on this", lambda c: not c.person.decides),
]
_NOT_PENDING: Rule = ("already", lambda c: c.state not in ("pending", "late"))
_SENT_OR_OVER: Rule = ("already", lambda c: c.state not in ("pending", "late", "approved"))

RULES: dict[str, Sequence[Rule]] = {
    "approve": (
        *_OUTSIDE,
        *_SECOND,
        ("Your approval is in already", lambda c: c.person.id in c.approved_by),
        _NOT_PENDING,
        ("has expired. Nothing was sent", lambda c: c.state == "late"),
        (
            "The person who asked may not request this any more",
            lambda c: c.kind in FOR_ADMINS and c.asker.role != "admin",
        ),
    ),
    "open reject": (
        *_OUTSIDE,
        ("You requested this: cancel it instead of rejecting it", lambda c: c.is_own),
        _SENT_OR_OVER,
    ),
    "reject": (
        *_OUTSIDE,
        ("You requested this: cancel it instead of rejecting it", lambda c: c.is_own),
        _SENT_OR_OVER,
        *_APPROVER,
    ),
    "open cancel": (*_OUTSIDE, ("Only the person who asked can cancel", lambda c: not c.is_own)),
    "cancel": (
        *_OUTSIDE,
        ("Only the person who asked can cancel", lambda c: not c.is_own),
        ("can no longer be cancelled", lambda c: c.state not in ("pending", "late", "approved")),
    ),
    "confirm": (
        *_OUTSIDE,
        ("has nothing to confirm", lambda c: not c.at_once),
        *_SECOND,
        ("nothing to confirm", lambda c: c.state != "succeeded"),
    ),
    "open resolve": _OUTSIDE,
    "resolve": (
        *_OUTSIDE,
        ("there is nothing to resolve", lambda c: c.state != "unresolved"),
        *((sentence, lambda c, fits=fits: not c.is_own and fits(c)) for sentence, fits in _APPROVER),
    ),
    "try now": (
        *_OUTSIDE,
        *((sentence, lambda c, fits=fits: not c.is_own and fits(c)) for sentence, fits in _APPROVER),
        ("there is nothing to try now", lambda c: True),
    ),
    "show": _OUTSIDE,
    "ask": (
        *_OUTSIDE,
        (
            "Only admins can request this: @card-admins",
            lambda c: c.kind in FOR_ADMINS and c.person.role != "admin",
        ),
    ),
    "pause": (
        *_OUTSIDE,
        (
            "Only @card-approvers, @card-admins may pause and resume",
            lambda c: not (c.person.decides or c.person.role == "admin"),
        ),
    ),
}


def refused_with(deed: str, cell: Cell) -> str | None:
    """The sentence of the first rule that fits; None where it is done."""
    return next((sentence for sentence, fits in RULES[deed] if fits(cell)), None)
