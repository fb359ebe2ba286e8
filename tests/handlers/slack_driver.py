"""The whole bot but its process: real Bolt app on the Slack stand-in, real core, real simulator.

People act through the stand-in's control calls; time is the test's. `settle` lets everything that is
under way come to rest.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

import handlers
from bot.domain.requests import Request
from bot.services.core import Core
from bot.services.messages import Outbox, request_links
from handlers.background_tasks import AfterAck
from handlers.slack_api import SlackDirectory, SlackPublisher
from sandbox.slack import Running, serve
from tests.support import type_ahead
from tests.support.waiting import eventually
from tests.support.world import World, a_world

MANIFEST = Path(__file__).parents[2] / "manifest.yml"
ALICE, BOB, CAROL = "U0ALICE", "U0BOB", "U0CAROL"
OPS, APPROVALS = "C0OPS", "C0APPROVALS"
Json = dict[str, Any]


@dataclass
class SlackDriver:
    """People, the bot and the world it acts on."""

    world: World
    slack: Running
    after: AfterAck
    client: AsyncWebClient
    socket: AsyncSocketModeHandler
    _http: httpx.AsyncClient
    outbox: Outbox = field(init=False)

    def __post_init__(self) -> None:
        self.world.built(self._build)

    def _build(self) -> None:
        """The listeners and the outbox around the core of now; the connection to Slack stays."""
        self.socket.app = listening(self.slack, self.client, handlers.Deps(core=self.core, after=self.after))
        self.outbox = Outbox(
            self.core, SlackPublisher(self.client, partial(request_links.of, self.core)), spacing_s=0
        )

    @property
    def core(self) -> Core:
        return self.world.core

    async def tell(self, call: str, body: Json) -> Json:
        answer = await self._http.post(f"/_control/{call}", json=body)
        assert answer.status_code == 200, answer.text
        found: Json = answer.json()
        return found

    async def act(self, kind: str, body: Json, *, settle: bool = True) -> Json:
        outcome: Json = (await self.tell(f"act/{kind}", body))["outcome"]
        if settle:
            await self.settle()
        return outcome

    async def settle(self) -> None:
        """What Slack sent has been acked, everything after it is done, and every message that waits is delivered."""
        for _ in range(20):
            await eventually("every ack", lambda: not self.slack.workspace.delivery._waiting)
            assert await self.after.drain(10) == 0, "something after an ack hangs"
            if not await self.outbox.deliver_due() and not len(self.after):
                break
            self.world.clock.advance(1.1)
            await self.tell("clock", {"advance_seconds": 1.1})

    async def command(self, user: str, text: str, channel: str = OPS, **more: Any) -> Json:
        return await self.act("command", {"user": user, "channel": channel, "text": text}, **more)

    async def message(self, user: str, text: str, channel: str, thread_ts: str | None = None) -> Json:
        thread = {"thread_ts": thread_ts} if thread_ts else {}
        return await self.act("message", {"user": user, "channel": channel, "text": text, **thread})

    async def home(self, user: str) -> Json:
        await self.act("home", {"user": user, "tab": "home"})
        found: Json = (await self.see(user))["home"]
        return found

    async def see(self, user: str) -> Json:
        found: Json = (await self._http.get("/_control/see", params={"user": user})).json()
        return found

    async def state(self) -> Json:
        found: Json = (await self._http.get("/_control/state")).json()
        return found

    async def modal(self, user: str) -> Json:
        """The topmost modal of this person."""
        views = (await self.see(user))["views"]
        assert views, "no modal is open"
        found: Json = views[-1]
        return found

    async def submit(self, user: str, values: Json | None = None, **more: Any) -> Json:
        """Submit the topmost modal; `values` by field name, a card by what is typed into its select."""
        view = await self.modal(user)

        async def suggest(block_id: str, action_id: str, text: str) -> Json:
            return await self.suggest(user, text, block_id, action_id)

        typed = await type_ahead.values(view["blocks"], values or {}, suggest)
        return await self.act("submit", {"user": user, "view_id": view["id"], "values": typed}, **more)

    async def close(self, user: str) -> None:
        """Close the topmost modal."""
        view = await self.modal(user)
        await self.act("close", {"user": user, "view_id": view["id"]})

    async def suggest(self, user: str, text: str, block_id: str = "card", action_id: str = "value") -> Json:
        """Type into a select of the topmost modal; the outcome has the options that were offered."""
        view = await self.modal(user)
        where = {"view_id": view["id"], "block_id": block_id, "action_id": action_id}
        return await self.act("suggest", {"user": user, "value": text, **where}, settle=False)

    async def filled(self, user: str) -> Json:
        """What the fields of the topmost modal hold by themselves, by field name: a select has its option's text."""
        inputs = [b for b in (await self.modal(user))["blocks"] if b["type"] == "input"]
        return {b["block_id"]: _initial(b["element"]) for b in inputs}

    async def hints(self, user: str) -> dict[str, str]:
        """What stands below each field of the topmost modal, by field name."""
        inputs = [b for b in (await self.modal(user))["blocks"] if b["type"] == "input"]
        return {b["block_id"]: b.get("hint", {}).get("text", "") for b in inputs}

    async def press_in_modal(self, user: str, action_id: str) -> Json:
        view = await self.modal(user)
        return await self.act("click", {"user": user, "view_id": view["id"], "action_id": action_id})

    async def press(
        self, user: str, message: Json, action_id: str, channel: str = APPROVALS, **more: Any
    ) -> Json:
        body = {"user": user, "channel": channel, "ts": message["ts"], "action_id": action_id, **more}
        return await self.act("click", body)

    async def messages(self, user: str, channel: str) -> list[Json]:
        for found in (await self.see(user))["channels"]:
            if found["id"] == channel:
                return list(found["messages"])
        raise AssertionError(f"{user} does not see {channel}")

    async def shown_to(self, user: str, channel: str = OPS) -> Json:
        """The newest message only this person sees there."""
        hidden = [m for m in await self.messages(user, channel) if m["ephemeral"]]
        assert hidden, f"{user} was told nothing in {channel}"
        return hidden[-1]

    async def card(self, request_id: str) -> Json:
        """The request's card in the approvals channel."""
        found = [
            m for m in await self.messages(BOB, APPROVALS) if request_id in m["text"] and not m["ephemeral"]
        ]
        cards = [m for m in found if m.get("thread_ts") in (None, m["ts"])]
        assert len(cards) == 1, [m["text"] for m in found]
        return cards[0]

    async def thread(self, request_id: str) -> list[str]:
        """The lines under the card."""
        ts = (await self.card(request_id))["ts"]
        found = await self.messages(BOB, APPROVALS)
        return [m["text"] for m in found if m.get("thread_ts") == ts and m["ts"] != ts]

    async def requests(self) -> list[Request]:
        from storage.requests import requests

        async with self.world.store.read() as tx:
            return await requests.find(tx, limit=100)

    async def newest(self) -> Request:
        found = await self.requests()
        assert found, "there is no request"
        return max(found, key=lambda r: r.created_at)

    async def ask_top_up(self, user: str = ALICE, amount: str = "50", reason: str = "Team lunch") -> Request:
        """A top-up through the modals, pending in the approvals channel."""
        card = self.world.cards[0]["id"]
        await self.command(user, f"/card topup {card} {amount}")
        await self.submit(user, {"reason": reason})
        await self.submit(user)
        return await self.newest()


def card_option(card: Json, status: str = "Active") -> str:
    """A card of the simulator as forms show it."""
    return f"{card['card_holder_name']} ••{card['last4']} · {status}"


def _initial(element: Json) -> str | None:
    chosen = element.get("initial_option")
    text: str | None = chosen["text"]["text"] if chosen else element.get("initial_value")
    return text


def listening(slack: Running, client: AsyncWebClient, deps: handlers.Deps) -> AsyncApp:
    """A Bolt app with every listener of ours on it."""
    app = AsyncApp(
        name="slack_bolt.slack_driver",  # else Bolt reads the whole stack's source to find one
        client=client,
        signing_secret=slack.signing_secret,
        process_before_response=True,
    )
    handlers.register(app, deps)
    return app


@asynccontextmanager
async def a_slack_driver(folder: Path, **options: Any) -> AsyncIterator[SlackDriver]:
    """Everything started and connected."""
    async with a_world(folder, an_hour_later=True, **options) as world:
        slack = await serve(port=0, manifest_path=MANIFEST)
        client = AsyncWebClient(slack.bot_token, base_url=slack.api_url, retry_handlers=[])
        core = world.rebuild(directory=await SlackDirectory.connect(client))
        after = AfterAck()
        app = listening(slack, client, handlers.Deps(core=core, after=after))
        socket = AsyncSocketModeHandler(app, slack.app_token)
        await socket.connect_async()  # type: ignore[no-untyped-call]  # Bolt does not annotate it
        async with httpx.AsyncClient(base_url=slack.url, trust_env=False, verify=False) as http:
            try:
                yield SlackDriver(world, slack, after, client, socket, http)
            finally:
                await after.drain(5)
                await socket.close_async()  # type: ignore[no-untyped-call]  # as above
                await slack.close()
