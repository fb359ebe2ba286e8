"""One person's side of a conversation with the app, as the tests of plain English hold it."""

from __future__ import annotations

from typing import Any

from tests.handlers.slack_driver import ALICE, OPS, SlackDriver

Json = dict[str, Any]
DIRECT = "D0ALICE"


class Talk:
    """Alice's side of a conversation with the app, in one thread."""

    def __init__(self, driver: SlackDriver, user: str = ALICE, channel: str = DIRECT) -> None:
        self.driver, self.user, self.channel, self.thread = driver, user, channel, ""

    async def say(self, text: str, *, alone: bool = False) -> str:
        """Say it, in the thread once there is one; the last of what is answered, as text."""
        await self.driver.tell("clock", {"advance_seconds": 1.1})  # Slack takes one message a second
        mention = "" if self.channel.startswith("D") else "@Countersign "
        thread = None if alone else self.thread or None
        said = await self.driver.message(self.user, f"{mention}{text}", self.channel, thread_ts=thread)
        self.thread = self.thread or said["ts"]
        return str(self.last(await self.messages()))

    async def messages(self) -> list[Json]:
        found = await self.driver.messages(self.user, self.channel)
        return [m for m in found if m["is_app"] and (self.channel == OPS or m["thread_ts"] == self.thread)]

    def last(self, messages: list[Json]) -> Json:
        assert messages, "nothing was answered"
        return messages[-1]

    async def press(self, label: str, message: Json | None = None) -> Json:
        """Press the button, or choose the option, of the newest answer."""
        shown = message or self.last(await self.messages())
        await self.driver.tell("clock", {"advance_seconds": 1.1})
        elements = [e for b in shown["blocks"] if b["type"] == "actions" for e in b["elements"]]
        for element in elements:
            if element.get("text", {}).get("text") == label and element["type"] == "button":
                return await self.driver.press(self.user, shown, element["action_id"], channel=self.channel)
            for option in element.get("options", []):
                if option["text"]["text"] == label:
                    more = {"selected_option": option["value"]}
                    return await self.driver.press(
                        self.user, shown, element["action_id"], channel=self.channel, **more
                    )
        raise AssertionError(f"no {label!r} in {shown['blocks']}")

    async def buttons(self) -> list[str]:
        shown = self.last(await self.messages())
        return [
            e["text"]["text"] for b in shown["blocks"] if b["type"] == "actions" for e in b["elements"]
            if e["type"] == "button"
        ]  # fmt: skip

    async def form(self) -> Json:
        """What the open form is filled with, by field."""
        return await self.driver.filled(self.user)

    async def nothing_is_open(self) -> bool:
        return not (await self.driver.see(self.user))["views"]
