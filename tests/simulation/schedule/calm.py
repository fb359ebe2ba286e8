"""The end of a plan: everything that goes wrong stops, time passes, then the last checks."""

from __future__ import annotations

import random
from datetime import datetime
from functools import partial

from sandbox.partner.accounts import api_keys
from storage import audit
from tests.simulation.invariants.record import seconds
from tests.simulation.invariants.reports import REMINDED_EVERY_S, REMINDED_WITHIN_S
from tests.simulation.people import PEOPLE_WHO_DECIDE
from tests.simulation.schedule.machine import MachineSteps
from tests.simulation.schedule.operators import OperatorSteps
from tests.simulation.schedule.surroundings import SurroundingSteps
from tests.simulation.world import BOB, CAROL, DAVE, START

# At the end: time until every retry, sweep and reminder has had its turn.
# So often people try to resume.
TRIES = 5
# And to say how a request ended. Whoever signs with a passkey opens a page first.
ENDED_IN_TRIES = 3
ANSWERED_WITHIN_S = 10.0
CALM_S = 3600.0
# What waits for Slack is tried again within this time, also where a clock was fast when it was put off.
PUT_OFF_S = 125.0
MOST_LEAPS = 140
PATIENT_LEAPS = 40
# What is given up is looked at every quarter of an hour.
SWEEPS_S = 2800.0
_RESTING = """
SELECT min(due_at) AS at FROM request WHERE due_at IS NOT NULL AND state IN ('approved', 'executing', 'unresolved')
"""
_LOOKED_AT_NOW_AND_THEN = (
    "SELECT 1 FROM alert WHERE kind IN ('poller_silent', 'policy', 'slack_access') AND state <> 'resolved'"
)
_REFUSED = "SELECT 1 FROM alert WHERE kind = 'deliveries_refused' AND state <> 'resolved'"

# What keeps somebody from using Countersign.
_BARRED = ("deleted", "is_restricted", "is_ultra_restricted", "is_stranger", "is_bot")


class Calm(MachineSteps, OperatorSteps, SurroundingSteps):
    """Until all has ended that can."""

    def calm(self) -> None:
        """Everything that goes wrong stops, everybody is back, and time passes until all has ended that can."""
        world = self.world
        world.say("— the trouble ends —")
        world.all_jobs.set()
        self.drive(1.0)
        world.network.troubles.clear()
        world.slack.faults.clear()
        world.tell_partner("faults", method="DELETE")
        world.tell_partner("account", {"processor_timeout": "502"})
        world.set_clocks(0.0)
        self.do_rate(random.Random(0), api_keys.RATE_LIMIT_PER_MINUTE)
        for process in world.processes:
            process.storage.lost_commits.clear()
        world.die_at = None
        world.inside(self._everybody_is_back)
        world.partner.store.run("UPDATE api_keys SET scopes = ?", " ".join(self.scopes()))
        world.relay.answers.clear()
        for process in world.processes:
            if not process.ready:
                world.kill_bot(process)
        world.start_bots()
        self.drive(10.0, leap_s=2.5)
        for _ in range(TRIES):
            if not world.rows("SELECT 1 FROM pause"):
                break
            self.people.resume(BOB, CAROL)
            self.drive(70.0, leap_s=10.0)  # where Slack says too little of who may, they try again
        self._one_is_enough()
        self._until_rest()
        if not self.watch.found:
            self.watch.truth.settled(world.rows("SELECT * FROM request WHERE state = 'unresolved'"))
        if self.plan.seed % 4 == 0:
            self._until_reminded()
        self._end_by_hand()
        if self.watch.orphans or self.watch.undone:
            self.drive(1300.0, leap_s=325.0)  # until the whole ledger has been read again
        self.drive(200.0, leap_s=60.0)  # as on a machine that stands still no more
        if world.rows(_REFUSED):
            self.drive(400.0, leap_s=80.0)  # until nobody has tried for a while
        for _ in range(10):
            if not world.rows(_LOOKED_AT_NOW_AND_THEN):
                break
            self.drive(70.0, leap_s=10.0)
        for _ in range(40):
            if not world.rows("SELECT 1 FROM outbox WHERE state IN ('owed', 'sending')"):
                break
            self.drive(12.0, leap_s=4.0)
        for line in self.watch.final_sums():
            self.watch.broken("S sums", line)
        self.watch.at_the_end()
        self._verify_audit()

    def _one_is_enough(self) -> None:
        """Of several processes mostly one waits for the end: what they do at the same time has been seen by now."""
        world = self.world
        if world.wanted == 1 or self.plan.seed % 32 == 0:
            return
        self.drive(30.0, leap_s=5.0)
        world.wanted = 1
        while sum(process.owner.alive for process in world.processes) > 1 and world.bot is not None:
            self.end(world.bot)
        while self._somebody_dead_holds_a_lock():
            self.drive(10.0, leap_s=2.5)
        last = world.bot
        if last is not None:
            last.work_alone()

    def _somebody_dead_holds_a_lock(self) -> bool:
        """Whoever works alone asks again only after hours for what was held by another when it asked."""
        world = self.world
        locked = world.rows("SELECT owner, max(until) AS until FROM lease GROUP BY owner")
        late = {row["owner"] for row in locked if seconds(row["until"]) > world.loop.time()}
        return not late <= {
            world.owner_of(process.owner) for process in world.processes if process.owner.alive
        }

    def _everybody_is_back(self) -> None:
        for person in (*PEOPLE_WHO_DECIDE, "U0ALICE", DAVE):
            self.change_person(person, dict.fromkeys(_BARRED, False))
        self.do_group(random.Random(0), [BOB, CAROL])

    def _until_rest(self) -> None:
        """Time passes in leaps to whatever is due next; then far enough for sweeps and daily looks."""
        world = self.world
        began = world.loop.time()
        for leap in range(MOST_LEAPS):
            self.watch.after_step()
            if self.watch.found or world.loop.time() - began > CALM_S:
                return
            if world.bot is None or not world.bot.ready:
                self.drive(20.0)
                if world.bot is None or not world.bot.ready:
                    world.kill_bot()  # it refused to start, or waits for nothing: whoever runs it starts it again
                    world.start_bots()
            owed = world.rows("SELECT min(due_at) AS at FROM outbox WHERE state IN ('owed', 'sending')")[0][
                "at"
            ]
            due = world.rows(_RESTING)[0]["at"]
            if due is None and owed is None and world.loop.time() - began >= self._sweeps_s():
                return
            pause_s = 900.0
            if owed is not None:
                until_owed = (datetime.fromisoformat(owed) - START).total_seconds() - world.loop.time()
                pause_s = min(pause_s, PUT_OFF_S, max(3.0, until_owed + 0.5))
            if due is not None:
                until_due = (datetime.fromisoformat(due) - START).total_seconds() - world.loop.time()
                at_least_s = 2.0 if leap < PATIENT_LEAPS else 90.0
                pause_s = min(pause_s, max(at_least_s, until_due + 0.5))
            self.drive(pause_s, leap_s=pause_s)
            self.drive(1.5, leap_s=0.5)

    def _until_reminded(self) -> None:
        """What has no outcome stays so for hours, and nobody forgets it."""
        unresolved = "SELECT * FROM request WHERE state = 'unresolved' AND first_sent_at IS NOT NULL"
        rows = self.world.rows(unresolved)
        if rows and not self.watch.found:
            newest = max(seconds(row["first_sent_at"]) for row in rows)
            left_s = newest + REMINDED_EVERY_S - self.world.loop.time()
            self.drive(max(0.0, left_s), leap_s=900.0)
            self.drive(REMINDED_WITHIN_S + 20, leap_s=30.0)
            self.watch.reports.reminders(self.world.rows(unresolved))

    def _end_by_hand(self) -> None:
        """What no reading can settle two people can: they say what the API's side knows to be true."""
        for row in self.world.rows("SELECT * FROM request WHERE state = 'unresolved'"):
            verdict = "succeeded" if self.watch.did(row) else "failed"
            # A look may change it while a page for passkeys is open: then the page says so, and they try again.
            for _ in range(ENDED_IN_TRIES):
                if not self._has_ended(row["id"]):
                    self._say_how_it_ended(row["id"], verdict)
            if not self._has_ended(row["id"]) and not self.watch.found:
                self.watch.broken("people can end it", f"{row['id']} ({row['kind']}) stays unresolved")

    def _say_how_it_ended(self, request_id: str, verdict: str) -> None:
        for person in PEOPLE_WHO_DECIDE:
            self.people.decide(person, "resolve", request_id, verdict=verdict)
            self.drive(4.0, leap_s=1.0)
        self.drive_until(partial(self._has_ended, request_id), ANSWERED_WITHIN_S)

    def _has_ended(self, request_id: str) -> bool:
        return str(self.watch.row(request_id)["state"]) != "unresolved"

    def _sweeps_s(self) -> float:
        """How long it takes until what was given up has been looked at again, where anything was."""
        doubtful = self.world.rows(
            "SELECT 1 FROM request WHERE first_sent_at IS NOT NULL AND state IN ('failed', 'unresolved')"
        )
        return SWEEPS_S if doubtful else 0.0

    def _verify_audit(self) -> None:
        """I-17: the whole chain."""
        bot = self.world.bot
        if bot is None or bot.running is None:
            self.watch.broken("I-6 ends", f"Countersign does not start: {bot.failed if bot else None}")
            return
        core = bot.core

        async def verify() -> None:
            async with core.store.read() as tx:
                report = await audit.verify(tx)
            if not report.ok:
                self.watch.broken("I-17 chain", f"broken at entry {report.first_bad}")

        self.world.loop.spawn(bot.owner, verify())
        self.drive(0.5)
