"""Puts on record who may approve and who are admins, each time Slack says something else, and tells the alerts channel.

Whoever may edit a user group in Slack can add an approver. So a change is on the audit chain with names, and with
`[people] settle` a new approver counts only after a while. The chain itself is what that while is counted by: an entry
that was not signed by us counts as none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from bot.domain.alerts import people_alerts
from bot.domain.errors import LookupFailed
from bot.services import alerts, audit
from bot.services.core import Core
from storage.operators import people, roles_on_record
from storage.transaction import Tx

_MOST_NAMED = 20


async def note(core: Core, role: str, members: frozenset[str]) -> None:
    """Record who has this role ("approvers" or "admins") where that has changed. The first time nobody is notified."""
    if core.roles_noted.get(role) == members:
        return
    async with core.store.read() as tx:
        before = await roles_on_record.now(tx, role)
    if before is None or before != members:
        names = await _names(core, members | (before or frozenset()))
        async with core.store.begin() as tx:
            await _record(tx, core, role, members, names)
    core.roles_noted[role] = members


async def _record(tx: Tx, core: Core, role: str, members: frozenset[str], names: Mapping[str, str]) -> None:
    before = await roles_on_record.now(tx, role)
    if before == members:
        return
    added, removed = sorted(members - (before or members)), sorted((before or frozenset()) - members)
    body = {
        "now": sorted(members),
        "added": {one: names.get(one, one) for one in added},
        "removed": {one: names.get(one, one) for one in removed},
    }
    action = roles_on_record.FIRST if before is None else roles_on_record.CHANGED
    await audit.record(tx, core, "system:people", action, roles_on_record.subject(role), body)
    if before is None:
        return
    said = people_alerts.PEOPLE_CHANGED.says(
        role,
        added=_listed(added, names),
        removed=_listed(removed, names),
        now=_listed(sorted(members), names),
    )
    condition = people_alerts.PEOPLE_CHANGED.condition(role, core.ids.ulid())
    await alerts.tell(tx, core, said, condition=condition, subject=role, program="")


async def _names(core: Core, slack_ids: Collection[str]) -> Mapping[str, str]:
    """Display names: as last seen, else asked of Slack for a few; an id stays where it does not say."""
    async with core.store.read() as tx:
        seen = {one: await people.get(tx, one) for one in sorted(slack_ids)}
    names = {one: found.actor.name for one, found in seen.items() if found is not None}
    for one in sorted(set(slack_ids) - names.keys())[:_MOST_NAMED]:
        try:
            names[one] = (await core.directory.actor(one)).name
        except LookupFailed:
            break
    return names


def _listed(slack_ids: Collection[str], names: Mapping[str, str]) -> str:
    shown = [names.get(one, one) for one in slack_ids]
    more = f" and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    return (", ".join(shown[:_MOST_NAMED]) or "nobody") + more
