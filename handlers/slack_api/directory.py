"""Who people are and what channels are called, asked of Slack now.

A decision stands on what Slack says when it is made; only what is merely shown may be half a minute old.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.domain import slack_faults
from bot.domain.errors import LookupFailed, SlackAway, UnknownName
from bot.domain.people import Actor, mailbox_of
from handlers.slack_api.errors import code_of, is_away, retry_after_s

_PERSON_ID = re.compile(r"[UW][A-Z0-9]{2,}")
_GROUP_ID = re.compile(r"S[A-Z0-9]{2,}")
_CHANNEL_ID = re.compile(r"[CGD][A-Z0-9]{2,}")
_PAGE = 200
# A person waits this long for a look-up rather than doing it all again.
_MOST_PATIENCE_S = 15.0
# Slack allows some twenty readings of the user groups a minute; what is only shown may be this old.
_SHOWN_FOR_S = 30.0
_ACCESS_IS_GONE = (
    "The person who runs Countersign has to give it access to Slack again: `countersign doctor` says how."
)
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
    ) -> None:
        self._home_team = home_team
        self.workspace_url = ""
        self._client = client
        self._sleep = sleep
        self._clock = clock
        self._keyed = keyed
        self._last_groups: Mapping[str, Sequence[str]] = {}
        self._groups_at = float("-inf")
        self._group_ids: dict[str, str] = {}
        self._named: dict[str, tuple[str, float]] = {}  # who has a name, and when Slack said so

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
        found = []
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
        return frozenset(people | await self._resolve(wanted, self._last_groups, lately=True))

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
        known = self._group_ids.get(name.removeprefix("@").lower())
        return known or (name if name in self._group_ids.values() else None)

    async def _resolve(
        self, wanted: Sequence[str], groups: Mapping[str, Sequence[str]], *, lately: bool = False
    ) -> set[str]:
        people: set[str] = set()
        unknown = []
        for name in wanted:
            users = groups.get(name.removeprefix("@").lower() if not _GROUP_ID.fullmatch(name) else name)
            if users is None:
                unknown.append(name)
            else:
                people |= set(users)
        return people | await (self._by_name_lately(unknown) if lately else self._by_name(unknown))

    async def _by_name_lately(self, names: Sequence[str]) -> set[str]:
        """As `_by_name`, from a reading half a minute old at most: Slack allows few lists of everybody."""
        now = self._clock()
        known = {
            n: found[0] for n in names if (found := self._named.get(n)) and now - found[1] <= _SHOWN_FOR_S
        }
        return {*known.values(), *await self._by_name([name for name in names if name not in known])}

    async def _groups(self) -> Mapping[str, Sequence[str]]:
        """Members by group id and by handle. One call, because Slack allows some twenty a minute."""
        found = await self._asked(
            lambda: self._client.usergroups_list(include_users=True), "who is in the user groups"
        )
        by_name: dict[str, Sequence[str]] = {}
        for group in found["usergroups"]:
            if not group.get("date_delete"):
                users = await self._users_of(group)
                self._group_ids[str(group["handle"]).lower()] = str(group["id"])
                by_name |= {str(group["id"]): users, str(group["handle"]).lower(): users}
        self._last_groups, self._groups_at = by_name, self._clock()
        return by_name

    async def _users_of(self, group: Mapping[str, Any]) -> Sequence[str]:
        if "users" in group or not group.get("user_count", 1):
            return group.get("users") or []
        call = partial(self._client.usergroups_users_list, usergroup=str(group["id"]))
        found: Sequence[str] = (await self._asked(call, f"who is in @{group['handle']}"))["users"]
        return found

    async def _by_name(self, names: Sequence[str]) -> set[str]:
        missing = {name.removeprefix("@").lower(): name for name in names}
        found: set[str] = set()
        if missing:
            async for person in self._people():
                shown = {str(person.get("name", "")).lower()}
                for known in shown & missing.keys():
                    if not person.get("deleted"):
                        found.add(str(person["id"]))
                        self._named[missing.pop(known)] = (str(person["id"]), self._clock())
        if missing:
            names = ", ".join(sorted(missing.values()))
            raise UnknownName(
                f"Slack knows no user group and no person named {names}, so nothing was done. An admin must correct the"
                " names in countersign.toml.",
                names,
            )
        return found

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
