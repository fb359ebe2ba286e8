"""The payloads of envelopes, key by key: what Slack sends about commands, interactions and events.

Deviation: `message` in a block_actions payload is the message as stored, without Slack's
`attachments` and `files` details.
"""

from __future__ import annotations

from copy import deepcopy

from sandbox.slack.json_object import Json
from sandbox.slack.state import (
    APP_ID,
    BOT_USER,
    TEAM_DOMAIN,
    TEAM_ID,
    VERIFICATION_TOKEN,
    Channel,
    Command,
    Person,
    View,
)


def team() -> Json:
    """The workspace as interactions name it: `{id, domain}`."""
    return {"id": TEAM_ID, "domain": TEAM_DOMAIN}


def channel_ref(channel: Channel) -> Json:
    """A channel as interactions name it: `{id, name}`."""
    return {"id": channel.id, "name": channel_name(channel)}


def channel_name(channel: Channel) -> str:
    """The name in payloads: Slack calls every direct message by one name, and hides private ones."""
    if channel.is_im:
        return "directmessage"
    return "privategroup" if channel.is_private else channel.name


def slash_command(
    command: Command, text: str, person: Person, channel: Channel, trigger_id: str, response_url: str
) -> Json:
    """A command: what a form with these fields says over HTTP. `text` is what follows the command.

    Source: https://docs.slack.dev/interactivity/implementing-slash-commands
    """
    return {
        "token": VERIFICATION_TOKEN,
        "team_id": TEAM_ID,
        "team_domain": TEAM_DOMAIN,
        "channel_id": channel.id,
        "channel_name": channel_name(channel),
        "user_id": person.id,
        "user_name": person.name,
        "command": command.command,
        "text": text,
        "api_app_id": APP_ID,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": trigger_id,
    }


def _interaction(kind: str, person: Person) -> Json:
    return {
        "type": kind,
        "team": team(),
        "user": {
            "id": person.id,
            "username": person.name,
            "name": person.name,
            "team_id": person.team_id,
        },
        "api_app_id": APP_ID,
        "token": VERIFICATION_TOKEN,
        "enterprise": None,
        "is_enterprise_install": False,
    }


def message_action(
    person: Person,
    channel: Channel,
    message: Json,
    action: Json,
    *,
    is_ephemeral: bool,
    values: Json,
    trigger_id: str,
    response_url: str,
) -> Json:
    """`block_actions` from a message. Of an ephemeral one Slack sends only where it was, not its content.

    `action` is the entry of `actions`, `values` the state of the message's inputs by block id and action id.
    Source: https://docs.slack.dev/reference/interaction-payloads/block_actions-payload
    """
    container = {
        "type": "message",
        "message_ts": message["ts"],
        "channel_id": channel.id,
        "is_ephemeral": is_ephemeral,
    }
    if message.get("thread_ts"):
        container["thread_ts"] = message["thread_ts"]
    payload = {
        **_interaction("block_actions", person),
        "trigger_id": trigger_id,
        "container": container,
        "channel": channel_ref(channel),
        "state": {"values": values},
        "response_url": response_url,
        "actions": [action],
    }
    if not is_ephemeral:
        payload["message"] = deepcopy({key: value for key, value in message.items() if key != "metadata"})
    return payload


def message_shortcut(
    callback_id: str,
    person: Person,
    channel: Channel,
    message: Json,
    *,
    action_ts: str,
    trigger_id: str,
    response_url: str,
) -> Json:
    """`message_action`: a shortcut used on a message, whose content is in it, whoever wrote it.

    Source: https://docs.slack.dev/reference/interaction-payloads
    """
    interaction = _interaction("message_action", person)
    del interaction["user"]["username"], interaction["api_app_id"]
    return {
        **interaction,
        "callback_id": callback_id,
        "trigger_id": trigger_id,
        "response_url": response_url,
        "message_ts": message["ts"],
        "channel": channel_ref(channel),
        "message": deepcopy({key: value for key, value in message.items() if key != "metadata"}),
        "action_ts": action_ts,
    }


def global_shortcut(callback_id: str, person: Person, *, action_ts: str, trigger_id: str) -> Json:
    """`shortcut`: one used from Slack's own menu.

    Source: https://docs.slack.dev/reference/interaction-payloads/shortcuts-interaction-payload
    """
    interaction = _interaction("shortcut", person)
    del interaction["api_app_id"]
    return {**interaction, "callback_id": callback_id, "trigger_id": trigger_id, "action_ts": action_ts}


def view_action(person: Person, view: View, action: Json, trigger_id: str) -> Json:
    """`block_actions` from a modal or a home tab; `action` is the entry of `actions`.

    Source: https://docs.slack.dev/reference/interaction-payloads/block_actions-payload
    """
    return {
        **_interaction("block_actions", person),
        "trigger_id": trigger_id,
        "container": {"type": "view", "view_id": view.id},
        "view": view.as_json(),
        "actions": [action],
    }


def view_submission(person: Person, view: View, values: Json, trigger_id: str) -> Json:
    """`view_submission`: a modal was submitted with `values`, by block id and action id.

    Source: https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload
    """
    return {
        **_interaction("view_submission", person),
        "trigger_id": trigger_id,
        "view": view.as_json(values),
        "response_urls": [],
    }


def view_closed(person: Person, view: View, *, is_cleared: bool) -> Json:
    """`view_closed`: a modal was closed; `is_cleared` when the whole stack was.

    Source: https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload
    """
    return {**_interaction("view_closed", person), "view": view.as_json(), "is_cleared": is_cleared}


def block_suggestion(person: Person, view: View, block_id: str, action_id: str, value: str) -> Json:
    """`block_suggestion`: `value` was typed into an external select of a view.

    Source: https://docs.slack.dev/reference/interaction-payloads
    """
    interaction = _interaction("block_suggestion", person)
    del interaction["user"]["username"]
    return {
        **interaction,
        "container": {"type": "view", "view_id": view.id},
        "view": view.as_json(),
        "block_id": block_id,
        "action_id": action_id,
        "value": value,
    }


def event_callback(event: Json, event_id: str, event_time: int, *, is_ext_shared: bool) -> Json:
    """The envelope of an event: `event` inside, `event_time` in seconds.

    Source: https://docs.slack.dev/apis/events-api
    """
    return {
        "token": VERIFICATION_TOKEN,
        "team_id": TEAM_ID,
        "api_app_id": APP_ID,
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": event_time,
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": TEAM_ID,
                "user_id": BOT_USER,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": is_ext_shared,
    }
