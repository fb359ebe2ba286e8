"""Whom a message mentions: those who have to act on it now, and nobody else. A mention notifies.

The names come from the settings, who is behind them from Slack, at most half a minute ago: a mention is no decision.
Where Slack cannot say, nobody is mentioned, as the message matters more than whom it calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from bot.domain.alerts import catalogue
from bot.domain.errors import LookupFailed, UnknownName
from bot.domain.people import Call, Standing
from bot.domain.requests import (
    Decision,
    Request,
    State,
    needs_confirmation,
    who_may_be_second,
    who_may_decide,
)
from bot.services import people
from bot.services.alerts import called
from bot.services.core import Core
from storage.messages import Alert
from storage.requests import confirmations

#: Lines of a request's thread that ask somebody to act.
ASKING = frozenset({"approval", "reminder", "reminder_unresolved", "succeeded"})


async def named(core: Core, names: Sequence[str]) -> tuple[str, ...]:
    """Ids of the groups and people behind these names; of the approvers where Slack knows one of the names not: an
    alert that should call somebody never calls nobody for a misspelt name."""
    with suppress(LookupFailed):
        try:
            return tuple(await core.directory.called(names)) if names else ()
        except UnknownName:
            return tuple(await core.directory.called(core.policy.people.approvers))
    return ()


async def of_request(core: Core, request: Request, decisions: Sequence[Decision]) -> tuple[str, ...]:
    """Ids of the groups and people that can decide on a request now, or confirm what was done at once, or say how it
    ended; nobody where its policy calls nobody."""
    if core.policy.of(request.kind).call is Call.NOBODY:
        return ()
    with suppress(LookupFailed):
        return await _approvers(core, _able(request, decisions, await people.standing_lately(core)))
    return ()


def _able(request: Request, decisions: Sequence[Decision], standing: Standing) -> frozenset[str]:
    if request.state is State.PENDING:
        return who_may_decide(request, decisions, standing)
    if needs_confirmation(request, decisions):
        return who_may_be_second(request.requester, standing)
    return standing.approvers if request.state is State.UNRESOLVED else frozenset()


async def _approvers(core: Core, able: frozenset[str]) -> tuple[str, ...]:
    """What reaches these people: the groups that the policy names, and by themselves who is in none of them."""
    return tuple(await core.directory.called(core.policy.people.approvers, among=able)) if able else ()


async def of_alert(core: Core, alert: Alert) -> tuple[str, ...]:
    """Ids of the groups and people whom an alert calls while nobody has taken it up."""
    if alert.state != "raised":
        return ()
    if not catalogue.of(alert.kind).asks_second_person:
        return await named(core, called(core, alert.severity))
    async with core.store.read() as tx:
        consent = await confirmations.get(tx, alert.subject)
    if consent is None:
        return ()
    with suppress(LookupFailed):
        return await _approvers(core, who_may_be_second(consent.asked_by, await people.standing_lately(core)))
    return ()
