"""The Slack stand-in in a test: its address and tokens, and what people do in it."""

from __future__ import annotations

import json
from typing import Any

from sandbox.slack import Running, control, errors, page
from sandbox.slack.state import BOT_USER, Person
from sandbox.testing.background import Awaitables, Background, until

Json = dict[str, Any]
SHOWN = 12
__tracebackhide__ = True  # a failure points at the line of the test


class SlackWork:
    """What is done in the sandbox's own loop."""

    def __init__(self, running: Running) -> None:
        self.running = running
        self._returned: set[str] = set()

    async def control(self, call: str, verb: str = "POST", /, **body: Any) -> Json:
        """A control call (docs/slack-stand-in.md). Raises AssertionError with its sentence when it is refused."""
        try:
            return await control.answer_to(self.running.workspace, verb, call, body)
        except (errors.BadAct, control.NoSuchCall) as error:
            raise AssertionError(f"{verb} /_control/{call}: {error}") from None

    async def act(self, act: str, **body: Any) -> Json:
        """What a person does; whether the app acknowledged it, and what came of it."""
        outcome: Json = (await self.control(f"act/{act}", **body))["outcome"]
        return outcome

    async def command(self, text: str, user: str = "U0ALICE", channel: str = "C0OPS") -> Json:
        """Somebody sends a slash command. Raises AssertionError for one that the manifest does not declare."""
        manifest = self.running.workspace.manifest
        name = text.split(maxsplit=1)[0] if text.strip() else text
        if manifest.command(name) is None:
            known = ", ".join(one.command for one in manifest.commands) or "none"
            raise AssertionError(f"{name} is not a command of the manifest; known: {known}")
        return await self.act("command", user=user, channel=channel, text=text)

    async def say(self, text: str, user: str = "U0ALICE", channel: str = "C0OPS", **more: Any) -> Json:
        """Somebody writes a message."""
        return await self.act("message", user=user, channel=channel, text=text, **more)

    async def click(self, action_id: str, user: str = "U0ALICE", **where: Any) -> Json:
        """Somebody uses a button or menu: of a message (`channel` and `ts`), or of a modal (`view_id`)."""
        return await self.act("click", user=user, action_id=action_id, **where)

    async def submit(self, view_id: str, user: str = "U0ALICE", **values: Any) -> Json:
        """Somebody submits a modal; `values` are by block id, then by action id."""
        return await self.act("submit", user=user, view_id=view_id, values=values)

    async def see(self, user: str = "U0ALICE") -> Json:
        """What a person's client shows."""
        return page.state_seen_by(self.running.workspace, self._person(user))

    def _person(self, user: str) -> Person:
        people = self.running.workspace.store.people
        if user not in people:
            known = ", ".join(f"{one.id} ({one.name})" for one in people.values() if one.id != BOT_USER)
            raise AssertionError(f"there is no person {user!r}; give user= one of {known}")
        return people[user]

    async def messages(self, channel: str = "C0OPS", user: str = "U0ALICE") -> list[Json]:
        """The messages of a channel as a person sees them, oldest first; a channel goes by id or name."""
        shown = (await self.see(user))["channels"]
        bare = channel.removeprefix("#")
        found = next((one for one in shown if bare in (one["id"], one["name"])), None)
        if found is None:
            seen = ", ".join(f"{one['id']} ({one['name']})" for one in shown)
            raise AssertionError(f"{user} sees no channel {channel}, only {seen or 'none'}")
        messages: list[Json] = found["messages"]
        return messages

    async def wait_for_message(
        self,
        text: str,
        channel: str = "C0OPS",
        user: str = "U0ALICE",
        within_seconds: float = 5.0,
        by: str = BOT_USER,
    ) -> Json:
        """The newest message of the app that holds this text, as `user` sees it; `by` is somebody else's id.

        A message is found once by the same wait, and again once the app has changed it. Raises AssertionError with the
        wire log.
        """
        await self.messages(channel, user)  # an unknown channel is said at once

        def look() -> Json | None:
            shown = page.state_seen_by(self.running.workspace, self._person(user))["channels"]
            bare = channel.removeprefix("#")
            held = next(one for one in shown if bare in (one["id"], one["name"]))["messages"]
            return next((one for one in reversed(held) if is_new(one)), None)

        def is_new(message: Json) -> bool:
            is_wanted = message.get("user") == by and text in _words(message)
            return is_wanted and _state_of(text, message) not in self._returned

        found = await until(look, within_seconds)
        if found is None:
            whose = "the app" if by == BOT_USER else by
            raise AssertionError(
                f"No new message of {whose} with {text!r} in {channel} as {user} sees it, within"
                f" {within_seconds:g} s; channel= and user= say where else to look.\n{await self.shown_log()}"
            )
        self._returned.add(_state_of(text, found))
        return found

    async def wait_for_modal(self, user: str = "U0ALICE", within_seconds: float = 5.0) -> Json:
        """The modal on top of somebody's screen. Raises AssertionError with the wire log."""

        def look() -> Json | None:
            views = page.state_seen_by(self.running.workspace, self._person(user))["views"]
            return views[-1] if views else None

        found = await until(look, within_seconds)
        if found is None:
            raise AssertionError(
                f"No modal for {user} within {within_seconds:g} s.\n{await self.shown_log()}"
            )
        return found

    async def wait_for_connection(self, within_seconds: float = 10.0) -> None:
        """Wait until the app has connected. Raises AssertionError when it has not."""
        transport = self.running.workspace.delivery.transport
        if not await until(lambda: transport.connections > 0 or None, within_seconds):
            raise AssertionError(f"No app connected within {within_seconds:g} s.\n{await self.shown_log()}")

    async def end_connections(self) -> None:
        """Close the app's WebSockets at once."""
        await self.running.workspace.sockets.close()

    async def shown_log(self) -> str:
        """The last calls and envelopes, for people."""
        lines = ["Between Slack and the app, the last at the end:"]
        for line in self.running.workspace.wire()[-SHOWN:]:
            if line["what"] == "call":
                lines.append(
                    f"  app called {line['method']} {str(line['args'])[:120]} -> {line['error'] or 'ok'}"
                )
            else:
                acked = "acked" if line.get("acked") else "not acked"
                lines.append(f"  Slack sent {line.get('summary') or line.get('kind')}: {acked}")
        return "\n".join(lines)

    async def fresh(self) -> None:
        """The workspace as it was at the start."""
        self._returned.clear()
        self.running.workspace.reset()


def _state_of(text: str, message: Json) -> str:
    """One wait and one state of a message: what it says, not who reacted or replied."""
    return json.dumps([text, message["ts"], message.get("text"), message.get("blocks")])


def _words(message: Json) -> str:
    """All text of a message, its blocks included."""
    return f"{message.get('text', '')}\n{_texts(message.get('blocks') or [])}"


def _texts(value: Any) -> str:
    if isinstance(value, dict):
        own = value["text"] if isinstance(value.get("text"), str) else ""
        return own + "\n" + "".join(_texts(item) for item in value.values())
    if isinstance(value, list):
        return "".join(_texts(item) for item in value)
    return ""


class Acts:
    """What people do. Everybody is Alice, in #card-ops, unless somebody else is named."""

    def __init__(self, work: SlackWork, background: Background) -> None:
        self._work = work
        self._background = background

    def command(self, text: str, user: str = "U0ALICE", channel: str = "C0OPS") -> Json:
        """Send a slash command; how the app took it."""
        return self._background.run(self._work.command(text, user, channel))

    def say(self, text: str, user: str = "U0ALICE", channel: str = "C0OPS", **more: Any) -> Json:
        """Write a message; how the app took its event."""
        return self._background.run(self._work.say(text, user, channel, **more))

    def click(self, action_id: str, user: str = "U0ALICE", **where: Any) -> Json:
        """Use a button or menu, of a message (`channel` and `ts`) or of a modal (`view_id`)."""
        return self._background.run(self._work.click(action_id, user, **where))

    def submit(self, view_id: str, user: str = "U0ALICE", **values: Any) -> Json:
        """Submit a modal with values by block id, then by action id."""
        return self._background.run(self._work.submit(view_id, user, **values))

    def __call__(self, act: str, **body: Any) -> Json:
        """Any other act of docs/slack-stand-in.md, by its name."""
        return self._background.run(self._work.act(act, **body))


class SlackSandbox:
    """A running stand-in: `api_url` and the tokens for the app under test, the rest for the test."""

    def __init__(self, running: Running, background: Background) -> None:
        self._work = SlackWork(running)
        self._background = background
        self.url = running.url
        self.api_url = running.api_url
        self.bot_token = running.bot_token
        self.app_token = running.app_token
        self.signing_secret = running.signing_secret
        self.aio = Awaitables(self, background)
        self.act = Acts(self._work, background)

    def control(self, call: str, verb: str = "POST", /, **body: Any) -> Json:
        """A control call (docs/slack-stand-in.md), such as `control("faults", effect="lost_ack")`.

        GET and DELETE come second, as in `control("see", "GET", user="U0ALICE")`.
        """
        return self._background.run(self._work.control(call, verb, **body))

    def see(self, user: str = "U0ALICE") -> Json:
        """What a person's client shows."""
        return self._background.run(self._work.see(user))

    def messages(self, channel: str = "C0OPS", user: str = "U0ALICE") -> list[Json]:
        """The messages of a channel as a person sees them, oldest first."""
        return self._background.run(self._work.messages(channel, user))

    def wait_for_message(
        self,
        text: str,
        channel: str = "C0OPS",
        user: str = "U0ALICE",
        within_seconds: float = 5.0,
        by: str = BOT_USER,
    ) -> Json:
        """The newest message of the app that holds this text, or of `by`. Raises AssertionError with the wire log.

        A message is found once by the same wait, and again once the app has changed it.
        """
        return self._background.run(self._work.wait_for_message(text, channel, user, within_seconds, by))

    def wait_for_modal(self, user: str = "U0ALICE", within_seconds: float = 5.0) -> Json:
        """The modal on top of somebody's screen. Raises AssertionError with the wire log."""
        return self._background.run(self._work.wait_for_modal(user, within_seconds))

    def wait_for_connection(self, within_seconds: float = 10.0) -> None:
        """Wait until the app has connected."""
        self._background.run(self._work.wait_for_connection(within_seconds))

    def end_connections(self) -> None:
        """Close the app's WebSockets at once: a synchronous client waits up to 3 seconds to close one itself."""
        self._background.run(self._work.end_connections())

    def shown_log(self) -> str:
        """The last calls and envelopes, for people."""
        return self._background.run(self._work.shown_log())

    def fresh(self) -> None:
        """The workspace as it was at the start."""
        self._background.run(self._work.fresh())
