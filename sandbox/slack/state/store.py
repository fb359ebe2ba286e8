"""What the workspace holds: people, groups, channels, messages, ephemerals, home tabs, files.

Everything a person would find again tomorrow is written through to `Persist`. Ephemeral messages
are not, because Slack forgets them too. Messages are kept in the form in which Slack sends them.
"""

from __future__ import annotations

import copy
from base64 import b64decode, b64encode
from bisect import insort
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from sandbox.slack.clock import Clock
from sandbox.slack.ids import Ids
from sandbox.slack.json_object import Json
from sandbox.slack.state import people
from sandbox.slack.state.cast import Cast
from sandbox.slack.state.people import Channel, Group, Person
from sandbox.slack.state.persistence import Persist


@dataclass
class Ephemeral:
    """A message that one person sees and nobody can look up again."""

    user: str
    channel: str
    message: Json


@dataclass
class StoredFile:
    """A file; `complete` once its upload is, `channel` where it was shared ("" for nowhere)."""

    id: str
    name: str
    length: int
    content: bytes = b""
    title: str = ""
    complete: bool = False
    user: str = ""
    created_at: int = 0
    channel: str = ""
    alt_txt: str = ""


class Store:
    """Everything in the workspace; `on_change` is called after each change."""

    def __init__(
        self,
        persist: Persist,
        clock: Clock,
        ids: Ids,
        bot_name: str,
        zone: str = "",
        cast: Cast | None = None,
    ) -> None:
        self._cast = cast or Cast()
        self._persist = persist
        self._clock = clock
        self._ids = ids
        self._bot_name = bot_name
        self._zone = zone
        self.on_change: Callable[[], None] = lambda: None
        self._forget()
        self._load()

    def _forget(self) -> None:
        self._ids.forget_times()
        self.people: dict[str, Person] = {}
        self.groups: dict[str, Group] = {}
        self.channels: dict[str, Channel] = {}
        self.messages: dict[str, list[Json]] = {}
        self.ephemerals: list[Ephemeral] = []
        self.homes: dict[str, Json] = {}
        self.files: dict[str, StoredFile] = {}

    def _load(self) -> None:
        self._take(self._persist.load)
        if not self.people:
            self._seed()

    def _take(self, load: Callable[[str], list[tuple[str, Any]]]) -> None:
        """Read everything that `load` has of each kind, as (key, body)."""
        for _, body in load("person"):
            self.people[body["id"]] = Person(**body)
        for _, body in load("group"):
            self.groups[body["id"]] = Group(**body)
        for _, body in load("channel"):
            fields = {name: value for name, value in body.items() if name != "is_im"}
            self.channels[body["id"]] = Channel(**fields)
            self.messages[body["id"]] = []
        for key, body in load("message"):
            insort(self.messages[key.partition(":")[0]], body, key=_ts)
            self._ids.not_before(body["ts"])
        for key, body in load("file"):
            self.files[key] = StoredFile(**{**body, "content": b64decode(body["content"])})
        for user, view in load("home"):
            self.homes[user] = view
        for _, offset in load("clock"):
            self._clock.move_to(offset)

    def written_out(self) -> list[tuple[str, str, Any]]:
        """Everything as (kind, key, body) in JSON's forms; messages for one person alone are not kept."""
        rows: list[tuple[str, str, Any]] = [("person", one.id, one.as_json()) for one in self.people.values()]
        rows += [("group", one.id, one.as_json()) for one in self.groups.values()]
        rows += [("channel", one.id, one.as_json()) for one in self.channels.values()]
        for channel, held in self.messages.items():
            rows += [("message", f"{channel}:{one['ts']}", one) for one in held]
        rows += [("file", one.id, _file_json(one)) for one in self.files.values()]
        rows += [("home", user, view) for user, view in self.homes.items()]
        return [*rows, ("clock", "offset", self._clock.offset_seconds)]

    def read_in(self, rows: list[tuple[str, str, Any]]) -> None:
        """Everything as it was written out. Raises KeyError, TypeError or ValueError; nothing is changed then."""
        before = self.written_out()
        try:
            self._replace(copy.deepcopy(rows))
        except (KeyError, TypeError, ValueError):
            self._replace(before)
            raise

    def _replace(self, rows: list[tuple[str, str, Any]]) -> None:
        self._forget()
        self._take(lambda wanted: [(key, body) for kind, key, body in rows if kind == wanted])
        if not self.people:
            raise ValueError("nobody is in it")
        self._persist.clear()
        for kind, key, body in rows:
            self._persist.save(kind, key, body)
        self.on_change()

    def _seed(self) -> None:
        now = int(self._clock.now())
        cast = self._cast
        # Copies: the workspace changes its own, and a reset starts from these again.
        app = [one for one in people.seed_people(self._bot_name) if one.is_bot]
        everybody = [*cast.people, *app] if cast.people else people.seed_people(self._bot_name)
        for channel in cast.channels or people.seed_channels(now, everybody):
            self.put_channel(replace(channel, members=list(channel.members), bookmarks=[], created_at=now))
        for person in everybody:
            self.put_person(replace(person, tz=self._zone or person.tz))
        for group in cast.groups if cast.people else people.seed_groups():
            self.put_group(replace(group, users=list(group.users)))

    def reset(self) -> None:
        """Back to the seed world and the real time."""
        self._persist.clear()
        self._forget()
        self._clock.reset()
        self._seed()
        self.clock_moved()

    def clock_moved(self) -> None:
        """Save how far the clock has been moved."""
        self._persist.save("clock", "offset", self._clock.offset_seconds)
        self.on_change()

    def close(self) -> None:
        """Close the file behind it."""
        self._persist.close()

    # People

    def put_person(self, person: Person) -> None:
        """Add or change a person; a human gets a conversation with the app."""
        person.updated_at = int(self._clock.now())
        self.people[person.id] = person
        self._persist.save("person", person.id, person.as_json())
        if not person.is_bot and self.direct_message(person.id) is None:
            self.put_channel(people.direct_message(person, person.updated_at))
        self.on_change()

    def person(self, key: str) -> Person | None:
        """Find by id, or by name."""
        named = (person for person in self.people.values() if person.name == key)
        return self.people.get(key) or next(named, None)

    def put_group(self, group: Group) -> None:
        """Add or change a user group."""
        group.updated_at = int(self._clock.now())
        self.groups[group.id] = group
        self._persist.save("group", group.id, group.as_json())
        self.on_change()

    # Channels

    def put_channel(self, channel: Channel) -> None:
        """Add or change a channel."""
        self.channels[channel.id] = channel
        self.messages.setdefault(channel.id, [])
        self._persist.save("channel", channel.id, channel.as_json())
        self.on_change()

    def channel_named(self, name: str) -> Channel | None:
        """The channel with this name, with or without `#`; never a direct message."""
        bare = name.removeprefix("#")
        found = (one for one in self.channels.values() if one.name == bare and not one.is_im)
        return next(found, None)

    def direct_message(self, user: str) -> Channel | None:
        """The conversation of this person with the app."""
        return next((one for one in self.channels.values() if one.im_user == user), None)

    # Messages

    def message(self, channel: str, ts: str) -> Json | None:
        """The message with this ts in a channel, or None; never an ephemeral one."""
        return next((one for one in self.messages.get(channel, ()) if one["ts"] == ts), None)

    def put_message(self, channel: str, message: Json) -> None:
        """Add a message or write a changed one; a reply is counted on its parent."""
        held = self.messages[channel]
        if self.message(channel, message["ts"]) is None:
            insort(held, message, key=_ts)
            self._count_replies(channel, message)
        self._save_message(channel, message)
        self.on_change()

    def remove_message(self, channel: str, message: Json) -> None:
        """Delete a message; its thread is counted again."""
        self.messages[channel].remove(message)
        self._persist.remove("message", f"{channel}:{message['ts']}")
        self._count_replies(channel, message)
        self.on_change()

    def replies(self, channel: str, thread_ts: str) -> list[Json]:
        """The messages of a thread, oldest first, without its parent."""
        return [
            one
            for one in self.messages.get(channel, ())
            if one.get("thread_ts") == thread_ts and one["ts"] != thread_ts
        ]

    def _count_replies(self, channel: str, reply: Json) -> None:
        thread_ts = reply.get("thread_ts")
        parent = self.message(channel, thread_ts) if thread_ts else None
        if parent is None or parent is reply:
            return
        replies = self.replies(channel, parent["ts"])
        for key in ("thread_ts", "reply_count", "reply_users", "reply_users_count", "latest_reply"):
            parent.pop(key, None)
        if replies:
            users = list(dict.fromkeys(one["user"] for one in replies))
            parent.update(
                thread_ts=parent["ts"],
                reply_count=len(replies),
                reply_users=users,
                reply_users_count=len(users),
                latest_reply=replies[-1]["ts"],
            )
        self._save_message(channel, parent)

    def _save_message(self, channel: str, message: Json) -> None:
        self._persist.save("message", f"{channel}:{message['ts']}", message)

    def put_file(self, file: StoredFile) -> None:
        """Keep a file whose upload is complete; a half-done one is forgotten with the process."""
        self.files[file.id] = file
        self._persist.save("file", file.id, _file_json(file))

    def remove_file(self, file_id: str) -> None:
        """Forget a file; messages that shared it keep their words."""
        del self.files[file_id]
        self._persist.remove("file", file_id)
        self.on_change()

    # What belongs to one person

    def put_ephemeral(self, ephemeral: Ephemeral) -> None:
        """Add a message for one person."""
        self.ephemerals.append(ephemeral)
        self.on_change()

    def ephemeral(self, channel: str, ts: str) -> Ephemeral | None:
        """The ephemeral message with this ts in a channel, whoever sees it, or None."""
        found = (one for one in self.ephemerals if one.channel == channel and one.message["ts"] == ts)
        return next(found, None)

    def remove_ephemeral(self, ephemeral: Ephemeral) -> None:
        """Delete a message for one person."""
        self.ephemerals.remove(ephemeral)
        self.on_change()

    def put_home(self, user: str, view: Json) -> None:
        """Set somebody's home tab, in the form of `open_views.stored`."""
        self.homes[user] = view
        self._persist.save("home", user, view)
        self.on_change()


def _file_json(file: StoredFile) -> Json:
    return {**asdict(file), "content": b64encode(file.content).decode()}


def _ts(message: Json) -> str:
    ts: str = message["ts"]
    return ts
