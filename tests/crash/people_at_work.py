"""People at work: they ask and approve through Slack, as fast as the bot answers, and begin again after a kill.

What a person does is one window after the other. A bot that dies in between leaves them with nothing
or with a request; they close their windows and go on, as people do.
"""

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from decimal import Decimal
from functools import partial
from typing import Any

from sandbox.slack import interactions
from sandbox.slack.errors import BadAct
from sandbox.slack.interactions import modals
from sandbox.slack.state import View
from tests.crash.outside import APPROVALS, APPROVERS, ASKERS, Json, Outside
from tests.support import type_ahead

KINDS = {"card_topup": 5, "card_freeze": 2, "card_order": 2, "funding_submit": 2}
_OPEN = "SELECT subject FROM request WHERE state IN ('pending', 'approved', 'executing', 'unresolved')"
# With so many cards waiting, nobody asks for more.
WAITING_AT_MOST = 6
# How often people who meet want what somebody else wants as well, and stop all sending.
MEET, PAUSE = 0.3, 0.1
# What they meet on: cards, by their place, and the names of cards to order.
MET_ON, TWINS = 3, 2
# A window that does not come by then will not: the bot is dead, or has said no in another way.
PATIENCE_S = 1.0


class GaveUp(Exception):
    """The window did not come; whoever waited does something else."""


class Operators:
    """Two who ask and two who approve. Everything they choose follows from `rng`."""

    def __init__(
        self,
        world: Outside,
        rng: random.Random,
        *,
        order: Mapping[str, str] | None = None,
        meets: bool = False,
    ) -> None:
        """`order`: what is typed into every order of a card, instead of a new name each time.

        `meets`: some requests are about the same cards and names, and now and then sending is paused.
        """
        self._world = world
        self._slack = world.slack.workspace
        self._rng = rng
        self._order = order
        self._meets = meets
        self._number = itertools.count(1)
        self._claimed: set[str] = set()
        self._decided_at: dict[str, float] = {}
        self._at_work = False
        self.patience_s = PATIENCE_S
        self.promised: set[str] = set()  # reasons of the requests whose submission was taken

    async def work(self) -> None:
        """Ask and approve until told to stop."""
        self._at_work = True
        async with asyncio.TaskGroup() as group:
            for person in ASKERS:
                group.create_task(self._again(partial(self.ask, person)))
            for person in APPROVERS:
                group.create_task(self._again(partial(self.approve_one, person)))
            if self._meets:
                group.create_task(self._again(self._stop_or_go_on))

    def stop(self) -> None:
        """Finish the window that is open, then end `work`. A cancellation may get lost in a wait that is just over."""
        self._at_work = False

    def go_home(self) -> None:
        """Every window is closed."""
        self._slack.views.reset()
        self._claimed.clear()
        self._decided_at.clear()

    async def _again(self, act: Callable[[], Awaitable[object]]) -> None:
        while self._at_work:
            with suppress(GaveUp):
                await act()
            await asyncio.sleep(0.01)

    async def ask(self, who: str, kind: str = "") -> bool:
        """One request, from the command to the submission; True when Slack took the submission."""
        if not kind and len(self._pending()) >= WAITING_AT_MOST:
            return False
        kind = kind or self._rng.choices([*KINDS], [*KINDS.values()])[0]
        command, typed = self._request(kind)
        form = await self._window(who, lambda: self._command(who, command), "draft:form")
        suggest = partial(modals.suggest, self._slack, who, form.id)
        values = await type_ahead.values(form.blocks, typed, suggest)
        try:
            outcome = await modals.submit(self._slack, who, form.id, values)
        except BadAct as nothing_offered:
            raise GaveUp(str(nothing_offered)) from None
        if outcome.get("response_action") != "update":
            raise GaveUp(str(outcome))
        preview = await self._awaited(who, "draft:preview")
        outcome = await modals.submit(self._slack, who, preview.id, {})
        done = outcome.get("response_action") == "clear"
        if done:
            self.promised.add(typed["reason"])
        return done

    async def approve_one(self, who: str) -> bool:
        """Approve a pending request that nobody has just decided on; True when one was found."""
        now = asyncio.get_running_loop().time()
        undecided = [m for m in self._pending() if now > self._decided_at.get(m["ts"], 0) + self.patience_s]
        if not undecided:
            return False
        message = undecided[0]
        self._decided_at[message["ts"]] = now
        terms = await self._window(who, lambda: self._press(who, message), "", lambda v: _says(v, "Approve"))
        await modals.submit(self._slack, who, terms.id, {})
        return True

    def _pending(self) -> list[Json]:
        """The cards that have an Approve button, oldest first."""
        return [m for m in self._slack.store.messages[APPROVALS] if _button(m)]

    async def _stop_or_go_on(self) -> None:
        """One approver stops all sending now and then, and both let it go on as soon as they can."""
        if self._world.rows("SELECT program FROM pause"):
            await self._both_resume()
            return
        await asyncio.sleep(self._rng.uniform(0.1, 0.5))
        if self._rng.random() < PAUSE:
            async with self._world.hands:
                await self._command(APPROVERS[0], "/countersign pause")

    async def _both_resume(self) -> None:
        """One asks, the other confirms; no leap of time in between."""
        async with self._world.hands:
            for person in APPROVERS:
                await self._command(person, "/countersign resume")
            await self._until(lambda: not self._world.rows("SELECT program FROM pause"), self.patience_s)

    async def resume(self, timeout_s: float) -> None:
        """Until nobody has paused anything; raises TimeoutError."""
        async with asyncio.timeout(timeout_s):
            while self._world.rows("SELECT program FROM pause"):
                await self._both_resume()

    async def keep_sending(self) -> None:
        """End whatever pause there is, until cancelled: one may come late, from a command that was on its way."""
        while True:
            if self._world.rows("SELECT program FROM pause"):
                await self._both_resume()
            await asyncio.sleep(0.2)

    async def approve_everything(self, timeout_s: float) -> None:
        """Until no request is pending; raises TimeoutError."""
        async with asyncio.timeout(timeout_s):
            while self._world.rows("SELECT id FROM request WHERE state = 'pending'"):
                with suppress(GaveUp):
                    await self.approve_one(APPROVERS[0])
                await asyncio.sleep(0.01)

    def _request(self, kind: str) -> tuple[str, dict[str, Any]]:
        """A command and what is typed into its form. Amounts and hashes occur once, names too where nobody meets."""
        number = next(self._number)
        reason = {"reason": f"Operators wish {number}"}
        if kind == "card_order" and self._order:
            return "/card order", dict(self._order)
        if kind == "card_order":
            phone = {
                "phone_country_code": "49",
                "phone": f"151{number:08d}",
                "email": f"operators{number}@example.com",
            }
            name = f"TWIN {self._rng.randrange(TWINS)}" if self._meet() else f"WISH {number}"
            return "/card order", {"card_holder_name": name, **phone, **reason}
        if kind == "funding_submit":
            tx_hash = f"0x{self._rng.getrandbits(256):064x}"
            self._world.tell_partner("chain/transfers", _transfer(tx_hash, number))
            return "/funding submit", {"tx_hash": tx_hash, "network": "POLYGON", **reason}
        card = self._rng.choice(self._world.cards()[:MET_ON]) if self._meet() else self._free_card()
        if kind == "card_reveal":
            return "/card reveal", {"card": card["id"], **reason}
        if kind == "card_phone":
            phone = {
                "phone_country_code": "49",
                "phone": (self._order or {}).get("phone", f"151{number:08d}"),
            }
            return "/card phone", {"card": card["id"], **phone, **reason}
        if kind == "card_topup":
            amount_usd = Decimal(1000 + number) / 100
            return "/card topup", {"card": card["id"], "amount_usd": str(amount_usd), **reason}
        return ("/card unfreeze" if card["status"] == "FROZEN" else "/card freeze"), {
            "card": card["id"],
            **reason,
        }

    def _meet(self) -> bool:
        """Is this about what somebody else wants as well?"""
        return self._meets and self._rng.random() < MEET

    def _free_card(self) -> Json:
        """A card of ours that no open request is about, and that nobody meets on."""
        busy = {row["subject"] for row in self._world.rows(_OPEN)} | self._claimed
        cards = self._world.cards()[MET_ON if self._meets else 0 :]
        operators = [c for c in cards if c["id"] not in busy]
        if not operators:
            raise GaveUp("every card has an open request")
        card = self._rng.choice(operators)
        self._claimed.add(card["id"])
        return card

    async def _command(self, who: str, text: str) -> Json:
        return await interactions.command(self._slack, who, "C0OPS", text)

    async def _press(self, who: str, message: Json) -> Json:
        button = _button(message)
        if button is None:
            raise GaveUp("decided meanwhile")
        block_id, element = button
        return await interactions.click_message(
            self._slack, who, APPROVALS, message["ts"], block_id, element["action_id"], element["value"]
        )

    async def _window(
        self,
        who: str,
        act: Callable[[], Awaitable[Json]],
        callback_id: str,
        wanted: Callable[[View], bool] | None = None,
    ) -> View:
        """Do what opens a window, and wait until it is there; no leap of time in between."""
        self._slack.views.stacks.pop(who, None)
        # A bot may be ready a moment before the other end has noticed its connection.
        await self._until(lambda: self._slack.delivery.transport.connections > 0, self.patience_s)
        async with self._world.hands:
            outcome = await act()
            if not outcome["acked"]:
                raise GaveUp(str(outcome))
            await self._until(lambda: bool(self._slack.views.stack(who)), self.patience_s)
        return await self._awaited(who, callback_id, wanted)

    async def _awaited(
        self, who: str, callback_id: str, wanted: Callable[[View], bool] | None = None
    ) -> View:
        """This person's topmost window, once it is the one that was waited for."""

        def there() -> bool:
            stack = self._slack.views.stack(who)
            if not stack:
                return False
            return wanted(stack[-1]) if wanted else stack[-1].body["callback_id"] == callback_id

        if not await self._until(there, self.patience_s):
            raise GaveUp(f"{who} waited for {callback_id or 'the terms'}")
        return self._slack.views.stack(who)[-1]

    async def _until(self, true: Callable[[], bool], timeout_s: float) -> bool:
        deadline = asyncio.get_running_loop().time() + timeout_s
        while not true():
            if asyncio.get_running_loop().time() > deadline:
                return False
            await asyncio.sleep(0.005)
        return True


def _button(message: Json) -> tuple[str, Json] | None:
    """Block id and element of a card's Approve button."""
    for block in message.get("blocks") or ():
        for element in block.get("elements") or () if block["type"] == "actions" else ():
            if element.get("action_id") == "request:approve":
                return str(block["block_id"]), element
    return None


def _says(view: View, word: str) -> bool:
    return (view.body.get("submit") or {}).get("text") == word


def _transfer(tx_hash: str, number: int) -> Json:
    sender = f"0x{number:040x}"
    return {
        "network": "POLYGON",
        "tx_hash": tx_hash,
        "senders": [sender],
        "token": "USDC",
        "amount": str(Decimal(2000 + number) / 100),
    }
