"""Everybody there is: each role with each kind of membership, and who is tied to whom.

The facts stand here as Slack would say them; what follows from them is in `rules.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.authorization.slack_at_hand import HOME

#: Kind of membership -> what Slack's user object says of it.
MEMBERSHIPS: dict[str, dict[str, Any]] = {
    "full member": {},
    "guest": {"is_restricted": True},
    "single-channel guest": {"is_restricted": True, "is_ultra_restricted": True},
    "stranger": {"is_stranger": True, "team_id": "T0OTHER"},
    "other workspace": {"team_id": "T0OTHER"},
    "bot": {"is_bot": True},
    "workflow": {"is_workflow_bot": True},
    "deactivated": {"deleted": True},
    "unknown to Slack": {},
}
ROLES = ("member", "approver", "admin")


@dataclass(frozen=True)
class Person:
    """Somebody. `tie`: what else there is to say of them, empty for most."""

    id: str
    role: str
    membership: str = "full member"
    tie: str = ""

    @property
    def is_full(self) -> bool:
        return self.membership == "full member"

    @property
    def decides(self) -> bool:
        """Approvers who count now: those of the group who have been in it for long enough, and delegates of one."""
        return (self.role == "approver" and self.tie != "new") or self.tie == "delegate"

    @property
    def says(self) -> str:
        return f"{self.tie or self.role}, {self.membership}"


def _id(*words: str) -> str:
    return "U0" + "".join(words).upper().replace(" ", "").replace("-", "")


MATRIX = tuple(
    Person(_id(role, kind), role, kind)
    for role in ROLES
    for kind in MEMBERSHIPS
    if role == "member" or kind != "unknown to Slack"  # whom Slack does not know is in none of its groups
)
ALICE = Person("U0ALICE", "member", tie="asks")
ANN = Person("U0ANN", "approver", tie="away")
DAN = Person("U0DAN", "member", tie="delegate")
TIED = (
    ALICE,
    ANN,
    DAN,
    Person("U0EVE", "member", tie="delegate"),
    Person("U0FAY", "member", tie="delegate before"),
    Person("U0GUS", "member", tie="delegate later"),
    Person("U0ALICETWO", "approver", tie="asks, other account by the file"),
    Person("U0ALICEMAIL", "approver", tie="asks, other account by mailbox"),
    Person("U0ANNTWO", "approver", tie="away, other account by the file"),
    Person("U0NEW", "approver", tie="new"),
)
EVERYBODY = (*MATRIX, *TIED)
BY_ID = {one.id: one for one in EVERYBODY}
APPROVER = BY_ID[_id("approver", "full member")]
#: Who asked for what is decided on: somebody without a role, an approver who is away, and who decides in her place.
ASKERS = (ALICE, ANN, DAN)

_MAIL = {"U0ALICE": "alice@example.com", "U0ALICEMAIL": "Alice+cards@example.com"}


def in_slack(one: Person) -> dict[str, Any]:
    """The user object of this person."""
    flags = {"team_id": HOME, **MEMBERSHIPS[one.membership]}
    profile = {"display_name": one.id.title(), "email": _MAIL.get(one.id, f"{one.id.lower()}@example.com")}
    return {"id": one.id, "name": one.id.lower(), "tz": "Europe/Berlin", "profile": profile, **flags}


def people_of_slack() -> dict[str, dict[str, Any]]:
    return {one.id: in_slack(one) for one in EVERYBODY if one.membership != "unknown to Slack"}


def members_of(role: str) -> list[str]:
    return [one.id for one in EVERYBODY if one.role == role]
