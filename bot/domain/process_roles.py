"""What a process does: answer people in Slack, take deliveries, work. All of it, unless it is started for less."""

from __future__ import annotations

from enum import StrEnum

from bot.domain.errors import CountersignError


class Role(StrEnum):
    """One part of the work; any number of processes may have each."""

    SLACK = "slack"  # answers people: the Socket Mode connection, or Slack's requests to the web server
    WEB = "web"  # takes deliveries of events, and shows card details
    WORKER = "worker"  # carries out requests, watches, posts


ALL = frozenset(Role)


class UnknownRole(CountersignError):
    """The text says which there are."""

    reason = "unknown_role"


def parse(text: str) -> frozenset[Role]:
    """`slack,web,worker`; raises `UnknownRole`."""
    named = [name.strip() for name in text.split(",") if name.strip()]
    known = {role.value for role in Role}
    if not named or not known.issuperset(named):
        raise UnknownRole(
            f"--roles {text} is none of slack, web and worker, nor some of them with commas between."
        )
    return frozenset(map(Role, named))
