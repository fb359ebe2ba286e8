"""Who acts, where, and how the app took it: what every act of a person begins and ends with."""

from __future__ import annotations

import asyncio

from sandbox.slack.delivery import Ack
from sandbox.slack.errors import BadAct
from sandbox.slack.json_object import Json
from sandbox.slack.state import BOT_USER, Channel, Person
from sandbox.slack.workspace import Workspace


def find_person(workspace: Workspace, user: str) -> Person:
    """Who acts. Raises BadAct for somebody unknown, or the app itself."""
    found = workspace.store.people.get(user)
    if found is None:
        raise BadAct(f"there is no person {user!r}")
    if found.id == BOT_USER:
        raise BadAct("the app's own user does not act; use the Web API")
    return found


def find_channel(workspace: Workspace, who: Person, key: str) -> Channel:
    """Where they act. Raises BadAct for an unknown one, or somebody else's direct message."""
    found = workspace.store.channels.get(key) or workspace.store.channel_named(key)
    if found is None:
        raise BadAct(f"there is no channel {key!r}")
    if found.is_im and found.im_user != who.id:
        raise BadAct(f"{found.id} is somebody else's conversation")
    return found


def outcome(ack: Ack) -> Json:
    """How an envelope was taken: `{acked, ack_ms}` in milliseconds, with `reason` when there was no ack."""
    return {"acked": ack.acked, "ack_ms": ack.ack_ms, **({} if ack.acked else {"reason": ack.reason})}


def response_url(workspace: Workspace, who: Person, where: Channel, message: Json | None = None) -> str:
    """A fresh response URL for `who` in `where`, about `message` if there is one."""
    ts = message["ts"] if message else None
    thread_ts = message.get("thread_ts") if message else None
    secret = workspace.response_urls.issue(who.id, where.id, ts, thread_ts)
    return f"{workspace.base_url}/response/{secret}"


async def first_ack(tasks: list[asyncio.Task[Ack] | None]) -> Json:
    """How the app took what was sent; `delivered` false when it had declared none of it."""
    sent = [task for task in tasks if task is not None]
    if not sent:
        return {"delivered": False, "acked": False, "ack_ms": None}
    acks = await asyncio.gather(*sent)
    worst = next((ack for ack in acks if not ack.acked), acks[0])
    return {"delivered": True, **outcome(worst)}
