"""Slack in the same process: its calls are answered from a table of people, and what anybody was shown is kept.

The Bolt app and every listener are the real ones; a payload goes in as Slack would send it, without a socket
between, so that thousands of cells take seconds. That Slack's own payloads look like these is held by
`tests/sandbox_slack`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from slack_sdk.webhook import WebhookResponse
from slack_sdk.webhook.async_client import AsyncWebhookClient

Json = dict[str, Any]
HOME = "T0SANDBOX"
_BOT = {"user_id": "U0BOT", "bot_id": "B0BOT", "team_id": HOME, "url": "https://sandbox.slack.com/"}


@dataclass
class SlackAtHand:
    """`people`: user objects by id, `groups`: members by handle. `shown`: (person or channel, what they see)."""

    people: dict[str, Json] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    shown: list[tuple[str, Any]] = field(default_factory=list)
    app: AsyncApp = field(
        default_factory=lambda: AsyncApp(
            client=AsyncWebClient("xoxb-none"), name="cells", process_before_response=True
        )
    )
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    def patch(self, patch: pytest.MonkeyPatch) -> None:
        """Answer every call of Slack's SDK from here on. Bolt copies its client, so the class is patched."""
        this = self

        async def api_call(_: AsyncWebClient, api_method: str, **how: Any) -> AsyncSlackResponse:
            sent = {**(how.get("params") or {}), **(how.get("data") or {}), **(how.get("json") or {})}
            return this._answer(api_method, sent)

        async def send_dict(
            _: AsyncWebhookClient, body: Json, headers: Mapping[str, str] | None = None
        ) -> WebhookResponse:
            this.shown.append(("", body))
            return WebhookResponse(url="", status_code=200, body="ok", headers={})

        patch.setattr(AsyncWebClient, "api_call", api_call)
        patch.setattr(AsyncWebhookClient, "send_dict", send_dict)

    def _answer(self, method: str, sent: Json) -> AsyncSlackResponse:
        found: Json = {}
        match method:
            case "auth.test":
                found = _BOT
            case "users.info" if sent["user"] == _BOT["user_id"]:
                found = {
                    "user": {"id": _BOT["user_id"], "name": "countersign", "team_id": HOME, "is_bot": True}
                }
            case "users.info":
                if sent["user"] not in self.people:
                    return self._made(method, {"ok": False, "error": "user_not_found"})
                found = {"user": self.people[sent["user"]]}
            case "usergroups.list":
                found = {"usergroups": [self._group(h, m) for h, m in self.groups.items()]}
            case "views.open" | "views.update" | "views.push" | "views.publish":
                self.shown.append((str(sent.get("user_id", "")), sent["view"]))
                found = {"view": {"id": sent.get("view_id") or f"V{next(self._numbers)}"}}
            case "chat.postEphemeral":
                self.shown.append((sent["user"], sent))
                found = {"message_ts": "1.0"}
            case "chat.postMessage":
                self.shown.append((sent["channel"].removeprefix("D-"), sent))
                found = {"ts": "1.0", "channel": sent["channel"]}
            case "conversations.open":
                found = {"channel": {"id": f"D-{sent['users']}"}}
            case "assistant.threads.setStatus" | "assistant.threads.setSuggestedPrompts":
                pass
            case _:
                raise AssertionError(f"a cell called {method}, which is not answered here")
        return self._made(method, {"ok": True, **found})

    def _group(self, handle: str, members: list[str]) -> Json:
        return {
            "id": f"S0{handle.upper().replace('-', '')}",
            "handle": handle,
            "users": members,
            "date_delete": 0,
        }

    def _made(self, method: str, data: Json) -> AsyncSlackResponse:
        made = AsyncSlackResponse(
            client=None, http_verb="POST", api_url=method, req_args={}, data=data, headers={}, status_code=200
        )
        if not data["ok"]:
            raise SlackApiError(data["error"], made)  # type: ignore[no-untyped-call]  # the SDK does not annotate it
        return made

    # what people do

    async def command(self, user: str, text: str, channel: str) -> None:
        """A slash command, with its `/`."""
        name, _, rest = text.partition(" ")
        await self._in(
            {
                "command": name, "text": rest, "user_id": user, "user_name": user.lower(), "channel_id": channel,
                "channel_name": "general", "team_id": self._team(user), "team_domain": "sandbox", "api_app_id": "A0",
                "is_enterprise_install": "false", "trigger_id": self._trigger(), "token": "none",
                "response_url": "https://hooks.slack.com/commands/none",
            }
        )  # fmt: skip

    async def press(self, user: str, action_id: str, value: str, channel: str) -> None:
        """A button: on a message in a channel, a direct message, a thread (`C…/thread`), a modal or on Home."""
        place, _, thread = channel.partition("/")
        action: Json = {
            "action_id": action_id,
            "block_id": "actions",
            "type": "button",
            "value": value,
            "action_ts": "1.0",
        }
        if action_id == "request:more":
            action |= {"type": "overflow", "selected_option": {"value": value, "text": {}}}
        body = {**self._who(user), "type": "block_actions", "actions": [action]}
        if place == "home":
            body |= {"view": {"id": "V0", "type": "home"}, "container": {"type": "view", "view_id": "V0"}}
        elif place == "modal":
            view = {"id": "V0", "type": "modal", "title": {"text": "Rows"}, "private_metadata": ""}
            body |= {"view": view, "container": {"type": "view", "view_id": "V0"}}
        else:
            message = {"ts": "2.0", "text": "as it was", **({"thread_ts": "1.0"} if thread else {})}
            body |= {
                "channel": {"id": place, "name": "a-channel"}, "message": message,
                "container": {"type": "message", "message_ts": "2.0", "channel_id": place, "is_ephemeral": False},
                "response_url": "https://hooks.slack.com/actions/none",
            }  # fmt: skip
        await self._in(body)

    async def submit(self, user: str, callback_id: str, meta: Json, values: Json | None = None) -> None:
        """A modal's submit button."""
        view = {
            "id": "V0", "type": "modal", "callback_id": callback_id, "title": {"type": "plain_text", "text": "Modal"},
            "private_metadata": json.dumps(meta), "state": {"values": values or {}}, "blocks": [],
        }  # fmt: skip
        await self._in({**self._who(user), "type": "view_submission", "view": view})

    async def say(self, user: str, text: str, channel: str) -> None:
        """A mention in a channel, or a direct message."""
        place, _, thread = channel.partition("/")
        direct = place.startswith("D")
        event: Json = {
            "type": "message" if direct else "app_mention", "user": user, "channel": place, "ts": "3.0",
            "text": text if direct else f"<@U0BOT> {text}", "team": self._team(user),
        }  # fmt: skip
        event |= {"channel_type": "im"} if direct else {}
        event |= {"thread_ts": "1.0"} if thread else {}
        await self._in(
            {
                "type": "event_callback", "event": event, "team_id": HOME, "api_app_id": "A0",
                "event_id": f"Ev{next(self._numbers)}", "event_time": 1, "token": "none",
                "authorizations": [{"team_id": HOME, "user_id": "U0BOT", "is_bot": True}],
            }
        )  # fmt: skip

    async def _in(self, body: Json) -> None:
        response = await self.app.async_dispatch(AsyncBoltRequest(mode="socket_mode", body=body))
        assert response.status == 200, response.body
        if response.body:
            self.shown.append(("", json.loads(response.body)))

    def _who(self, user: str) -> Json:
        team = self._team(user)
        return {
            "user": {"id": user, "username": user.lower(), "name": user.lower(), "team_id": team},
            "team": {"id": HOME, "domain": "sandbox"}, "api_app_id": "A0", "token": "none",
            "trigger_id": self._trigger(), "is_enterprise_install": False, "enterprise": None,
        }  # fmt: skip

    def _trigger(self) -> str:
        return f"{next(self._numbers)}.trigger"

    def _team(self, user: str) -> str:
        return str(self.people.get(user, {}).get("team_id", HOME))
