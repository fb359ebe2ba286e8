"""What a person does with a message: use its buttons, menus and pickers, or a shortcut of its own menu.

A shortcut is picked from what the client shows: on a message the person can see, and not on an ephemeral one.
"""

from __future__ import annotations

from typing import Any

from sandbox.slack.block_kit import input_values, stored_blocks
from sandbox.slack.delivery import Parcel, payloads
from sandbox.slack.errors import BadAct
from sandbox.slack.interactions.actors import find_channel, find_person, outcome, response_url
from sandbox.slack.json_object import Json
from sandbox.slack.state import Person
from sandbox.slack.workspace import Workspace

CLICK_FAILED = "This app is not responding. Try again in a moment."


async def click_message(
    workspace: Workspace,
    user: str,
    channel_key: str,
    ts: str,
    block_id: str | None,
    action_id: str,
    value: Any,
) -> Json:
    """Use a button, menu or picker of a message; `value` is what was chosen, as plain JSON.

    Answers an outcome. Raises BadAct for a message that this person cannot see, and for what is not in it.
    Source: https://docs.slack.dev/interactivity/handling-user-interaction
    """
    who = find_person(workspace, user)
    where = find_channel(workspace, who, channel_key)
    hidden = workspace.store.ephemeral(where.id, ts)
    if hidden is not None and hidden.user != who.id:
        raise BadAct(f"only {hidden.user} sees that message")
    message = hidden.message if hidden else workspace.store.message(where.id, ts)
    if message is None:
        raise BadAct(f"there is no message {ts} in {where.name}")
    placed = _placed(message.get("blocks") or [], action_id, block_id)
    entry = chosen(placed.element, value, {})
    values = _message_values(message, placed, entry)
    payload = payloads.message_action(
        who,
        where,
        message,
        input_values.action(placed.block_id, placed.element, entry, workspace.ids.ts()),
        is_ephemeral=hidden is not None,
        values=values,
        trigger_id=workspace.triggers.issue(who.id),
        response_url=response_url(workspace, who, where, message),
    )
    return await send_click(workspace, who, payload, placed)


def _placed(held: list[Json], action_id: str, block_id: str | None) -> stored_blocks.Placed:
    placed = stored_blocks.find(held, action_id, block_id)
    if placed is None:
        raise BadAct(f"there is no element {action_id!r} there")
    return placed


def chosen(element: Json, value: Any, suggested: dict[str, Json]) -> Json | None:
    """The state an element takes from a click; a button has none."""
    if element["type"] == "overflow" and value is None:
        raise BadAct("selected_option is missing: say which entry of the menu")
    if element["type"] == "feedback_buttons":
        return input_values.feedback(element, value)
    if element["type"] in input_values.STATELESS - {"overflow"}:
        return None
    return input_values.state(element, value, suggested)


def _message_values(message: Json, placed: stored_blocks.Placed, entry: Json | None) -> Json:
    values: Json = {}
    for other in stored_blocks.elements(message["blocks"]):
        if other.element["type"] not in input_values.STATELESS:
            values.setdefault(other.block_id, {})[other.action_id] = input_values.initial_state(other.element)
    if entry is not None and placed.element["type"] not in input_values.STATELESS:
        values[placed.block_id][placed.action_id] = entry
    return values


async def send_click(workspace: Workspace, who: Person, payload: Json, placed: stored_blocks.Placed) -> Json:
    """Deliver a `block_actions` payload and answer its outcome.

    A link button opens its link in Slack whatever the app says, which nothing here has to do.
    """
    if not workspace.manifest.interactive:
        workspace.toast(who.id, CLICK_FAILED)
        return {"acked": False, "ack_ms": None, "reason": "interactivity_not_enabled"}
    summary = f"{who.name} used {placed.action_id}"
    ack = await workspace.delivery.send(Parcel("interactive", "block_actions", payload, False, summary))
    if not ack.acked:
        workspace.toast(who.id, CLICK_FAILED)
    return outcome(ack)


async def use_shortcut(workspace: Workspace, user: str, channel_key: str, ts: str, callback_id: str) -> Json:
    """Use a shortcut, named by `callback_id`, on a message.

    Answers an outcome. Raises BadAct for a message that this person cannot see, an ephemeral one, and a shortcut
    that the manifest does not declare.
    """
    who = find_person(workspace, user)
    where = find_channel(workspace, who, channel_key)
    if workspace.store.ephemeral(where.id, ts) is not None:
        raise BadAct("Slack offers no shortcuts on a message that only one person sees")
    message = workspace.store.message(where.id, ts)
    if message is None:
        raise BadAct(f"there is no message {ts} in {where.name}")
    declared = workspace.manifest.shortcut(callback_id, "message")
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


async def use_global_shortcut(workspace: Workspace, user: str, callback_id: str) -> Json:
    """Use a shortcut, named by `callback_id`, from Slack's own menu, where no message and no channel belongs to it.

    Answers an outcome. Raises BadAct for a shortcut that the manifest does not declare.
    """
    who = find_person(workspace, user)
    declared = workspace.manifest.shortcut(callback_id, "global")
    if declared is None:
        raise BadAct(f"the manifest declares no global shortcut {callback_id!r}")
    if not workspace.manifest.interactive or "commands" not in workspace.manifest.scopes:
        workspace.toast(who.id, CLICK_FAILED)
        return {"acked": False, "ack_ms": None, "reason": "interactivity_not_enabled"}
    payload = payloads.global_shortcut(
        declared.callback_id, who, action_ts=workspace.ids.ts(), trigger_id=workspace.triggers.issue(who.id)
    )
    parcel = Parcel("interactive", "shortcut", payload, False, f"{who.name} used {declared.name}")
    ack = await workspace.delivery.send(parcel)
    if not ack.acked:
        workspace.toast(who.id, CLICK_FAILED)
    return outcome(ack)
