"""Steps in which something happens to the processes of the bot, their clocks, their disk and their data."""

from __future__ import annotations

import random
import sqlite3
from functools import partial

from tests.simulation.schedule.stage import Stage
from tests.simulation.world import Process

# Until a process that was started says no, or works; and until one that was asked to end is ended.
STARTS_S = 12.0
ENDS_WITHIN_S = 15.0


class MachineSteps(Stage):
    """Processes, clocks, disk, data."""

    def do_kill(self, rng: random.Random, after: int, down: float) -> None:
        self.drive(3.0, most=after)
        self.world.kill_bot(self.world.bot)
        self.again(rng, down)

    def do_standstill(self, rng: random.Random, after: int, seconds: float, holds: bool = False) -> None:
        """A process stands still; with `holds` one that has claimed something, where one has."""
        self.drive(3.0, most=after)
        bot = (self._that_holds_something() if holds else None) or self.world.bot
        if bot is not None:
            self.world.say(f"{bot.owner.name} stands still for {seconds:.0f} s.")
            self.watch.stood_still.add(bot.owner.name)
            bot.owner.stands_still_until = self.world.loop.time() + seconds
            self.drive(seconds, leap_s=seconds / 6)

    def _that_holds_something(self) -> Process | None:
        rows = self.world.rows(
            "SELECT lease_owner FROM request WHERE lease_owner IS NOT NULL ORDER BY lease_until"
        )
        holders = [row["lease_owner"] for row in rows]
        alive = (one for one in self.world.processes if one.ready and one.name in holders)
        return next(alive, None)

    def do_old_row(self, rng: random.Random, pick: int) -> None:
        """A request that ended, as an older version of the bot kept it, whose card is to be drawn again."""
        rows = self.world.rows(
            "SELECT id FROM request WHERE rows IS NULL AND parent_id IS NULL AND finished_at IS NOT NULL ORDER BY id"
        )
        if rows:
            old = rows[pick % len(rows)]["id"]
            self.watch.old_rows.add(old)
            self.drive_until(partial(self._is_made_older, old), 10.0)
            self.people.redraw(old)

    def _is_made_older(self, request_id: str) -> bool:
        """Not while somebody else writes."""
        try:
            self.world.write("UPDATE request SET facts = '{}' WHERE id = ?", request_id)
        except sqlite3.OperationalError:
            return False
        return True

    def do_restart(self, rng: random.Random, after: int, down: float) -> None:
        self.drive(3.0, most=after)
        bot = self.world.bot
        if bot is not None:
            self.end(bot)
        self.again(rng, down)

    def end(self, process: Process) -> None:
        """As SIGTERM, and SIGKILL where it has not ended by itself in time."""
        self.world.say(f"{process.owner.name} is asked to end.")
        self.watch.ending[process.owner.name] = self.world.loop.time()
        process.ask_to_end()
        self.drive_until(lambda: not process.owner.alive, ENDS_WITHIN_S)
        self.world.kill_bot(process)

    def do_die_at(self, rng: random.Random, point: str, nth: int, down: float) -> None:
        self.world.die_at = (point, nth)

    def again(self, rng: random.Random, down: float) -> None:
        """It is started, and people go on: mostly once it works, now and then while it does not yet."""
        self.people.close_windows()
        self.drive(down, leap_s=30.0)
        self.world.start_bots()
        if rng.random() < 0.8:
            self.until_ready()

    def until_ready(self) -> None:
        """Until every process says no, or works."""
        self.drive_until(
            lambda: all(one.ready or one.failed for one in self.world.processes if one.owner.alive), STARTS_S
        )

    def do_disk_full(self, rng: random.Random, seconds: float) -> None:
        bot = self.world.bot
        if bot is not None:
            bot.storage.full = True
            self.drive(seconds)
            bot.storage.full = False
            self.watch.disk_full_until = self.world.loop.time()

    def do_database(self, rng: random.Random, says: str, seconds: float) -> None:
        """The database refuses everything to every process, and takes it again."""
        for process in self.world.processes:
            process.storage.refusal = says
        self.drive(seconds)
        for process in self.world.processes:
            process.storage.refusal = ""
        self.watch.disk_full_until = self.world.loop.time()

    def do_no_audit_entry(self, rng: random.Random, seconds: float) -> None:
        """For a while every entry of the audit fails, and with it whatever it is an entry of."""
        for process in self.world.processes:
            process.storage.takes_no_entry = True
        self.drive(seconds)
        for process in self.world.processes:
            process.storage.takes_no_entry = False
        self.watch.disk_full_until = self.world.loop.time()

    def do_lost_commits(self, rng: random.Random, times: int, done: bool) -> None:
        """The connection to the database breaks during the next COMMITs, which are done or not."""
        bot = self.world.bot
        if bot is not None:
            bot.storage.lost_commits.extend([done] * times)

    def do_clock(self, rng: random.Random, wrong_by: float) -> None:
        self.world.set_clocks(wrong_by)

    def do_clock_of_one(self, rng: random.Random, wrong_by: float) -> None:
        """Of several processes one has a wrong clock."""
        self.world.set_clocks(wrong_by, self.world.bot)
