"""Steps of whoever runs Countersign: the reviewed file, keys, copies of the database."""

from __future__ import annotations

import random
from dataclasses import replace

from sandbox.partner.accounts import api_keys
from storage import key_rotation
from storage.store import Store
from tests.simulation.schedule.machine import MachineSteps
from tests.simulation.schedule.stage import Json
from tests.simulation.world import Installation


class InstallationSteps(MachineSteps):
    """What is set at a start."""

    def do_policy(self, rng: random.Random, change: Json, restarts: bool) -> None:
        """The reviewed file is changed; it holds from the next start of each process."""
        policy = replace(self.world.installation.policy, **change)
        installation = replace(self.world.installation, policy=policy)
        if restarts:
            self._restart_all(installation)
            self.note_who_left()
        else:
            self.world.installation = installation

    def do_new_api_key(self, rng: random.Random, revoked: str) -> None:
        """A new key of the API takes the place of the old one, which is revoked before, after, or never."""
        old = self.world.installation.api_key
        made = self.world.tell_partner("keys", {"scopes": self.scopes()})["key"]
        self.watch.keys.add(made)
        if revoked == "before":
            self._revoke(old)
            self.drive(rng.choice((1.0, 40.0)), leap_s=10.0)
        self._restart_all(replace(self.world.installation, api_key=made))
        if revoked == "after":
            self._revoke(old)

    def _revoke(self, key: str) -> None:
        self.world.say("the old key of the API is revoked")
        found = api_keys.find_key(self.world.partner, key)
        if found is not None:
            api_keys.revoke(self.world.partner, found)

    def do_master_key(self, rng: random.Random, stage: str) -> None:
        """One stage of a rotation: the second key is added, made the first, everything sealed anew under it."""
        if stage == "seal anew":
            self.world.run_tool("countersign keys rewrap", _rewrap)
            self.drive(2.0)
        else:
            masters = {"add": (0, 1), "make first": (1, 0)}[stage]
            self._restart_all(replace(self.world.installation, masters=masters))

    def do_wrong_master_key(self, rng: random.Random) -> None:
        """Somebody starts it with another key than the one that everything is sealed with: it must not start."""
        world, right = self.world, self.world.installation
        if right.masters != (0,):
            return
        world.kill_bot()
        self.people.close_windows()
        world.installation, world.may_start = replace(right, masters=(1,)), False
        world.start_bots()
        self.until_ready()
        if any(process.ready for process in world.processes):
            self.watch.broken("a wrong key starts nothing", "Countersign started without its master key")
        world.kill_bot()
        world.installation, world.may_start = right, True
        world.start_bots()
        self.until_ready()

    def _restart_all(self, installation: Installation) -> None:
        """One process after another is started anew with these settings."""
        self.world.installation = installation
        self.people.close_windows()
        for process in [one for one in self.world.processes if one.owner.alive]:
            self.end(process)
            self.world.start_bots()
            self.until_ready()

    def do_back_up(self, rng: random.Random) -> None:
        self.world.back_up()
        self.watch.note_copy()

    def do_restore(self, rng: random.Random) -> None:
        """An older copy is put in place: in safe mode, if its anchors show it, until two people leave it."""
        world = self.world
        if world.copy is None:
            return
        world.kill_bot()
        self.people.close_windows()
        world.put_in_place(world.copy)
        self.watch.note_restored()
        world.start_bots()
        self.until_ready()


async def _rewrap(store: Store) -> None:
    await key_rotation.rewrap(store)
