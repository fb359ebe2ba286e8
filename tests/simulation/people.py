"""What people do: through Slack's payloads, or through the use cases that those payloads lead to.

Going through Slack tests the handlers; going straight to the use case is several times cheaper, so that a seed can do
more. Which of the two is taken follows from the seed. Nobody waits for anybody: everything here runs as tasks that
meet each other where the seed lets them.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from bot.domain.card_details import Manner
from bot.domain.errors import CountersignError, NotPosted, PasskeyNeeded
from bot.domain.requests.batch_csv import Unreadable
from bot.partner.errors import PartnerError
from bot.partner.secret import Secret
from bot.services import people as known_people
from bot.services import requests as request_services
from bot.services.cards import details_link
from bot.services.core import Core
from bot.services.execution import card_details_access
from bot.services.operators import pausing
from bot.services.passkeys import links, page
from bot.services.requests import approvals, batch_reading, batch_submission, drafts
from sandbox.slack import interactions
from sandbox.slack.errors import BadAct, SlackError
from sandbox.slack.interactions import modals
from sandbox.slack.state import View
from storage.requests import requests as request_rows
from tests.simulation.network import CutOff
from tests.simulation.world import ALICE, APPROVALS, BOB, CAROL, DETAILS_URL, OPS, World
from tests.support import type_ahead

Json = dict[str, Any]
# What a person who uses a program must be ready for; anything else is our fault and noted as such.
REFUSED = (CountersignError, PartnerError, Unreadable)
# A window that has not come by then does not come.
PATIENCE_S = 4.0
# Slack takes a message a second in the channel.
POSTED_WITHIN_S = 30.0
COMMANDS = {
    "card_order": "/card order",
    "card_topup": "/card topup",
    "card_unload": "/card unload",
    "card_close": "/card close",
    "card_limits": "/card limits",
    "card_phone": "/card phone",
    "card_3ds": "/card 3ds",
    "card_freeze": "/card freeze",
    "card_unfreeze": "/card unfreeze",
    "card_reveal": "/card reveal",
    "funding_submit": "/funding submit",
}


class GaveUp(Exception):
    """The window did not come; the person does something else."""


class People:
    """Everybody in the workspace. Each act returns at once; its task goes on by itself."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._slack = world.slack
        self.broken: Callable[[str, str], None] = lambda _rule, _text: None
        self.shown: list[tuple[float, str]] = []  # links that showed card details, and when

    # Acts

    def ask(
        self,
        who: str,
        kind: str,
        texts: Mapping[str, str],
        *,
        now: bool = False,
        in_slack: bool = False,
        named: str = "",
    ) -> None:
        """Fill a form, read the preview, submit. `named`: how the card is called there."""
        if self._world.explaining:
            self._world.say(
                f"{_name(who)} requests {self._in_words(kind, texts)}{', at once' if now else ''}."
            )
        if in_slack and kind in COMMANDS and not now:
            self._in_slack(self._ask_in_slack(who, kind, texts))
        else:
            self._directly(
                who, lambda core: self._checked(_ask(core, who, kind, texts, now=now), named, "card")
            )

    def _in_words(self, kind: str, texts: Mapping[str, str]) -> str:
        """A form as somebody would say it, with the card by its holder."""
        rest = dict(texts)
        card = self._world.partner.store.one("SELECT * FROM cards WHERE id = ?", rest.pop("card", ""))
        about = f" of {card['card_holder_name'].title()} ••{card['last4']}" if card is not None else ""
        shown = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in rest.items())
        return f"{kind.replace('_', ' ')}{about}" + (f": {shown}" if shown else "")

    def ask_for_many(self, who: str, text: str, *, kind: str = "card_topup", named: str = "") -> None:
        """A list of requests of this kind. `named`: the reference of its one card."""
        self._world.say(
            f"{_name(who)} requests a batch: {kind.replace('_', ' ')}, {len(text.splitlines()) - 1} rows."
        )
        self._directly(
            who, lambda core: self._checked(_ask_for_many(core, who, text, kind), named, "partner_ref")
        )

    async def _checked(self, asked: Awaitable[Any], named: str, field: str) -> None:
        """What was named is what is asked for; a name of two cards is asked back, not guessed."""
        request = await asked
        if not named or request is None:
            return
        columns = (
            ("partner_ref",) if field == "partner_ref" else ("id", "partner_ref", "last4", "card_holder_name")
        )
        meant = {
            row["id"]
            for column in columns
            for row in self._world.partner.store.all(f"SELECT id FROM cards WHERE {column} = ?", named)
        }
        about = [
            row["subject"]
            for row in self._world.rows(
                "SELECT subject FROM request WHERE (id = ? OR parent_id = ?) AND rows IS NULL",
                request.id,
                request.id,
            )
        ]
        if len(meant) > 1 or not set(about) <= meant:
            text = f"{request.id}: {field} {named} means {len(meant)} cards, and another one was taken"
            self.broken("the card that was named", text)

    def decide(
        self, who: str, action: str, request_id: str, *, verdict: str = "", in_slack: bool = False
    ) -> None:
        """Approve, reject, cancel, confirm or resolve a request."""
        words = f"{action} ({verdict})" if verdict else action
        self._world.say(f"{_name(who)} clicks {words} on {request_id}.")
        if in_slack and action in ("approve", "reject", "cancel"):
            self._in_slack(self._decide_in_slack(who, action, request_id))
        else:
            self._directly(who, lambda core: _decide(core, who, action, request_id, verdict))

    def pause(self, who: str) -> None:
        self._world.say(f"{_name(who)} pauses sending.")
        self._directly(who, lambda core: pausing.pause(core, who, ["main"], "to look at it"))

    def resume(self, *whom: str) -> None:
        self._world.say(f"{' and '.join(map(_name, whom))} resume sending.")

        async def both(core: Core) -> None:
            for one in whom:
                await self._with_passkey(core, one, partial(_resume, one))

        self._directly(whom[-1], both)

    def redraw(self, request_id: str) -> None:
        self._directly("", lambda core: approvals.redraw(core, request_id))

    def look(self, who: str, command: str) -> None:
        """A look-up command, or the Home tab."""
        self._world.say(f"{_name(who)} looks at {command}.")
        if command == "home":
            self._in_slack(modals.open_home(self._slack, who, "home"))
        else:
            self._in_slack(interactions.command(self._slack, who, OPS, command))

    def links(self) -> list[str]:
        """Every link to card details that Slack has shown to somebody."""
        found = (
            link
            for messages in self._slack.store.messages.values()
            for message in messages
            for link in re.findall(
                re.escape(DETAILS_URL) + r"[^\s\"|>\\]*", json.dumps(message.get("blocks") or [])
            )
        )
        return list(dict.fromkeys(found))

    def open_link(self, link: str, *, as_text: bool) -> None:
        """Use a link to card details. What was shown by it goes to `shown`."""
        token = link.rpartition("#")[2]
        self._world.say(f"somebody opens the link …{token[-4:]}.")
        manner = Manner.TEXT if as_text else Manner.FRAME

        async def open_it(core: Core) -> None:
            try:
                await card_details_access.open_link(core, Secret(token), manner)
            except card_details_access.NotShown as refusal:
                self._world.say(f"Nothing is shown: {refusal}")
                return
            self.shown.append((self._world.loop.time(), link))

        self._directly("", open_it)

    def ask_for_another_link(self, who: str, request_id: str) -> None:
        self._world.say(f"{_name(who)} asks for another link of {request_id}.")
        self._directly(who, lambda core: details_link.another_link(core, request_id, who))

    def close_windows(self) -> None:
        self._slack.views.reset()

    # By the use cases

    def _directly(self, who: str, act: Callable[[Core], Awaitable[Any]]) -> None:
        bot = self._world.bot
        if bot is None or bot.running is None:
            self._world.say("Countersign does not answer.")
            return
        core = bot.core

        async def try_it() -> None:
            try:
                await self._with_passkey(core, who, act)
            except REFUSED as refusal:
                self._world.say(f"They are refused: {str(refusal)[:160]}")
            except Exception as error:  # noqa: BLE001 - whatever a person meets that is no refusal
                self._world.note_error("a person's act", error)

        self._world.loop.spawn(bot.owner, try_it())

    async def _with_passkey(self, core: Core, who: str, act: Callable[[Core], Awaitable[Any]]) -> None:
        """Do it; where a click isn't enough, on the page, with this person's own device."""
        try:
            await act(core)
        except PasskeyNeeded as needed:
            link = await links.for_needed(core, needed, who)
            await self._on_the_page(core, who, link.reveal())

    async def _on_the_page(self, core: Core, who: str, link: str) -> None:
        self._world.say(f"{_name(who)} opens the page for passkeys.")
        shown = await page.open_link(core, Secret(link.rpartition("#")[2]))
        done = await page.finish(core, shown.token, self._world.devices[who].answer(shown.options))
        self._world.say(f"The page says: {done.text[:120]}")

    # By Slack

    def _in_slack(self, act: Awaitable[Any]) -> None:
        async def try_it() -> None:
            try:
                await act
            except (GaveUp, BadAct, SlackError, CutOff, KeyError, IndexError) as reason:
                self._world.say(f"They give up: {str(reason)[:120] or 'nothing came'}.")

        self._world.loop.spawn(self._world.world, try_it())

    async def _ask_in_slack(self, who: str, kind: str, texts: Mapping[str, str]) -> None:
        self._slack.views.stacks.pop(who, None)
        outcome = await interactions.command(self._slack, who, OPS, COMMANDS[kind])
        if not outcome["acked"]:
            raise GaveUp(f"Countersign does not answer ({outcome['reason']})")
        form = await self._window(who, "draft:form")
        suggest = partial(modals.suggest, self._slack, who, form.id)
        values = await type_ahead.values(form.blocks, {**texts, "reason": "because of it"}, suggest)
        outcome = await modals.submit(self._slack, who, form.id, values)
        if outcome.get("response_action") != "update":
            raise GaveUp(str(outcome))
        preview = await self._window(who, "draft:preview")
        await modals.submit(self._slack, who, preview.id, {})

    async def _decide_in_slack(self, who: str, action: str, request_id: str) -> None:
        self._slack.views.stacks.pop(who, None)
        for message in self._slack.store.messages[APPROVALS]:
            for block in message.get("blocks") or ():
                for element in block.get("elements") or () if block["type"] == "actions" else ():
                    wanted = f"request:{action}"
                    if element.get("action_id") == wanted and element["value"].startswith(request_id):
                        await interactions.click_message(
                            self._slack,
                            who,
                            APPROVALS,
                            message["ts"],
                            str(block["block_id"]),
                            wanted,
                            element["value"],
                        )
                        window = await self._window(who, "")
                        if not window.body.get("submit"):
                            await self._press_link(who, window)
                            return
                        typed = {"reason": {"value": "not now"}} if action == "reject" else {}
                        await modals.submit(self._slack, who, window.id, typed)
                        return
        raise GaveUp("there is no such button")

    async def _press_link(self, who: str, window: View) -> None:
        """The window leads to the page for passkeys."""
        bot = self._world.bot
        if bot is None or bot.running is None:
            raise GaveUp("the page does not come")
        core, (link,) = bot.core, _links(window)
        self._directly(who, lambda _core: self._on_the_page(core, who, link))

    async def _window(self, who: str, callback_id: str) -> View:
        """This person's topmost window once it is the one that is waited for, and can be submitted."""
        loop = self._world.loop
        until = loop.time() + PATIENCE_S
        while loop.time() < until:
            stack = self._slack.views.stack(who)
            if stack and callback_id in ("", stack[-1].body["callback_id"]):
                can_go_on = stack[-1].body.get("submit") or (not callback_id and _links(stack[-1]))
                if can_go_on:
                    return stack[-1]
            await asyncio.sleep(0.05)
        raise GaveUp("the window does not come")


def _links(window: View) -> list[str]:
    """The addresses of pages for passkeys in a window."""
    found = re.findall(re.escape(f"{DETAILS_URL}/passkey#") + r"[\w-]+", json.dumps(window.body["blocks"]))
    return list(dict.fromkeys(found))


async def _resume(who: str, core: Core) -> None:
    await pausing.resume(core, who, ["main"])


async def _ask(core: Core, who: str, kind: str, texts: Mapping[str, str], *, now: bool) -> Any:
    await known_people.require_member(core, who, action="ask")
    draft = await drafts.begin(core, owner=who, kind=kind, texts=dict(texts), reason="because", run_now=now)
    await drafts.preview(core, draft)
    return await request_services.submit(core, draft.id, who)


async def _ask_for_many(core: Core, who: str, text: str, kind: str) -> Any:
    await known_people.require_member(core, who, action="ask")
    read = await batch_reading.begin(core, owner=who, text=text, kind=kind)
    if read.draft_id:
        await batch_submission.preview(core, read.draft_id, who)
        return await batch_submission.submit(core, read.draft_id, who, reason="because")
    return None


async def _decide(core: Core, who: str, action: str, request_id: str, verdict: str) -> None:
    if action == "approve":
        async with core.store.read() as tx:
            found = await request_rows.get(tx, request_id)
        if found is None:
            return
        await _once_it_is_posted(lambda: approvals.approve(core, request_id, who, shown_digest=found.digest))
    elif action == "reject":
        await approvals.reject(core, request_id, who, reason="not now")
    elif action == "cancel":
        await request_services.cancel(core, request_id, who)
    elif action == "confirm":
        await approvals.confirm(core, request_id, who)
    else:
        await approvals.resolve(core, request_id, who, verdict=verdict, evidence="support said so")


async def _once_it_is_posted(approve: Callable[[], Awaitable[Any]]) -> None:
    """People see a request in Slack first. Whoever finds it elsewhere waits some seconds for its message."""
    loop = asyncio.get_running_loop()
    until = loop.time() + POSTED_WITHIN_S
    while True:
        try:
            await approve()
        except NotPosted:
            if loop.time() >= until:
                raise
        else:
            return
        await asyncio.sleep(0.5)


def _name(who: str) -> str:
    return who[2:].title()


def likely_action(row: Any, who: str, rng: random.Random) -> tuple[str, str]:
    """What this person would do about a request in this state, and the verdict where one is asked for."""
    state = row["state"]
    if who == row["requester"]:
        return ("resolve", rng.choice(("succeeded", "failed"))) if state == "unresolved" else ("cancel", "")
    if state == "pending":
        return rng.choices(("approve", "reject"), (9, 1))[0], ""
    if state == "unresolved":
        return "resolve", rng.choices(("succeeded", "failed"), (1, 2))[0]
    return ("confirm", "") if row["break_glass"] else ("approve", "")


PEOPLE_WHO_ASK = (ALICE, "U0DAVE")
PEOPLE_WHO_DECIDE = (BOB, CAROL)
