"""Message shortcuts: a person opens the menu of a message and picks one that the app declared.

A person picks only what their client shows them: a message they can see, and not an ephemeral one.
"""

from __future__ import annotations

from sandbox.slack.delivery import Parcel, payloads
from sandbox.slack.errors import BadAct
from sandbox.slack.interactions import CLICK_FAILED, channel, outcome, person, response_url
from sandbox.slack.json_object import Json
from sandbox.slack.workspace import Workspace


async def on_message(workspace: Workspace, user: str, channel_key: str, ts: str, callback_id: str) -> Json:
    """Somebody uses a shortcut on a message."""
    who = person(workspace, user)
    where = channel(workspace, who, channel_key)
    if workspace.store.ephemeral(where.id, ts) is not None:
        raise BadAct("Slack offers no shortcuts on a message that only one person sees")
    message = workspace.store.message(where.id, ts)
    if message is None:
        raise BadAct(f"there is no message {ts} in {where.name}")
    declared = workspace.manifest.message_shortcut(callback_id)
    if declared is None:
        raise BadAct(f"the manifest declares no message shortcut {callback_id!r}")
    if not workspace.manifest.interactive or "commands" not in workspace.manifest.scopes:
        workspace.toast(who.id, CLICK_FAILED)
        return {"acked": False, "ack_ms": None, "reason": "interactivity_not_enabled"}
    payload = payloads.message_shortcut(
        declared.callback_id,
        who,
        where,
        message,
        action_ts=workspace.ids.ts(),
        trigger_id=workspace.triggers.issue(who.id),
        response_url=response_url(workspace, who, where, message),
    )
    summary = f"{who.name} used {declared.name}"
    ack = await workspace.delivery.send(Parcel("interactive", "message_action", payload, False, summary))
    if not ack.acked:
        workspace.toast(who.id, CLICK_FAILED)
    return outcome(ack)
