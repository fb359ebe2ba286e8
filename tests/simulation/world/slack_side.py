"""Slack of one world: its workspace, the calls that reach it, and what it sends to the bot."""

from __future__ import annotations

import asyncio
import json
import random
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.webhook import WebhookResponse

from sandbox.slack.clock import Clock as SlackClock
from sandbox.slack.control import workspace_admin
from sandbox.slack.web_api import METHODS, WebApi, files, response_url
from sandbox.slack.workspace import Options, Workspace
from tests.simulation.network import SLACK_TIMEOUT_S, SlackRequest, as_the_sdk_raises_it
from tests.simulation.world.furniture import slack_manifest
from tests.simulation.world.names import APPROVALS, DAVE, GUEST, OPS, SLACK_URL, START, Json
from tests.support.posted_ids import PostedIds

if TYPE_CHECKING:
    from tests.simulation.world.world import World


class SlackSide:
    """The workspace of one world, and its ways in and out."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.workspace = self._furnish(seed)
        self.posted = PostedIds(self.workspace.store)
        self._web_api = WebApi(self.workspace, METHODS)

    async def answer(self, request: SlackRequest, path: str) -> Any:
        sent: Any = request
        if path.startswith("/upload/"):
            sent.match_info = {"file_id": path.rpartition("/")[2]}
            return await files.upload(self.workspace, sent)
        return await self._web_api.handle(sent)

    def _furnish(self, seed: int) -> Workspace:
        clock = SlackClock(lambda: START.timestamp() + self.world.loop.time())
        workspace = Workspace(Options(seed=1), clock, slack_manifest(), random.Random(f"slack {seed}"))
        workspace.own_url = SLACK_URL
        workspace.delivery.transport = SlackDoor(self.world)
        workspace_admin.change_person(workspace, {"id": DAVE, "name": "dave", "real_name": "Dave Lindqvist"})
        guest = {"id": GUEST, "name": "gustav", "real_name": "Gustav Guest", "is_restricted": True}
        workspace_admin.change_person(workspace, guest)
        for channel in (OPS, APPROVALS):
            there = workspace.store.channels[channel].members
            workspace_admin.change_channel(workspace, {"id": channel, "members": [*there, DAVE]})
        return workspace

    async def respond(self, url: str, body: Json) -> WebhookResponse:
        """An answer of the bot to a response URL of Slack's."""
        content = ("application/json", json.dumps(body))
        request: Any = SlackRequest("POST", {"secret": url.rpartition("/")[2]}, {}, content)

        async def arrive() -> Any:
            return await response_url.handle(self.workspace, request)

        with as_the_sdk_raises_it():
            async with asyncio.timeout(SLACK_TIMEOUT_S):
                answer = await self.world.network.carry(
                    "Slack", "response_url", arrive, lambda a: str(a.status)
                )
        return WebhookResponse(url=url, status_code=answer.status, body=answer.text or "", headers={})


@dataclass
class SlackDoor:
    """How Slack reaches the bot: envelopes into the Bolt app of the process that is up, as in Socket Mode."""

    world: World
    effects: frozenset[str] = frozenset({"delay", "lost_ack", "duplicate"})
    lost: set[str] = field(default_factory=set)

    @property
    def connections(self) -> int:
        bot = self.world.bot
        return 1 if bot is not None and bot.ready else 0

    async def deliver(self, envelope: Json, fault: Any) -> bool:
        bot = self.world.bot
        if bot is None or bot.bolt is None:
            return False
        self.world.loop.spawn(bot.owner, self._dispatch(bot.bolt, deepcopy(envelope)))
        return True

    async def _dispatch(self, bolt: AsyncApp, envelope: Json) -> None:
        request = AsyncBoltRequest(mode="socket_mode", body=envelope["payload"], headers={})
        answer = await bolt.async_dispatch(request)
        if answer.status != 200:
            return
        payload = None
        if answer.body:
            json_body = answer.headers.get("content-type", [""])[0].startswith("application/json")
            payload = json.loads(answer.body) if json_body else {"text": answer.body}
        self.world.slack.delivery.acknowledge(envelope["envelope_id"], payload)

    async def fall_silent(self, seconds: float) -> None: ...

    async def disconnect(self, reason: str) -> None: ...

    def reset(self) -> None: ...

    async def close(self) -> None: ...
