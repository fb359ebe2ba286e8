"""People in the Slack stand-in, played over its control calls: Alice asks, Bob approves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from tests.support.waiting import eventually

ALICE, BOB = "U0ALICE", "U0BOB"
OPS, APPROVALS, ALERTS = "C0OPS", "C0APPROVALS", "C0ALERTS"
CARD = "3205"  # of Marta

Json = dict[str, Any]


async def control(url: str, call: str, body: Json | None = None, **query: str) -> Json:
    """A control call of either half of the sandbox: POST with a body, else GET."""
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=20) as http:
        address = f"/_control/{call}"
        answer = await (http.get(address, params=query) if body is None else http.post(address, json=body))
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


@dataclass
class People:
    """Those of one stand-in. `url`: where it answers."""

    url: str

    async def act(self, kind: str, **body: Any) -> Json:
        """What somebody does, and what came of it."""
        found: Json = (await control(self.url, f"act/{kind}", body))["outcome"]
        return found

    async def see(self, user: str) -> Json:
        """What this person sees."""
        return await control(self.url, "see", user=user)

    async def messages(self, channel: str, user: str = BOB) -> list[Json]:
        """Of a channel, as this person sees them, threads included."""
        channels = {one["id"]: one for one in (await self.see(user))["channels"]}
        return list(channels[channel]["messages"]) if channel in channels else []

    async def close_windows(self, user: str) -> None:
        while views := (await self.see(user))["views"]:
            await self.act("close", user=user, view_id=views[-1]["id"])

    async def window(self, user: str, button: str, within_s: float = 15) -> Json:
        """The topmost window, once its button reads so."""

        async def look() -> Json | None:
            views: list[Json] = (await self.see(user))["views"]
            return views[-1] if views and (views[-1]["submit"] or {}).get("text") == button else None

        found = await eventually(f"the window with {button}", look, within_s=within_s, every_s=0.1)
        assert found is not None
        return found

    async def ask(self, amount: str) -> Json:
        """A top-up by Alice; its message in the approvals channel."""
        await self.close_windows(ALICE)
        await self.act("command", user=ALICE, channel=OPS, text=f"/card topup {CARD} {amount}")
        for button, values in (("Preview", {"reason": {"value": "Hotel deposit"}}), ("Submit", {})):
            view = await self.window(ALICE, button)
            await self.act("submit", user=ALICE, view_id=view["id"], values=values)
        return await self.card(amount, "pending")

    async def card(self, amount: str, state: str, within_s: float = 15) -> Json:
        """The message of the request of this amount, once it shows this state."""

        async def look() -> Json | None:
            for message in await self.messages(APPROVALS):
                is_card = message.get("thread_ts") in (None, message["ts"])
                if is_card and f"{amount} USD" in message["text"] and state in message["text"]:
                    return message
            return None

        found = await eventually(f"{amount} USD is {state}", look, within_s=within_s, every_s=0.2)
        assert found is not None
        return found

    async def press_approve(self, card: Json) -> Json:
        """Bob presses the button of a request's message."""
        block, element = next(
            (block, element)
            for block in card["blocks"]
            for element in block.get("elements", [])
            if isinstance(element.get("text"), dict) and element["text"]["text"] == "Approve"
        )
        pressed = {
            "block_id": block["block_id"],
            "action_id": element["action_id"],
            "value": element["value"],
        }
        return await self.act("click", user=BOB, channel=APPROVALS, ts=card["ts"], **pressed)

    async def approve(self, card: Json) -> Json:
        """Bob presses it, and the button of the window that opens."""
        await self.close_windows(BOB)
        await self.press_approve(card)
        view = await self.window(BOB, "Approve")
        return await self.act("submit", user=BOB, view_id=view["id"], values={})
