"""Says when somebody begins to decide in another's place, and when it ends; and what is wrong with it.

The delegations themselves are in the reviewed `countersign.toml`. What was said last is kept, so that each
beginning and each end is reported once, that of a delegation taken out of the file as well.
"""

from __future__ import annotations

from bot.domain.alerts import people_alerts
from bot.domain.errors import LookupFailed
from bot.domain.people import Delegation
from bot.services import alerts, audit
from bot.services.core import Core
from storage.cards import api_snapshots
from storage.transaction import Tx

_REPORTED = "delegations"


async def announce(core: Core) -> None:
    """Tell the alerts channel what began and what ended since the last time."""
    async with core.store.read() as tx:
        kept = await api_snapshots.get(tx, "", _REPORTED)
    said = dict(kept.value) if kept else {}
    current = {}
    for found in core.policy.delegations:
        if found.in_force(core.clock.now()):
            words = said.get(_key(found), "")
            current[_key(found)] = words if _rest(found) in words else await _words(core, found)
    if current == said:
        return
    async with core.store.begin() as tx:
        kept = await api_snapshots.get(tx, "", _REPORTED)
        reported = dict(kept.value) if kept else {}
        for key in sorted(current.keys() - reported.keys()):
            await _tell(tx, core, "delegation.began", key, current[key])
        for key in sorted(reported.keys() - current.keys()):
            await _tell(tx, core, "delegation.ended", key, reported[key])
        await api_snapshots.put(tx, "", _REPORTED, current)


def _key(found: Delegation) -> str:
    return f"{found.away} > {found.delegate} since {found.since.isoformat()}"


async def _words(core: Core, found: Delegation) -> str:
    delegate, away = await _name(core, found.delegate), await _name(core, found.away)
    return f"{delegate} decides in place of {away} {_rest(found)}"


def _rest(found: Delegation) -> str:
    return f"until {found.until:%Y-%m-%d %H:%M} UTC: {found.reason}"


async def _name(core: Core, named: str) -> str:
    """The display name of a person whom the file names; as the file has it, where Slack cannot say."""
    try:
        ids = await core.directory.members_lately([named])
        return (await core.directory.actor(min(ids))).name if len(ids) == 1 else named
    except LookupFailed:
        return named


async def _tell(tx: Tx, core: Core, action: str, key: str, words: str) -> None:
    began = action == "delegation.began"
    await audit.record(tx, core, "system:delegations", action, "policy", {"delegation": key})
    said = people_alerts.DELEGATION.says("began" if began else "ended", delegation=words)
    await alerts.tell(
        tx, core, said, condition=people_alerts.DELEGATION.condition(key, action), subject=key, program=""
    )


async def problems(core: Core) -> list[str]:
    """Delegations in force that give nobody anything, and why."""
    now = core.clock.now()
    in_force = [d for d in core.policy.delegations if d.in_force(now)]
    if not in_force:
        return []
    approvers = await core.directory.members(core.policy.people.approvers)
    said = []
    for found in in_force:
        named = f"The delegation from {found.away} to {found.delegate} gives nothing:"
        try:
            away = await core.directory.members([found.away])
            delegate = await core.directory.members([found.delegate])
        except LookupFailed as error:
            said.append(f"{named} {error}")
            continue
        if len(away) != 1 or len(delegate) != 1:
            said.append(f"{named} both have to be one person each, not a group.")
        elif not away <= approvers:
            said.append(f"{named} {found.away} isn't an approver.")
        elif delegate <= approvers:
            said.append(f"{named} {found.delegate} is an approver already.")
    return said
