"""Events API: what happens in the workspace, sent to the app if its manifest declared it.

An event goes out only if it is declared and the scope it needs is declared too. Edits and
deletions by the app itself come back to it as `message_changed` and `message_deleted`, as in Slack.

Deviation: the limit of 30,000 events an hour (`app_rate_limited`) is not enforced.

Source: https://docs.slack.dev/apis/events-api and, for each event, https://docs.slack.dev/reference/events
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from sandbox.slack.clock import Clock
from sandbox.slack.delivery.envelopes import Ack, Delivery, Parcel
from sandbox.slack.delivery.payloads import event_callback
from sandbox.slack.ids import Ids
from sandbox.slack.json_object import Json
from sandbox.slack.state import TEAM_ID, Channel, Group, Manifest, Person, Views, user_json

#: The scope without which Slack would not let the app subscribe.
SCOPE_OF = {
    "app_mention": "app_mentions:read",
    "message.im": "im:history",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "user_change": "users:read",
    "subteam_members_changed": "usergroups:read",
    "message.mpim": "mpim:history",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
    "member_joined_channel": "channels:read",
    "member_left_channel": "channels:read",
    "channel_created": "channels:read",
    "channel_rename": "channels:read",
    "channel_archive": "channels:read",
    "channel_unarchive": "channels:read",
    "pin_added": "pins:read",
    "pin_removed": "pins:read",
    "subteam_created": "usergroups:read",
    "subteam_updated": "usergroups:read",
    "file_shared": "files:read",
    "file_deleted": "files:read",
    "team_join": "users:read",
    "link_shared": "links:read",
}


@dataclass(frozen=True)
class Events:
    """Makes events and hands them to `delivery`.

    Each method answers the task of the first attempt, which ends with the app's ack, or None when the app has
    not declared that event or is not in the channel."""

    manifest: Manifest
    clock: Clock
    ids: Ids
    views: Views
    delivery: Delivery

    def send(self, name: str, event: Json, channel: Channel | None = None) -> asyncio.Task[Ack] | None:
        """Send one event under its subscription name, such as `message.im`. `event` is the inner event, with its
        `type`; `channel` is where it happened, if anywhere."""
        needed = SCOPE_OF.get(name)
        if name not in self.manifest.events or (needed is not None and needed not in self.manifest.scopes):
            return None
        payload = event_callback(
            event,
            self.ids.fresh("Ev"),
            int(self.clock.now()),
            is_ext_shared=channel is not None and channel.is_ext_shared,
        )
        summary = f"{event['type']} {event.get('text', '')}".strip()
        return self.delivery.send_event(Parcel("events_api", name, payload, False, summary))

    def message_posted(self, channel: Channel, message: Json) -> asyncio.Task[Ack] | None:
        """`message`: a message appeared in `channel`, also the app's own.

        Metadata is left out (it needs a scope of its own)."""
        if not channel.bot_is_in:
            return None
        name, channel_type = _message_subscription(channel)
        event = {
            **_without_metadata(message),
            "channel": channel.id,
            "event_ts": message["ts"],
            "channel_type": channel_type,
        }
        return self.send(name, event, channel)

    def mentioned(self, channel: Channel, message: Json) -> asyncio.Task[Ack] | None:
        """`app_mention`: somebody wrote @app in a channel the app is in."""
        keys = ("user", "ts", "client_msg_id", "text", "team", "thread_ts", "blocks")
        event = {key: message[key] for key in keys if key in message}
        event |= {"type": "app_mention", "channel": channel.id, "event_ts": message["ts"]}
        return self.send("app_mention", event, channel)

    def message_changed(self, channel: Channel, message: Json, before: Json) -> None:
        """`message_changed`: a message was edited; `before` is what it was."""
        more = {"message": _without_metadata(message), "previous_message": _without_metadata(before)}
        self._hidden(channel, "message_changed", more)

    def message_deleted(self, channel: Channel, before: Json) -> None:
        """`message_deleted`: a message is gone; `before` is what it was."""
        more = {"deleted_ts": before["ts"], "previous_message": _without_metadata(before)}
        self._hidden(channel, "message_deleted", more)

    def _hidden(self, channel: Channel, subtype: str, more: Json) -> None:
        """A change is a message of its own, with a timestamp of its own."""
        if not channel.bot_is_in:
            return
        name, channel_type = _message_subscription(channel)
        ts = self.ids.ts()
        event = {
            "type": "message",
            "subtype": subtype,
            "hidden": True,
            "channel": channel.id,
            "channel_type": channel_type,
            "ts": ts,
            "event_ts": ts,
            **more,
        }
        self.send(name, event, channel)

    def reacted(
        self, kind: str, channel: Channel, message: Json, user: str, name: str
    ) -> asyncio.Task[Ack] | None:
        """`reaction_added` or `reaction_removed`: somebody's, also the app's own."""
        if not channel.bot_is_in:
            return None
        item = {"type": "message", "channel": channel.id, "ts": message["ts"]}
        event = {
            "type": kind,
            "user": user,
            "reaction": name,
            "item": item,
            "item_user": message.get("user", ""),
        }
        return self.send(kind, {**event, "event_ts": self.ids.ts()}, channel)

    def pinned(self, kind: str, channel: Channel, message: Json, user: str) -> None:
        """`pin_added` or `pin_removed`."""
        item = {"type": "message", "channel": channel.id, "message": _without_metadata(message)}
        event = {
            "type": kind,
            "user": user,
            "channel_id": channel.id,
            "item": item,
            "event_ts": self.ids.ts(),
        }
        self.send(kind, event, channel)

    def member(self, kind: str, channel: Channel, user: str, inviter: str = "") -> asyncio.Task[Ack] | None:
        """`member_joined_channel` or `member_left_channel`, of a channel that the app is in."""
        if not channel.bot_is_in:
            return None
        event: Json = {
            "type": kind,
            "user": user,
            "channel": channel.id,
            "channel_type": "G" if channel.is_private else "C",
            "team": TEAM_ID,
            "event_ts": self.ids.ts(),
            **({"inviter": inviter} if inviter else {}),
        }
        return self.send(kind, event, channel)

    def channel_changed(self, kind: str, channel: Channel) -> None:
        """`channel_created`, `channel_rename`, `channel_archive` or `channel_unarchive`, of a public channel."""
        if channel.is_private:
            return
        shown: Json = {"id": channel.id, "name": channel.name, "created": channel.created_at}
        if kind == "channel_created":
            shown["creator"] = channel.creator
        named = (
            {"channel": shown} if kind in ("channel_created", "channel_rename") else {"channel": channel.id}
        )
        actor = {} if named["channel"] is shown else {"user": channel.creator}
        self.send(kind, {"type": kind, **named, **actor, "event_ts": self.ids.ts()}, channel)

    def group_event(self, kind: str, shown: Json) -> None:
        """`subteam_created` or `subteam_updated`; `shown` is the user group."""
        self.send(kind, {"type": kind, "subteam": shown, "event_ts": self.ids.ts()})

    def file_event(self, kind: str, file_id: str, user: str, channel: Channel | None = None) -> None:
        """`file_shared` (into `channel`) or `file_deleted`."""
        where = {"channel_id": channel.id} if channel is not None else {}
        event = {"type": kind, "file_id": file_id, "file": {"id": file_id}, "user_id": user, **where}
        self.send(kind, {**event, "event_ts": self.ids.ts()}, channel)

    def person_joined(self, person: Person) -> None:
        """`team_join`: somebody is new in the workspace."""
        shown = user_json(person, self.clock.now(), with_email="users:read.email" in self.manifest.scopes)
        self.send("team_join", {"type": "team_join", "user": shown, "event_ts": self.ids.ts()})

    def links_shared(self, channel: Channel, message: Json) -> None:
        """`link_shared`: a message has links to domains that the manifest names (`features.unfurl_domains`)."""
        found = []
        written = str(message.get("text", "")).replace("&amp;", "&")
        for link in (one.rstrip(".,;:!?)'\"") for one in re.findall(r"https?://[^\s<>|]+", written)):
            host = urlsplit(link).hostname or ""
            domain = next(
                (one for one in self.manifest.unfurl_domains if host == one or host.endswith("." + one)), ""
            )
            if domain:
                found.append({"url": link, "domain": domain})
        if found:
            event = {"type": "link_shared", "user": message["user"], "channel": channel.id, "links": found}
            secret = hashlib.sha256(f"{channel.id} {message['ts']}".encode()).hexdigest()[:32]
            event |= {"message_ts": message["ts"], "source": "conversations_history"}
            event["unfurl_id"] = f"{channel.id}.{message['ts']}.{secret}"
            event |= {"is_bot_user_member": channel.bot_is_in, "event_ts": self.ids.ts()}
            self.send("link_shared", event, channel)

    def home_opened(self, person: Person, channel: Channel, tab: str) -> asyncio.Task[Ack] | None:
        """`app_home_opened`: somebody opened the app's `home` or `messages` tab; `channel` is their conversation
        with the app. The view is in it once the app has published one."""
        event: Json = {
            "type": "app_home_opened",
            "user": person.id,
            "channel": channel.id,
            "tab": tab,
            "event_ts": self.ids.ts(),
        }
        home = self.views.home(person.id)
        if tab == "home" and home is not None:
            event["view"] = home.as_json()
        return self.send("app_home_opened", event)

    def group_changed(self, group: Group, before: list[str], previous_update: int) -> None:
        """`subteam_members_changed`: the members of a user group are no longer `before` (user ids), which they
        had been since `previous_update` (seconds). Nothing is sent when they are the same."""
        added = [user for user in group.users if user not in before]
        removed = [user for user in before if user not in group.users]
        if not added and not removed:
            return
        event = {
            "type": "subteam_members_changed",
            "subteam_id": group.id,
            "team_id": TEAM_ID,
            "date_previous_update": previous_update,
            "date_update": group.updated_at,
            "added_users": added,
            "added_users_count": len(added),
            "removed_users": removed,
            "removed_users_count": len(removed),
            "event_ts": self.ids.ts(),
        }
        self.send("subteam_members_changed", event)

    def person_changed(self, person: Person) -> None:
        """`user_change`: something about a person changed."""
        now = self.clock.now()
        user = user_json(person, now, with_email="users:read.email" in self.manifest.scopes)
        user["profile"]["fields"] = []
        user["locale"] = "en-US"
        event = {
            "type": "user_change",
            "user": user,
            "cache_ts": int(now),
            "event_ts": self.ids.ts(),
        }
        self.send("user_change", event)


def _message_subscription(channel: Channel) -> tuple[str, str]:
    """The subscription name and the `channel_type` of messages there."""
    if channel.is_im:
        return "message.im", "im"
    if channel.is_mpim:
        return "message.mpim", "mpim"
    return ("message.groups", "group") if channel.is_private else ("message.channels", "channel")


def _without_metadata(message: Json) -> Json:
    """A message as events show it: metadata needs a subscription of its own."""
    return {key: value for key, value in message.items() if key != "metadata"}
