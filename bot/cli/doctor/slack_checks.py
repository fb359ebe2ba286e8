"""Slack: the tokens, the app's permissions, the channels, and every person and group that the policy names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bot.cli.doctor.findings import Finding, to_check, well, wrong
from bot.cli.doctor.machine_checks import clock

if TYPE_CHECKING:
    from bot.config import Config, Settings
    from bot.services.core import Directory
    from handlers.slack_api import SlackDirectory
    from storage.store import Store

_MANIFEST = Path(__file__).parents[1] / "manifest.yml"
# Slack delivers these events only to an app that has the scope [docs.slack.dev/reference/events].
_EVENT_OF = {
    "app_mentions:read": "app_mention",
    "im:history": "message.im",
    "usergroups:read": "subteam_members_changed",
}


async def all_of(settings: Settings, config: Config) -> AsyncIterator[Finding]:
    """Everything that Slack is asked."""
    from bot import slack_connection
    from bot.domain.errors import LookupFailed
    from handlers.slack_api import SlackDirectory, token_checks

    client = slack_connection.client(settings)
    try:
        directory = await SlackDirectory.connect(client)
    except LookupFailed as error:
        yield wrong("bot_token", _unanswered(error.code, settings.slack_api_url))
        return
    token = await token_checks.bot_token(client)
    if isinstance(token, str):
        yield wrong("bot_token", _unanswered(token, settings.slack_api_url))
        return
    yield well("bot_token", f"Slack takes the bot token: {token.user} in {token.team}.")
    for finding in _scopes(token.scopes):
        yield finding
    if token.slack_time is not None:
        yield clock("Slack", token.slack_time)
    if settings.slack_app_token is not None:
        yield _app_token(await token_checks.app_token_fault(client, settings.slack_app_token.reveal()))
    async for finding in _channels(config, directory):
        yield finding
    for name, places in _named(config).items():
        yield await _name(name, places, directory)
    async for finding in _policy(config, directory):
        yield finding
    if config.channels.draft_only:
        yield to_check("draft_only", "Draft only is on: everything is for practice, and nothing is sent.")


def _unanswered(error: str, address: str) -> str:
    """Why the first call failed, and the fix: unlike the bot, this command is not tried again by itself."""
    from bot.domain import slack_faults

    if slack_faults.is_away(error):
        return (
            f"Slack did not answer at {address} ({error}). Check the network of this machine, and a firewall or proxy"
            " before it; https://status.slack.com shows whether Slack works."
        )
    if error == "ratelimited":
        return "Slack was asked too often (ratelimited). Run this again in a minute."
    return slack_faults.explained(error)


def _scopes(given: frozenset[str] | None) -> list[Finding]:
    import yaml

    if given is None:
        return [
            to_check(
                "slack_scopes", "Slack did not say which scopes the token has; compare with manifest.yml."
            )
        ]
    manifest = yaml.safe_load(_MANIFEST.read_text(encoding="utf-8"))
    needed = set(manifest["oauth_config"]["scopes"]["bot"])
    found = []
    if missing := needed - given:
        events = sorted(_EVENT_OF[scope] for scope in missing & _EVENT_OF.keys())
        unheard = f" Without them these events do not arrive: {', '.join(events)}." if events else ""
        found.append(
            wrong(
                "slack_scopes",
                f"The Slack app lacks the scopes {', '.join(sorted(missing))}.{unheard} Paste what `countersign"
                " manifest` prints into App Manifest in the settings of the app, and install it again.",
            )
        )
    else:
        found.append(well("slack_scopes", "The Slack app has every scope of manifest.yml."))
    if more := given - needed:
        found.append(
            to_check(
                "slack_scopes", f"The Slack app has more scopes than it needs: {', '.join(sorted(more))}."
            )
        )
    return found


def _app_token(fault: str | None) -> Finding:
    if fault is None:
        return well("app_token", "Slack takes the app token: Socket Mode can connect.")
    return wrong(
        "app_token", f"SLACK_APP_TOKEN: Slack answers {fault}. Make one with the scope connections:write."
    )


async def _channels(config: Config, directory: SlackDirectory) -> AsyncIterator[Finding]:
    channels = config.channels
    for name in filter(None, (channels.approvals, channels.alerts, channels.audit)):
        yield await _channel(name, directory, may_be_shared=name in channels.shared_ok)


async def _channel(name: str, directory: SlackDirectory, *, may_be_shared: bool) -> Finding:
    """Is it there, ours alone unless the file allows more, and may Countersign post in it?"""
    from bot.domain import slack_faults
    from bot.domain.errors import LookupFailed

    try:
        channel = await directory.channel(name)
        code = await directory.channel_fault(channel)
        others = "" if code else await directory.open_to_others(channel)
    except LookupFailed as error:
        code = error.code
    if code:
        return wrong("channel", slack_faults.explained(code, name))
    if others:
        return _shared(name, others, is_allowed=may_be_shared)
    return well("channel", f"Channel {name} is there, and Countersign is in it.")


def _shared(name: str, code: str, *, is_allowed: bool) -> Finding:
    from bot.domain import slack_faults

    if is_allowed:
        who = "shared with another organization" if code == "is_ext_shared" else "open to guests"
        return to_check(
            "channel", f"{name} is {who}, as slack.shared_ok allows: they read what is posted there."
        )
    return wrong("channel", slack_faults.explained(code, name))


def _named(config: Config) -> Mapping[str, Sequence[str]]:
    """Every name of a person or a group in the file, and the settings in which it stands."""
    people = config.policy.people
    lists = {
        "people.requesters": people.requesters,
        "people.approvers": people.approvers,
        "people.admins": people.admins,
        "people.same_person": [name for accounts in people.same_person for name in accounts],
        "people.delegations": [n for one in config.policy.delegations for n in (one.away, one.delegate)],
        "alerts.call": config.alerting.call,
    }
    found: dict[str, list[str]] = defaultdict(list)
    for place, names in lists.items():
        for name in dict.fromkeys(names):
            found[name].append(place)
    return found


async def _name(name: str, places: Sequence[str], directory: SlackDirectory) -> Finding:
    """Is there such a group with people in it, or such a person who may use Countersign?"""
    from bot.domain import slack_faults
    from bot.domain.errors import LookupFailed, NotAllowed, UnknownName
    from bot.domain.people import require_full_member

    shown = f"{name} ({', '.join(places)})"
    try:
        members = await directory.members_lately([name])
        (found, *_) = [*await directory.called([name]), ""]
        if found not in members:
            if not members:
                return wrong("group", f"The group {shown} has nobody in it. Add people to it in Slack.")
            people = "1 person" if len(members) == 1 else f"{len(members)} people"
            return well("group", f"The group {shown} is there: {people}.")
        actor = await directory.actor(found)
        require_full_member(actor, directory.home_team)
    except UnknownName:
        text = (
            f"Slack knows no user group and no person named {shown}. Create it, or correct countersign.toml. A user"
            " group needs a paid plan of Slack; without one, list member ids."
        )
        return wrong("name", text)
    except NotAllowed as error:
        return wrong("person", f"{shown} cannot take part: {error} Correct countersign.toml.")
    except LookupFailed as error:
        if error.code in {"user_not_found", "user_not_visible"}:
            return wrong("person", f"Slack knows no person with the id {shown}. Correct countersign.toml.")
        return wrong("name", f"{shown}: {slack_faults.explained(error.code)}")
    return well("person", f"{shown} is {actor.name}.")


async def names_on_record(settings: Settings, config: Config, store: Store) -> AsyncIterator[Finding]:
    """Names whose group is gone since they were first resolved: only the database remembers which that was."""
    from bot import slack_connection
    from bot.domain.errors import LookupFailed, UnknownName
    from handlers.slack_api import SlackDirectory
    from storage.errors import LogNotWhole
    from storage.operators import roles_on_record

    try:
        async with store.read() as tx:
            known = await roles_on_record.names(tx)
    except LogNotWhole:
        return  # `audit_chain` says so
    directory = SlackDirectory(slack_connection.client(settings), home_team="")
    directory.meant |= known
    for name in _named(config):
        if name.removeprefix("@").lower() in known:
            try:
                await directory.members_lately([name])
            except UnknownName as error:
                yield wrong("name", str(error))
            except LookupFailed:
                return  # what Slack refuses has its own finding


async def _policy(config: Config, directory: Directory) -> AsyncIterator[Finding]:
    from bot import operations
    from bot.domain.errors import LookupFailed
    from bot.domain.people import never_met

    people = config.policy.people
    try:
        requesters = await directory.members_lately(people.requesters) if people.requesters else None
        approvers = await directory.members_lately(people.approvers)
        same = [await directory.members_lately(accounts) for accounts in people.same_person]
    except LookupFailed:
        return  # the name that is not there has its own finding
    problems = never_met(config.policy, operations.listed(operations.kinds()), requesters, approvers, same)
    for problem in problems:
        yield wrong("policy", problem)
    if not problems:
        yield well("policy", "Every policy can be met by its approvers.")
