"""Who people are and what channels are called, asked of Slack now.

A decision stands on what Slack says when it is made; only what is merely shown may be half a minute old.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.domain import slack_faults
from bot.domain.errors import LookupFailed, SlackAway, UnknownName
from bot.domain.people import Actor, is_full_member, mailbox_of
from bot.services.core import Lists
from bot.services.processes import StoredLooks
from handlers.slack_api.errors import code_of, is_away, retry_after_s

_PERSON_ID = re.compile(r"[UW][A-Z0-9]{2,}")
_GROUP_ID = re.compile(r"S[A-Z0-9]{2,}")
_CHANNEL_ID = re.compile(r"[CGD][A-Z0-9]{2,}")
_PAGE = 200
# A person waits this long for a look-up rather than doing it all again.
_MOST_PATIENCE_S = 15.0
# All processes on one database share a look at the groups that began less than this ago: as `people.DECIDED_WITHIN_S`.
_SHARED_FOR_S = 3.0
# Slack allows some twenty readings of the user groups a minute; what is only shown may be this old.
_SHOWN_FOR_S = 30.0
_ACCESS_IS_GONE = (
    "The person who runs Countersign has to give it access to Slack again: `countersign doctor` says how."
)
# Who is a guest changes seldom; who is in a channel is asked each time.
_OUTSIDERS_FOR_S = 600.0
_MOST_ASKED_SINGLY = 20
# Slack's own account answers users.info like a person.
_SLACKBOT = "USLACKBOT"


class SlackDirectory:
    """A `bot.services.core.Directory` over the Web API. Make one with `connect`.

    `keyed` makes the hash by which two mailboxes are compared; without it, and without the scope `users:read.email`,
    no account has one.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        *,
        home_team: str,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        keyed: Callable[[str], str] | None = None,
        shared: StoredLooks | None = None,
    ) -> None:
        self._home_team = home_team
        self._own_id = ""
        self.workspace_url = ""
        self._client = client
        self._sleep = sleep
        self._clock = clock
        self._keyed = keyed
        self.shared = shared
        """Where all processes on one database share a look at the user groups; None in the only one."""
        self._last_groups: Mapping[str, Sequence[str]] = {}
        self._groups_at = float("-inf")
        self._group_ids: dict[str, str] = {}
        self._shared_handles: frozenset[str] = frozenset()  # that several groups have
        self._outsiders: dict[str, bool] = {}  # whether somebody is a guest or of another workspace
        self._outsiders_at = float("-inf")
        self.meant: dict[str, str] = {}
        """Name without its `@` -> the id of the group or person that it meant when it was first resolved.

        Set at the start to what is on record. Whoever gets such a name later in Slack gets nothing by it.
        """

    @classmethod
    async def connect(cls, client: AsyncWebClient) -> SlackDirectory:
        """Asks who we are; raises LookupFailed when the token is not good."""
        directory = cls(client, home_team="")
        await directory.introduce()
        return directory

    async def introduce(self) -> None:
        """Ask who we are. Raises LookupFailed when the token is not good."""
        found = await self._asked(self._client.auth_test, "whose token this is")
        self._home_team = str(found["team_id"])
        self._own_id = str(found.get("user_id") or "")
        self.workspace_url = str(found.get("url") or "")

    @property
    def home_team(self) -> str:
        """The workspace of this bot. Raises SlackAway before Slack has said which that is: nobody is let in unseen."""
        if not self._home_team:
            raise SlackAway("Slack has not answered yet, so nothing was done. Try again in a minute.")
        return self._home_team

    @home_team.setter
    def home_team(self, team: str) -> None:
        self._home_team = team

    async def actor(self, slack_id: str) -> Actor:
        """The account as it is now. Raises LookupFailed."""
        if not self._home_team:
            await self.introduce()
        if not slack_id:
            raise LookupFailed("Slack did not say who this is, so nothing was done.")
        found = await self._asked(lambda: self._client.users_info(user=slack_id), "who this is")
        return _actor(found["user"], self._keyed)

    async def knows_itself(self) -> bool:
        """By the account that the bot had when it was introduced: a token of another workspace knows its own alone.
        Raises LookupFailed."""
        if not self._own_id:
            found = await self._asked(self._client.auth_test, "whose token this is")
            if str(found["team_id"]) != self.home_team:
                return False
            self._own_id = str(found.get("user_id") or "")
        try:
            return (await self.actor(self._own_id)).id == self._own_id
        except LookupFailed as error:
            if error.code in slack_faults.NOT_THERE:
                return False
            raise

    async def members(self, names: Sequence[str]) -> frozenset[str]:
        """Ids behind ids, `@group` handles and `@user` names; raises LookupFailed for a name nobody has."""
        people = {name for name in names if _PERSON_ID.fullmatch(name)}
        wanted = [name for name in names if name not in people]
        if not wanted:
            return frozenset(people)
        return frozenset(people | await self._resolve(wanted, await self._groups()))

    async def each(self, lists: Sequence[Sequence[str]]) -> Sequence[frozenset[str]]:
        """As `members`, for several lists of names, all of them from one reading: Slack allows few."""
        known = all(_PERSON_ID.fullmatch(name) for names in lists for name in names)
        groups = {} if known else await self._groups()
        found = Lists()
        found.ago_s = 0.0 if known else self._clock() - self._groups_at
        for names in lists:
            people = {name for name in names if _PERSON_ID.fullmatch(name)}
            wanted = [name for name in names if name not in people]
            found.append(frozenset(people | await self._resolve(wanted, groups)))
        return found

    async def members_lately(self, names: Sequence[str]) -> frozenset[str]:
        """Like `members`, from a reading at most half a minute old: for showing, never for deciding."""
        if self._clock() - self._groups_at > _SHOWN_FOR_S:
            return await self.members(names)
        people = {name for name in names if _PERSON_ID.fullmatch(name)}
        wanted = [name for name in names if name not in people]
        return frozenset(people | await self._resolve(wanted, self._last_groups))

    async def called(self, names: Sequence[str], among: Collection[str] | None = None) -> Sequence[str]:
        """What a mention of these names holds: the ids of groups, of people where a name is no group."""
        if self._clock() - self._groups_at > _SHOWN_FOR_S:
            await self._groups()
        groups = {found: name for name in names if (found := self._group_id(name))}
        if among is None:
            others = [name for name in names if name not in groups.values()]
            return [*groups, *sorted(await self.members_lately(others))]
        reached = {found: set(self._last_groups.get(found, ())) & set(among) for found in groups}
        alone = set(among).difference(*reached.values())
        return [*(found for found, people in reached.items() if people), *sorted(alone)]

    def _group_id(self, name: str) -> str | None:
        """Of a group by its id or handle, as last read; None for what is no group."""
        known = self.meant.get(_key(name)) or self._group_ids.get(_key(name)) or name
        return known if known in self._group_ids.values() else None

    async def _resolve(self, wanted: Sequence[str], groups: Mapping[str, Sequence[str]]) -> set[str]:
        """Ids of the people behind names and ids of groups. What a name meant first, it means from then on."""
        people: set[str] = set()
        unknown = []
        for name in wanted:
            found = name if _GROUP_ID.fullmatch(name) else self.meant.get(_key(name))
            if found is None and _key(name) in groups:
                found = self._group_called(name)
            if found is None:
                unknown.append(name)
            elif _PERSON_ID.fullmatch(found):
                people.add(found)
            elif found in groups:
                people |= set(groups[found])
            else:
                raise _gone(name, found)
        return people | await self._by_name(unknown)

    def _group_called(self, handle: str) -> str:
        """The id of the one group with this handle, remembered. Raises UnknownName where two have it."""
        if _key(handle) in self._shared_handles:
            raise _ambiguous(handle, "user groups")
        found = self.meant[_key(handle)] = self._group_ids[_key(handle)]
        return found

    async def _groups(self) -> Mapping[str, Sequence[str]]:
        """Members by group id and by handle. One call, because Slack allows some twenty a minute."""
        groups, ago_s = await self._look_at_groups()
        by_name: dict[str, Sequence[str]] = {}
        self._group_ids = {}
        for group in groups:
            self._group_ids[group["handle"].lower()] = group["id"]
            by_name |= dict.fromkeys((group["id"], group["handle"].lower()), group["users"])
        handles = Counter(_key(group["handle"]) for group in groups)
        self._shared_handles = frozenset(handle for handle, count in handles.items() if count > 1)
        self._last_groups, self._groups_at = by_name, self._clock() - ago_s
        return by_name

    async def _look_at_groups(self) -> tuple[Sequence[Mapping[str, Any]], float]:
        """Each group that is in use: id, handle, users. And how many seconds ago that look began."""
        if self.shared is None:
            return await self._listed_groups(), 0.0
        seen = await self.shared.at("user groups", self._listed_groups, within_s=_SHARED_FOR_S)
        return seen.value, seen.ago_s

    async def _listed_groups(self) -> list[dict[str, Any]]:
        found = await self._asked(
            lambda: self._client.usergroups_list(include_users=True), "who is in the user groups"
        )
        return [
            {
                "id": str(group["id"]),
                "handle": str(group["handle"]),
                "users": list(await self._users_of(group)),
            }
            for group in found["usergroups"]
            if not group.get("date_delete")
        ]

    async def _users_of(self, group: Mapping[str, Any]) -> Sequence[str]:
        if "users" in group or not group.get("user_count", 1):
            return group.get("users") or []
        call = partial(self._client.usergroups_users_list, usergroup=str(group["id"]))
        found: Sequence[str] = (await self._asked(call, f"who is in @{group['handle']}"))["users"]
        return found

    async def _by_name(self, names: Sequence[str]) -> set[str]:
        """Ids of people by their usernames, remembered. Bots, other teams' people and two of one name are none."""
        wanted = {_key(name): name for name in names}
        found: dict[str, list[str]] = {}
        if wanted:
            async for person in self._people():
                known = str(person.get("name", "")).lower()
                if known in wanted and self._may_have_a_name(person):
                    found.setdefault(known, []).append(str(person["id"]))
        for key, ids in found.items():
            if len(ids) > 1:
                raise _ambiguous(wanted[key], "people")
        if missing := wanted.keys() - found.keys():
            raise _unknown(", ".join(sorted(wanted[key] for key in missing)))
        self.meant |= {key: ids[0] for key, ids in found.items()}
        return {one for ids in found.values() for one in ids}

    def _may_have_a_name(self, person: Mapping[str, Any]) -> bool:
        """Of people of this workspace alone: no bots, nobody who left, nobody of another team."""
        is_ours = not self._home_team or str(person.get("team_id") or self._home_team) == self._home_team
        others = ("deleted", "is_bot", "is_workflow_bot", "is_stranger")
        return is_ours and not any(person.get(flag) for flag in others)

    async def _people(self) -> AsyncIterator[Mapping[str, Any]]:
        cursor = None
        while True:
            found = await self._asked(
                partial(self._client.users_list, limit=_PAGE, cursor=cursor), "who is in the workspace"
            )
            for person in found["members"]:
                yield person
            cursor = _next(found)
            if not cursor:
                return

    async def channel(self, name: str) -> str:
        """The id behind `#channel` or an id; of an archived one where no other has the name. Raises LookupFailed."""
        if _CHANNEL_ID.fullmatch(name):
            return name
        wanted, cursor, archived = name.removeprefix("#").lower(), None, ""
        while True:
            found = await self._asked(
                partial(
                    self._client.conversations_list,
                    types="public_channel,private_channel",
                    limit=_PAGE,
                    cursor=cursor,
                ),
                "which channels there are",
            )
            for channel in found["channels"]:
                if str(channel.get("name", "")).lower() != wanted:
                    continue
                if not channel.get("is_archived"):
                    return str(channel["id"])
                archived = str(channel["id"])
            cursor = _next(found)
            if not cursor and archived:
                return archived
            if not cursor:
                raise LookupFailed(
                    slack_faults.explained("channel_not_found", f"#{wanted}"), "channel_not_found"
                )

    async def channel_fault(self, channel: str) -> str:
        """Slack's code for why this channel takes no message of ours, such as `is_archived`; empty when it does.

        Raises SlackAway where Slack does not say.
        """
        try:
            found = await self._asked(
                lambda: self._client.conversations_info(channel=channel), "what is posted there"
            )
        except SlackAway:
            raise
        except LookupFailed as error:
            return error.code
        if found["channel"].get("is_archived"):
            return "is_archived"
        is_in = found["channel"].get("is_member", True) or found["channel"].get("is_im")
        return "" if is_in else "not_in_channel"

    async def is_shared(self, channel: str) -> bool:
        """Whether people of another organization are in the channel, or are invited to it. Raises LookupFailed."""
        found = await self._asked(
            lambda: self._client.conversations_info(channel=channel), "who is in the channel"
        )
        shared = ("is_ext_shared", "is_pending_ext_shared")
        return any(found["channel"].get(name) for name in shared)

    async def open_to_others(self, channel: str) -> str:
        """`is_ext_shared` or `has_guests` where others than full members of this workspace read it; else empty.

        Who is a guest is remembered for ten minutes. Raises LookupFailed.
        """
        if await self.is_shared(channel):
            return "is_ext_shared"
        if self._clock() - self._outsiders_at > _OUTSIDERS_FOR_S:
            self._outsiders, self._outsiders_at = {}, self._clock()
        members = await self._members_of(channel)
        await self._learn_outsiders(members - self._outsiders.keys())
        return "has_guests" if any(self._outsiders[one] for one in members) else ""

    async def _members_of(self, channel: str) -> set[str]:
        members: set[str] = set()
        cursor = None
        while True:
            call = partial(self._client.conversations_members, channel=channel, limit=_PAGE, cursor=cursor)
            found = await self._asked(call, "who is in the channel")
            members |= set(found["members"])
            cursor = _next(found)
            if not cursor:
                return members

    async def _learn_outsiders(self, slack_ids: set[str]) -> None:
        """Few are asked for one by one, many by the list of everybody."""
        if len(slack_ids) > _MOST_ASKED_SINGLY:
            async for person in self._people():
                self._outsiders[str(person["id"])] = _is_outsider(_actor(person, None), self._home_team)
        for one in sorted(slack_ids - self._outsiders.keys()):
            self._outsiders[one] = _is_outsider(await self.actor(one), self._home_team)

    async def _asked(
        self, call: Callable[[], Awaitable[AsyncSlackResponse]], what: str
    ) -> AsyncSlackResponse:
        """Slack's answer; over its rate the question waits a little and is asked again, as long as patience lasts."""
        try:
            return await self._patiently(call)
        except SlackApiError as error:
            code = code_of(error)
            said = f"Slack could not say {what} ({code}), so nothing was done."
            if is_away(error):
                raise SlackAway(f"{said} Try again.", code) from error
            then = _ACCESS_IS_GONE if code in slack_faults.ACCESS else "Try again."
            raise LookupFailed(f"{said} {then}", code) from error
        except Exception as error:  # the SDK lets the errors of its HTTP library through as they are
            said = f"Slack could not be asked {what}, so nothing was done. Try again."
            raise SlackAway(said, "no answer") from error

    async def _patiently(self, call: Callable[[], Awaitable[AsyncSlackResponse]]) -> AsyncSlackResponse:
        left_s = _MOST_PATIENCE_S
        while True:
            try:
                return await call()
            except SlackApiError as error:
                wait_s = retry_after_s(error)
                if wait_s is None or wait_s > left_s:
                    raise
            left_s -= wait_s
            await self._sleep(wait_s)


def _is_outsider(actor: Actor, home_team: str) -> bool:
    """A guest or somebody of another workspace, who may still sign in; an app is none."""
    if actor.is_bot or actor.deleted:
        return False
    return not is_full_member(actor, home_team)


def _key(name: str) -> str:
    """A handle or username to compare it by."""
    return name.removeprefix("@").lower()


def _unknown(names: str) -> UnknownName:
    return UnknownName(
        f"Slack knows no user group and no person named {names}, so nothing was done. An admin must correct the names"
        " in countersign.toml.",
        names,
    )


def _ambiguous(name: str, what: str) -> UnknownName:
    return UnknownName(
        f"Slack has two {what} named {name}, so nothing was done. Write the id of the one that is meant in"
        " countersign.toml.",
        name,
    )


def _gone(name: str, group: str) -> UnknownName:
    if name == group:
        return _unknown(name)
    return UnknownName(
        f"{name} in countersign.toml was the user group {group} when it was first read, and Slack has that group no"
        f" longer. Whoever is called {name} now gets nothing by that, so nothing was done. Restore the group in"
        " Slack, or write an id in countersign.toml.",
        name,
    )


def _actor(user: Mapping[str, Any], keyed: Callable[[str], str] | None) -> Actor:
    profile = user.get("profile") or {}
    mailbox = mailbox_of(str(profile.get("email") or ""))
    shown = (
        profile.get("display_name") or user.get("real_name") or profile.get("real_name") or user.get("name")
    )
    return Actor(
        id=str(user["id"]),
        name=str(shown or user["id"]),
        team_id=str(user.get("team_id") or ""),
        is_restricted=bool(user.get("is_restricted")),
        is_ultra_restricted=bool(user.get("is_ultra_restricted")),
        is_stranger=bool(user.get("is_stranger")),
        is_bot=bool(user.get("is_bot") or user.get("is_workflow_bot") or user["id"] == _SLACKBOT),
        deleted=bool(user.get("deleted")),
        tz=str(user.get("tz") or "UTC"),
        mailbox=keyed(mailbox) if keyed and mailbox else "",
    )


def _next(found: AsyncSlackResponse) -> str:
    return str((found.get("response_metadata") or {}).get("next_cursor") or "")
