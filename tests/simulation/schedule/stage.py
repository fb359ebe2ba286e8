"""What every step has at hand: the plan, the world, the checks, the people, and time that passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.partner.accounts import api_keys
from storage.cards import otp_recipients
from storage.store import Store
from tests.simulation.invariants import Watch
from tests.simulation.people import People
from tests.simulation.plan import Plan
from tests.simulation.world import ALICE, World

Json = dict[str, Any]
HASHES = tuple(f"0x{number:064x}" for number in (0xA1, 0xB2, 0xC3))
HOLDING_S = 85.0
# What a control call says of a body that it cannot read.
_NO_SUCH_FORM = " - at `$"


async def _name_recipients(store: Store) -> None:
    async with store.begin() as tx:
        for reference in ("p-1", "p-2"):
            await otp_recipients.put(tx, reference, ALICE)


class Stage:
    """One plan in one world."""

    def __init__(self, plan: Plan, world: World) -> None:
        self.plan = plan
        self.world = world
        self.watch = Watch(world)
        self.people = People(world)
        self.people.broken = self.watch.broken
        self.people.shown = self.watch.shown
        self._set_up()

    def _set_up(self) -> None:
        world = self.world
        if self.plan.settings:
            world.tell_partner("account", self.plan.settings)
        world.partner.store.run("UPDATE api_keys SET scopes = ?", " ".join(self.scopes()))
        for number, tx_hash in enumerate(HASHES):
            transfer = {"network": "POLYGON", "tx_hash": tx_hash, "senders": [f"0x{number + 1:040x}"]}
            world.tell_partner("chain/transfers", {**transfer, "token": "USDC", "amount": "120.00"})
        world.run_tool("naming who gets the codes of two cards", _name_recipients)
        world.tell_partner("deliveries", {"map": {"countersign.example.com": "http://127.0.0.1:8402"}})
        self.note_who_left()
        # Who is no approver when it begins never was one.
        self.watch.gone_since.update(dict.fromkeys(self.watch.gone_since, float("-inf")))

    def scopes(self) -> list[str]:
        """What the key of the API may do when nothing is wrong."""
        return [s for s in api_keys.SCOPES if s not in self.plan.scopes_missing]

    def drive(self, seconds: float, *, leap_s: float = 0.0, most: int | None = None) -> None:
        """Let so much time pass. With `leap_s` the clock jumps where nothing is under way."""
        world = self.world
        ends = world.loop.time() + seconds

        def leap() -> float:
            by_s = min(leap_s, world.network.rests_for(), ends - world.loop.time())
            # Where nobody could renew meanwhile, a process that stands still for longer loses its leases each time.
            return by_s if world.wanted == 1 or by_s <= HOLDING_S or world.renew_leases(by_s) else HOLDING_S

        world.loop.drive(ends, leap=leap if leap_s else None, most=most)

    def drive_until(self, done: Callable[[], bool], most_s: float) -> None:
        """Let time pass until something is so, or no more than that."""
        ends = self.world.loop.time() + most_s
        while not done() and self.world.loop.time() < ends:
            self.drive(0.25)

    def note_who_left(self) -> None:
        """Of everybody in the workspace: since when they may not approve."""
        able, now = self.world.able_to_approve(), self.world.loop.time()
        for person in self.world.slack.store.people:
            if person in able:
                self.watch.gone_since.pop(person, None)
            else:
                self.watch.gone_since.setdefault(person, now)

    def try_partner(self, call: str, body: Json) -> None:
        try:
            self.world.tell_partner(call, body)
        except AssertionError as refused:
            if _NO_SUCH_FORM in str(
                refused
            ):  # nothing that may happen in a world, but a mistake of the simulation
                raise
            self.world.say(f"The API's side refuses that: {str(refused)[:100]}.")

    def cards(self) -> list[str]:
        return [
            row["id"] for row in self.world.partner.store.all("SELECT id FROM cards ORDER BY seq LIMIT 4")
        ]
