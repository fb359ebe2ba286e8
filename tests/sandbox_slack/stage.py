"""A running stand-in with Slack's own Bolt app connected to it, and the people who use it."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from aiohttp import ClientSession
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.slack import Options, Running, serve

Json = dict[str, Any]

MANIFEST: Json = {
    "display_information": {"name": "Countersign"},
    "features": {
        "app_home": {"home_tab_enabled": True, "messages_tab_enabled": True},
        "agent_view": {"suggested_prompts": [{"title": "Float", "message": "what's our float"}]},
        "bot_user": {"display_name": "Countersign"},
        "shortcuts": [
            {"name": "Ask about this", "type": "message", "callback_id": "ask", "description": "Ask"}
        ],
        "slash_commands": [
            {"command": "/card", "description": "Cards", "usage_hint": "topup [CARD]"},
            {"command": "/who", "description": "Who", "should_escape": True},
        ],
    },
    "oauth_config": {
        "scopes": {
            "bot": [
                "app_mentions:read", "channels:history", "channels:read", "chat:write", "commands",
                "files:write", "im:history", "im:write", "usergroups:read", "users:read",
            ]
        }
    },
    "settings": {
        "event_subscriptions": {
            "bot_events": ["app_home_opened", "app_mention", "message.im", "subteam_members_changed"]
        },
        "interactivity": {"is_enabled": True},
        "socket_mode_enabled": True,
    },
}  # fmt: skip


class Stage:
    """`async with Stage(folder) as stage`: the stand-in runs and the Bolt app is connected."""

    def __init__(
        self,
        folder: Path,
        *,
        manifest: Json | None = None,
        options: Options | None = None,
        wire: Callable[[AsyncApp], None] = lambda app: None,
        connect: bool = True,
    ) -> None:
        self._manifest = folder / "manifest.json"
        self._manifest.write_text(json.dumps(manifest or MANIFEST))
        self._options = options or Options()
        self._wire = wire
        self._connect = connect
        self.running: Running
        self.app: AsyncApp
        self.client: AsyncWebClient
        self.handler: AsyncSocketModeHandler
        self._http: ClientSession

    async def __aenter__(self) -> "Stage":
        self.running = await serve(port=0, manifest_path=self._manifest, options=self._options)
        self._http = ClientSession()
        self.client = AsyncWebClient(self.running.bot_token, base_url=self.running.api_url)
        self.client.retry_handlers.clear()
        self.app = AsyncApp(
            name="slack_bolt.stage",
            client=self.client,
            signing_secret=self.running.signing_secret,
            process_before_response=True,
        )
        self._wire(self.app)
        self.handler = AsyncSocketModeHandler(self.app, self.running.app_token)
        if self._connect:
            await self.connect()
        return self

    async def connect(self) -> None:
        """Open the Socket Mode connection."""
        connect: Callable[[], Awaitable[None]] = self.handler.connect_async
        await connect()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        close: Callable[[], Awaitable[None]] = self.handler.close_async
        await close()
        await self._http.close()
        await self.running.close()

    async def post(self, call: str, status: int = 200, **fields: Any) -> Json:
        """A control call; fails when the status is another one."""
        async with self._http.post(f"{self.running.url}/_control/{call}", json=fields) as answer:
            body: Json = await answer.json()
            assert answer.status == status, body
            return body

    async def act(self, act: str, **fields: Any) -> Json:
        """What a person does; answers the outcome."""
        outcome: Json = (await self.post(f"act/{act}", **fields))["outcome"]
        return outcome

    async def state(self) -> Json:
        async with self._http.get(f"{self.running.url}/_control/state") as answer:
            body: Json = await answer.json()
            return body

    async def see(self, user: str) -> Json:
        async with self._http.get(f"{self.running.url}/_control/see", params={"user": user}) as answer:
            body: Json = await answer.json()
            return body

    async def messages(self, user: str, channel: str) -> list[Json]:
        """The messages of a channel as this person sees them."""
        seen = await self.see(user)
        found: list[Json] = next(one["messages"] for one in seen["channels"] if one["id"] == channel)
        return found

    async def api(self, method: str, **args: Any) -> Json:
        """A Web API call as JSON with the bot's token, whatever it answers."""
        headers = {"Authorization": f"Bearer {self.running.bot_token}"}
        async with self._http.post(f"{self.running.api_url}{method}", json=args, headers=headers) as answer:
            body: Json = await answer.json()
            return {**body, "_status": answer.status, "_headers": dict(answer.headers)}

    async def respond(self, url: str, **body: Any) -> tuple[int, str]:
        """Use a response URL."""
        async with self._http.post(url, json=body) as answer:
            return answer.status, await answer.text()

    def http(self) -> ClientSession:
        return self._http


def text(words: str) -> Json:
    return {"type": "plain_text", "text": words}


def modal(*blocks: Json, **fields: Any) -> Json:
    return {
        "type": "modal",
        "callback_id": "form",
        "title": text("Top up"),
        "submit": text("Send"),
        "blocks": list(blocks),
        **fields,
    }


def amount_input(**element: Any) -> Json:
    inner = {"type": "plain_text_input", "action_id": "value", **element}
    return {"type": "input", "block_id": "amount", "label": text("Amount"), "element": inner}


def button(action_id: str = "approve", **fields: Any) -> Json:
    inner = {"type": "button", "text": text("Approve"), "action_id": action_id, "value": "R-1", **fields}
    return {"type": "actions", "block_id": "row", "elements": [inner]}
