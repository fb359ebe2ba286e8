"""`POST /_control/…`: acting as people and changing the world. For the page and for tests.

JSON in and out. A field that is unknown, missing or of the wrong kind is a 400 that names it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from sandbox.slack import interactions
from sandbox.slack.control import workspace_admin
from sandbox.slack.control_fields import (
    Fields,
    Read,
    anything,
    boolean,
    list_of,
    listing,
    number,
    objects,
    one_of,
    take,
    text,
    texts,
    whole,
)
from sandbox.slack.delivery import REASONS, HttpTransport
from sandbox.slack.errors import BadAct
from sandbox.slack.faults import EFFECTS, FILE_DOWNLOAD, METHOD_EFFECTS, RESPONSE_URL
from sandbox.slack.interactions import composer, modals
from sandbox.slack.json_object import Json
from sandbox.slack.web_api import METHODS
from sandbox.slack.workspace import Workspace

Run = Callable[[Workspace, Json], Awaitable[Json]]
NOTHING = Fields()


@dataclass(frozen=True)
class ControlCall:
    """What a call takes, and what it does with that. Its first line of documentation is its summary."""

    fields: Fields
    run: Run

    async def __call__(self, workspace: Workspace, body: Json) -> Json:
        """The answer. Raises BadAct for a wrong body, and for what cannot be done."""
        return await self.run(workspace, take(body, self.fields))

    @property
    def summary(self) -> str:
        """What it does, in a line."""
        return (self.run.__doc__ or "").partition("\n")[0]


async def _command(workspace: Workspace, given: Json) -> Json:
    """Somebody sends a slash command."""
    done = await interactions.command(workspace, given["user"], given["channel"], given["text"])
    return {"ok": True, "outcome": done}


def _choice(given: Json) -> Any:
    """What was chosen: an option may be sent as its value or as the whole option."""
    if "selected_options" in given:
        return [_option_value(one) for one in given["selected_options"]]
    if "selected_option" in given:
        return _option_value(given["selected_option"])
    return given.get("value")


def _option_value(option: Any) -> Any:
    return option.get("value") if isinstance(option, dict) else option


async def _click(workspace: Workspace, given: Json) -> Json:
    """Somebody uses a button or menu, of a message or of a modal."""
    block_id, action_id, choice = given.get("block_id"), given["action_id"], _choice(given)
    if "view_id" in given:
        typed = given.get("values", {})
        done = await modals.click_view(
            workspace, given["user"], given["view_id"], block_id, action_id, choice, typed
        )
    elif "channel" in given and "ts" in given:
        done = await interactions.click_message(
            workspace, given["user"], given["channel"], given["ts"], block_id, action_id, choice
        )
    else:
        raise BadAct("say where: view_id, or channel and ts")
    return {"ok": True, "outcome": done}


async def _submit(workspace: Workspace, given: Json) -> Json:
    """Somebody submits a modal."""
    done = await modals.submit(workspace, given["user"], given["view_id"], given.get("values", {}))
    return {"ok": True, "outcome": done}


async def _close(workspace: Workspace, given: Json) -> Json:
    """Somebody closes a modal."""
    return {"ok": True, "outcome": await modals.close(workspace, given["user"], given["view_id"])}


async def _suggest(workspace: Workspace, given: Json) -> Json:
    """Somebody types into a menu whose options come from the app."""
    done = await modals.suggest(
        workspace, given["user"], given["view_id"], given["block_id"], given["action_id"], given["value"]
    )
    shown: Json = {key: done[key] for key in ("options", "option_groups") if key in done}
    return {"ok": True, "outcome": done, **shown}


async def _message(workspace: Workspace, given: Json) -> Json:
    """Somebody writes a message."""
    done = await interactions.write(
        workspace, given["user"], given["channel"], given["text"], given.get("thread_ts")
    )
    return {"ok": True, "outcome": done}


async def _upload(workspace: Workspace, given: Json) -> Json:
    """Somebody shares files."""
    done = await interactions.share_files(workspace, given["user"], given["channel"], given)
    return {"ok": True, "outcome": done}


async def _home(workspace: Workspace, given: Json) -> Json:
    """Somebody opens the app's Home or Messages tab."""
    return {
        "ok": True,
        "outcome": await interactions.open_home(workspace, given["user"], given.get("tab", "home")),
    }


async def _shortcut(workspace: Workspace, given: Json) -> Json:
    """Somebody uses a shortcut, of a message or a global one."""
    user, callback_id = given["user"], given["callback_id"]
    if "channel" not in given and "ts" not in given:
        return {"ok": True, "outcome": await interactions.use_global_shortcut(workspace, user, callback_id)}
    if "channel" not in given or "ts" not in given:
        raise BadAct("say which message: channel and ts; a global shortcut has neither")
    done = await interactions.use_shortcut(workspace, user, given["channel"], given["ts"], callback_id)
    return {"ok": True, "outcome": done}


async def _react(workspace: Workspace, given: Json) -> Json:
    """Somebody reacts to a message, or takes it back."""
    return workspace_admin.react(workspace, given)


async def _join(workspace: Workspace, given: Json) -> Json:
    """Somebody joins a channel, or the app is invited."""
    return workspace_admin.come_or_go(workspace, given, comes=True)


async def _leave(workspace: Workspace, given: Json) -> Json:
    """Somebody leaves a channel, or the app is removed."""
    return workspace_admin.come_or_go(workspace, given, comes=False)


async def _edit(workspace: Workspace, given: Json) -> Json:
    """A message is edited behind the app's back."""
    return workspace_admin.edit_message(workspace, given)


async def _delete(workspace: Workspace, given: Json) -> Json:
    """A message is deleted behind the app's back."""
    return workspace_admin.delete_message(workspace, given)


async def _people(workspace: Workspace, given: Json) -> Json:
    """Add a person, or change one."""
    return workspace_admin.change_person(workspace, given)


async def _groups(workspace: Workspace, given: Json) -> Json:
    """Set a user group, made if it is new."""
    return workspace_admin.change_group(workspace, given)


async def _channels(workspace: Workspace, given: Json) -> Json:
    """Add a channel, or change one."""
    return workspace_admin.change_channel(workspace, given)


async def _faults(workspace: Workspace, given: Json) -> Json:
    """The next call of the app, or what is sent to it, goes wrong."""
    method = given.get("method")
    envelopes = workspace.faults.envelopes
    if method is not None and method not in (*METHODS, RESPONSE_URL, FILE_DOWNLOAD, *envelopes):
        raise BadAct(
            f"method: {method!r} is neither a Web API method, {RESPONSE_URL} or {FILE_DOWNLOAD}, nor one of"
            f" {', '.join(sorted(envelopes))}"
        )
    possible = METHOD_EFFECTS | workspace.delivery.transport.effects
    if given["effect"] not in possible:
        raise BadAct(f"effect: {given['effect']!r} is not one of {', '.join(sorted(possible))}")
    return {"ok": True, "id": workspace.faults.add(given).id}


async def _clock(workspace: Workspace, given: Json) -> Json:
    """Move the clock on; what was scheduled for then is written."""
    try:
        workspace.clock.advance(given["advance_seconds"])
    except ValueError as error:
        raise BadAct(f"advance_seconds: {error}") from None
    workspace.store.clock_moved()
    workspace.post_due()
    return {"ok": True, "now": workspace.clock.now_iso()}


async def _disconnect(workspace: Workspace, given: Json) -> Json:
    """Slack ends the app's connections, and says why. By Socket Mode only."""
    if "disconnect" not in workspace.delivery.transport.effects:
        raise BadAct("the app is reached over HTTP: there is nothing to disconnect")
    await workspace.delivery.transport.disconnect(given.get("reason", "refresh_requested"))
    return {"ok": True}


async def _socket_mode(workspace: Workspace, given: Json) -> Json:
    """Turn Socket Mode of the app off, which ends its connections, or on again."""
    if "disconnect" not in workspace.delivery.transport.effects:
        raise BadAct("the app is reached over HTTP, not by Socket Mode")
    if given["enabled"]:
        workspace.sockets.is_on = True
    else:
        await workspace.sockets.disconnect("link_disabled")
    return {"ok": True}


async def _verify_url(workspace: Workspace, given: Json) -> Json:
    """Somebody saves the request URL: Slack sends it a challenge, and wants it back."""
    transport = workspace.delivery.transport
    if not isinstance(transport, HttpTransport):
        raise BadAct("the app is reached by Socket Mode: it has no request URL")
    reason = await transport.verify(workspace.ids.envelope_id())
    return {"ok": True, "verified": reason is None, "reason": reason}


async def _reset(workspace: Workspace, given: Json) -> Json:
    """The workspace as it was at the start, at the real time; connections and tokens stay."""
    workspace.reset()
    return {"ok": True}


SNAPSHOT_VERSION = 1


async def _snapshot(workspace: Workspace, given: Json) -> Json:
    """Everything as it was when the file was written, in this stand-in or in another; connections and tokens stay."""
    if given["half"] != "slack" or given["version"] != SNAPSHOT_VERSION:
        raise BadAct(f"half, version: a snapshot of slack of version {SNAPSHOT_VERSION} is wanted")
    try:
        workspace.read_in([(kind, key, body) for kind, key, body in given["content"]])
    except (KeyError, TypeError, ValueError) as error:
        raise BadAct(f"content: this is not what GET snapshot wrote ({error})") from None
    return {"ok": True}


#: Described with all there are; which of them this transport can have is said by the call.
FAULT_EFFECT = Read(text.take, {"type": "string", "enum": sorted(EFFECTS)})

CALLS: dict[str, ControlCall] = {
    "act/command": ControlCall(Fields(user=text, channel=text, text=text), _command),
    "act/click": ControlCall(
        Fields(user=text, action_id=text).optional(
            channel=text,
            ts=text,
            view_id=text,
            block_id=text,
            value=anything,
            selected_option=anything,
            selected_options=listing,
            values=objects,
        ),
        _click,
    ),
    "act/submit": ControlCall(Fields(user=text, view_id=text).optional(values=objects), _submit),
    "act/close": ControlCall(Fields(user=text, view_id=text), _close),
    "act/suggest": ControlCall(
        Fields(user=text, view_id=text, block_id=text, action_id=text, value=text), _suggest
    ),
    "act/message": ControlCall(Fields(user=text, channel=text, text=text).optional(thread_ts=text), _message),
    "act/upload": ControlCall(
        Fields(user=text, channel=text, files=list_of(composer.FILE)).optional(text=text, thread_ts=text),
        _upload,
    ),
    "act/home": ControlCall(Fields(user=text).optional(tab=one_of("home", "messages")), _home),
    "act/shortcut": ControlCall(
        Fields(user=text, callback_id=text).optional(channel=text, ts=text), _shortcut
    ),
    "act/react": ControlCall(
        Fields(user=text, channel=text, ts=text, name=text).optional(remove=boolean), _react
    ),
    "act/join": ControlCall(Fields(user=text, channel=text), _join),
    "act/leave": ControlCall(Fields(user=text, channel=text), _leave),
    "act/edit": ControlCall(Fields(channel=text, ts=text).optional(text=text, blocks=anything), _edit),
    "act/delete": ControlCall(Fields(channel=text, ts=text), _delete),
    "people": ControlCall(
        Fields().optional(
            id=text,
            name=text,
            real_name=text,
            is_restricted=boolean,
            is_ultra_restricted=boolean,
            is_stranger=boolean,
            is_bot=boolean,
            deleted=boolean,
            team_id=text,
            tz=text,
            email=text,
        ),
        _people,
    ),
    "groups": ControlCall(Fields(handle=text, users=texts).optional(name=text), _groups),
    "channels": ControlCall(
        Fields().optional(
            id=text, name=text, members=texts, archived=boolean, is_private=boolean, is_ext_shared=boolean
        ),
        _channels,
    ),
    "faults": ControlCall(
        Fields(effect=FAULT_EFFECT).optional(
            method=text, nth=whole, times=whole, error=text, seconds=number, reason=one_of(*REASONS)
        ),
        _faults,
    ),
    "clock": ControlCall(Fields(advance_seconds=number), _clock),
    "disconnect": ControlCall(Fields().optional(reason=one_of(*REASONS)), _disconnect),
    "socket_mode": ControlCall(Fields(enabled=boolean), _socket_mode),
    "verify_url": ControlCall(NOTHING, _verify_url),
    "reset": ControlCall(NOTHING, _reset),
    "snapshot": ControlCall(Fields(half=text, version=whole, content=listing), _snapshot),
}
