"""A plan carried out: steps, what goes on between them, then calm, and the checks."""

from __future__ import annotations

import gc
import json
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from sandbox.partner.accounts import api_keys
from sandbox.partner.cards import cards, topups
from sandbox.slack.control import workspace_admin
from storage import audit
from tests.simulation import story
from tests.simulation.invariants import Violation, Watch
from tests.simulation.loop import Stuck
from tests.simulation.network import API, SLACK, Trouble
from tests.simulation.people import PEOPLE_WHO_DECIDE, People, likely_action
from tests.simulation.plan import Plan, Step
from tests.simulation.world import ALERTS, APPROVALS, BOB, CAROL, DAVE, START, World

Json = dict[str, Any]
HASHES = tuple(f"0x{number:064x}" for number in (0xA1, 0xB2, 0xC3))
NAMES = ("Nora Quist", "Nora Quist", "Marta Kowalska")
# At the end: time until every retry, sweep and reminder has had its turn.
CALM_S = 3 * 3600.0
MOST_LEAPS = 140
PATIENT_LEAPS = 40
LEADING_S = 85.0
# What is given up is looked at every quarter of an hour.
SWEEPS_S = 2800.0
_RESTING = """
SELECT min(due_at) AS at FROM request WHERE due_at IS NOT NULL AND state IN ('approved', 'executing', 'unresolved')
"""


@dataclass
class Result:
    """How a plan ended. `steps` is the number of callbacks the loop ran."""

    plan: Plan
    violations: list[Violation]
    steps: int
    seconds: float
    errors: list[str] = field(default_factory=list)
    requests: dict[str, int] = field(default_factory=dict)

    @property
    def seen(self) -> tuple[object, ...]:
        """Everything of it that must be the same when the plan is run again."""
        return self.steps, self.seconds, self.requests, self.errors, self.violations


def run(plan: Plan, folder: Path, *, tell: Callable[[float, str], None] | None = None) -> Result:
    """Carry out a plan in a world of its own; the first broken promise ends it."""
    gc.disable()  # what a run leaves is thrown away after it, at once
    world = World(plan.seed, folder, replicas=plan.replicas, tell=tell)
    try:
        return Schedule(plan, world).run()
    finally:
        world.close()
        if plan.seed % 8 == 0:
            gc.collect()


class Schedule:
    """One plan in one world."""

    def __init__(self, plan: Plan, world: World) -> None:
        self.plan = plan
        self.world = world
        self.watch = Watch(world)
        self.people = People(world)
        self.people.broken = self.watch.broken
        self._set_up()

    def _set_up(self) -> None:
        world = self.world
        if self.plan.settings:
            world.tell_partner("account", self.plan.settings)
        scopes = [s for s in api_keys.SCOPES if s not in self.plan.scopes_missing]
        world.partner.store.run("UPDATE api_keys SET scopes = ?", " ".join(scopes))
        for number, tx_hash in enumerate(HASHES):
            transfer = {"network": "POLYGON", "tx_hash": tx_hash, "senders": [f"0x{number + 1:040x}"]}
            world.tell_partner("chain/transfers", {**transfer, "token": "USDC", "amount": "120.00"})
        world.tell_partner("deliveries", {"map": {"countersign.example.com": "http://127.0.0.1:8402"}})

    def run(self) -> Result:
        world = self.world
        try:
            world.start_bots()
            self._drive(5.0)
            for step in self.plan.steps:
                self._between(step)
                self._take(step)
                self.watch.after_step()
                self.watch.emergencies_first(self._harmless)
                if self.watch.found:
                    break
            if not self.watch.found:
                self._calm()
        except Stuck as stuck:
            self.watch.broken("no loop spins", str(stuck)[:160])
        for line in world.unforeseen():
            self.watch.broken("no unforeseen error", line)
        states: dict[str, int] = {}
        for row in world.rows("SELECT kind, state FROM request"):
            states[f"{row['kind']} {row['state']}"] = states.get(f"{row['kind']} {row['state']}", 0) + 1
        return Result(
            self.plan, self.watch.found, world.loop.handled, world.loop.time(), world.errors, states
        )

    @property
    def _harmless(self) -> bool:
        """Nothing in this plan may hold up a call but calls that are not answered."""
        return {step.what for step in self.plan.steps} <= {"ask", "decide", "network", "look"} and not any(
            step.what == "network" and step.given["what"] != "limits" for step in self.plan.steps
        )

    # Time

    def _drive(self, seconds: float, *, leap_s: float = 0.0, most: int | None = None) -> None:
        """Let so much time pass. With `leap_s` the clock jumps where nothing is under way."""
        world = self.world

        def leap() -> float:
            # A leader that stands still for longer loses its lease each time.
            most = LEADING_S if world.replicas > 1 else leap_s
            return min(leap_s, most, world.network.rests_for())

        world.loop.drive(world.loop.time() + seconds, leap=leap if leap_s else None, most=most)

    def _between(self, step: Step) -> None:
        if step.wait == 0:
            rng = random.Random(f"{self.plan.seed}/{step.number}/between")
            self._drive(0.5, most=rng.randrange(120))
        elif step.wait < 2:
            self._drive(step.wait)
        else:
            self._drive(step.wait, leap_s=max(1.0, step.wait / 3))

    # Steps

    def _take(self, step: Step) -> None:
        self.world.say(f"· {story.sentence(step)}")
        name = "do_" + step.what.replace(" ", "_")
        act = getattr(self, name)
        self.world.inside(lambda: act(random.Random(f"{self.plan.seed}/{step.number}"), **step.given))

    def do_ask(
        self,
        rng: random.Random,
        kind: str,
        by: str,
        card: int,
        amount: int,
        now: bool,
        pick: int,
        in_slack: bool,
    ) -> None:
        texts = self._texts(kind, card, amount, pick, rng)
        if texts is not None:
            self.people.ask(by, kind, texts, now=now, in_slack=in_slack)

    def do_ask_many(self, rng: random.Random, by: str, cards: list[int], amount: int) -> None:
        known = self._cards()
        rows = "\n".join(f"{known[one % len(known)]},{amount + one}" for one in cards)
        self.people.ask_for_many(by, f"card,amount_usd\n{rows}\n")

    def do_decide(self, rng: random.Random, by: str, pick: int, in_slack: bool, action: str = "") -> None:
        rows = self.world.rows(
            "SELECT * FROM request WHERE parent_id IS NULL ORDER BY created_at DESC, id LIMIT 8"
        )
        if action:
            rows = [row for row in rows if row["state"] == "pending" and row["requester"] != by]
        if not rows:
            return
        row = rows[pick % len(rows)]
        chosen, verdict = (action, "") if action else likely_action(row, by, rng)
        self.people.decide(by, chosen, row["id"], verdict=verdict, in_slack=in_slack)
        if chosen == "resolve":
            second = rng.choice([one for one in (*PEOPLE_WHO_DECIDE, row["requester"]) if one != by])
            self.people.decide(second, "resolve", row["id"], verdict=verdict)

    def do_look(self, rng: random.Random, by: str, command: str) -> None:
        self.people.look(by, command)

    def do_api_fault(self, rng: random.Random, fault: Json) -> None:
        try:
            self.world.tell_partner("faults", fault)
        except AssertionError:
            self.world.say("  (there is no such fault)")

    def do_network(
        self, rng: random.Random, side: str, effect: str, what: str, times: int, seconds: float
    ) -> None:
        if side == SLACK and effect in ("late", "doubled"):
            effect = "answer lost"  # Slack has no key by which a post that arrives twice would be one
        self.world.network.troubles.append(Trouble(side, effect, what, times, None, seconds))

    def do_outage(self, rng: random.Random, side: str, effect: str, seconds: float) -> None:
        ends = self.world.loop.time() + seconds
        self.world.network.troubles.append(Trouble(side, effect, "", 1, ends, began=self.world.loop.time()))

    def do_slack_fault(self, rng: random.Random, fault: Json) -> None:
        # Slack refuses blocks for what is in them: one message, not whatever comes.
        times = 1 if fault.get("error") == "invalid_blocks" else fault["times"]
        self.world.slack.faults.add({**fault, "times": times})

    def do_kill(self, rng: random.Random, after: int, down: float) -> None:
        self._drive(3.0, most=after)
        self.world.kill_bot(self.world.bot)
        self._again(down)

    def do_standstill(self, rng: random.Random, after: int, seconds: float) -> None:
        self._drive(3.0, most=after)
        bot = self.world.bot
        if bot is not None:
            self.world.say(f"{bot.owner.name} stands still for {seconds:.0f} s")
            self.watch.stood_still.add(bot.owner.name)
            bot.owner.stands_still_until = self.world.loop.time() + seconds
            self._drive(seconds, leap_s=seconds / 6)

    def do_old_row(self, rng: random.Random, pick: int) -> None:
        """A request as an older version of the bot kept it, whose card is to be drawn again."""
        rows = self.world.rows("SELECT id FROM request WHERE rows IS NULL AND parent_id IS NULL ORDER BY id")
        if rows:
            old = rows[pick % len(rows)]["id"]
            self.watch.old_rows.add(old)
            self.world.write("UPDATE request SET facts = '{}' WHERE id = ?", old)
            self.people.redraw(old)

    def do_restart(self, rng: random.Random, after: int, down: float) -> None:
        self._drive(3.0, most=after)
        bot = self.world.bot
        if bot is not None:
            self.world.say(f"{bot.owner.name} is asked to end")
            self.watch.ending[bot.owner.name] = self.world.loop.time()
            bot.ask_to_end()
            self._drive(15.0)
            self.world.kill_bot(bot)
        self._again(down)

    def do_die_at(self, rng: random.Random, point: str, nth: int, down: float) -> None:
        self.world.die_at = (point, nth)

    def _again(self, down: float) -> None:
        self.people.close_windows()
        self._drive(down, leap_s=30.0)
        self.world.start_bots()

    def do_disk_full(self, rng: random.Random, seconds: float) -> None:
        bot = self.world.bot
        if bot is not None:
            bot.storage.full = True
            self._drive(seconds)
            bot.storage.full = False
            self.watch.disk_full_until = self.world.loop.time()

    def do_clock(self, rng: random.Random, wrong_by: float) -> None:
        self.world.set_clocks(wrong_by)

    def do_person(self, rng: random.Random, who: str, change: Json) -> None:
        self._change_person(who, change)

    def _change_person(self, who: str, change: Json) -> None:
        workspace_admin.change_person(self.world.slack, {"id": who, **change})
        self._note_who_left()

    def do_group(self, rng: random.Random, users: list[str]) -> None:
        workspace_admin.change_group(self.world.slack, {"handle": "card-approvers", "users": users})
        self._note_who_left()

    def _note_who_left(self) -> None:
        able, now = self.world.able_to_approve(), self.world.loop.time()
        for person in (*PEOPLE_WHO_DECIDE, DAVE):
            if person in able:
                self.watch.gone_since.pop(person, None)
            else:
                self.watch.gone_since.setdefault(person, now)

    def do_pause(self, rng: random.Random, by: str) -> None:
        self.people.pause(by)

    def do_resume(self, rng: random.Random, by: str) -> None:
        self.people.resume(BOB, CAROL)

    def do_support(self, rng: random.Random, pick: int, verdict: str) -> None:
        rows = self.world.partner.store.all(
            "SELECT kind, key FROM keyed WHERE kind IN ('topup', 'unload') AND state IN ('in_flight', 'unresolved')"
        )
        if rows:
            row = rows[pick % len(rows)]
            self.world.say(f"support settles {row['kind']} {row['key'][-6:]} as {verdict}")
            self._try_partner(f"{row['kind']}s/{row['key']}/resolve", {"as": verdict})

    def do_money(self, rng: random.Random, kind: str, card: int, amount: int) -> None:
        known = self._cards()
        if kind == "float":
            self._try_partner("float", {"amount_usd": str(-amount)})
        elif kind == "orphan":
            self._orphan(amount)
        else:
            self._try_partner("purchases", {"card_id": known[card % len(known)], "amount_usd": str(amount)})

    def do_by_hand(self, rng: random.Random, pick: int, verdict: str) -> None:
        rows = self.world.rows("SELECT id FROM request WHERE state = 'unresolved' ORDER BY id")
        if rows:
            for person in PEOPLE_WHO_DECIDE:
                self.people.decide(person, "resolve", rows[pick % len(rows)]["id"], verdict=verdict)

    def do_ask_by_name(self, rng: random.Random, by: str, text: str, many: bool) -> None:
        if many:
            self.people.ask_for_many(by, f"partner_ref,amount_usd\n{text},50\n", named=text)
        else:
            self.people.ask(by, "card_topup", {"card": text, "amount_usd": "50"}, named=text)

    def do_forgeries(self, rng: random.Random, count: int) -> None:
        for number in range(count):
            headers = {"X-SVC-Event": "card.created", "X-SVC-Delivery": f"forged-{number}"}
            headers |= {"X-SVC-Timestamp": str(int(START.timestamp())), "X-SVC-Signature": "0" * 64}
            post = self.world.deliver("POST", "http://x/webhooks/main", headers, b"{}")
            self.world.loop.spawn(self.world.world, _dropped(post))

    def _orphan(self, amount: int) -> None:
        """A debit under a key of this installation that its database does not know."""
        partner = self.world.partner
        instance = self.world.rows("SELECT value FROM meta WHERE name = 'instance'")[0]["value"]
        key = f"co-{instance}-01ORPHAN{len(self.watch.orphans)}"
        found = (cards.find(partner, card_id) for card_id in self._cards())
        card = next((one for one in found if one is not None and not one.closed), None)
        if card is None:
            return
        self.watch.orphans.add(key)
        topups.credit_top_up(partner, topups.debit_for_top_up(partner, card, Decimal(amount), key))

    def do_api_key(self, rng: random.Random, scopes: str) -> None:
        left = {
            "all": api_keys.SCOPES,
            "read only": tuple(s for s in api_keys.SCOPES if s.endswith(":read")),
            "no users:write": tuple(s for s in api_keys.SCOPES if s != "users:write"),
        }[scopes]
        self.world.partner.store.run("UPDATE api_keys SET scopes = ?", " ".join(left))

    def _try_partner(self, call: str, body: Json) -> None:
        try:
            self.world.tell_partner(call, body)
        except AssertionError as refused:
            self.world.say(f"  (the API's side refused: {str(refused)[:100]})")

    def _cards(self) -> list[str]:
        return [
            row["id"] for row in self.world.partner.store.all("SELECT id FROM cards ORDER BY seq LIMIT 4")
        ]

    def _texts(self, kind: str, card: int, amount: int, pick: int, rng: random.Random) -> Json | None:
        """What is typed into the form of this kind; few values, so that requests meet."""
        known = self._cards()
        about = {"card": known[card % len(known)]}
        if kind in ("card_topup", "card_unload"):
            return {**about, "amount_usd": str(amount)}
        if kind == "card_limits":
            return {**about, "daily_limit": str(amount), "monthly_limit": str(amount * 10)}
        if kind == "card_phone":
            return {**about, "phone_country_code": "46", "phone": f"70123456{pick % 3}"}
        if kind == "card_3ds":
            return {**about, "program_enabled": "yes"}
        if kind == "card_order":
            name = NAMES[pick % len(NAMES)]
            person = {"phone_country_code": "46", "phone": "701234567", "email": "nora@example.com"}
            return {"card_holder_name": name, **person, "partner_ref": ("emp-1", "")[pick % 2]}
        if kind == "fees_markup":
            return {"markup_percent": ("1", "2.5", "4")[pick % 3]}
        if kind == "funding_submit":
            return {"tx_hash": HASHES[pick % 2], "network": ("POLYGON", "POLYGON", "BNB")[pick % 3]}
        if kind == "deposit_quote":
            return {**about, "amount_usd": str(amount), "asset": "USDC", "chain": "POLYGON"}
        if kind == "webhook_register":
            return {"url": "https://countersign.example.com/webhooks/main"}
        if kind == "event_redeliver":
            rows = self.world.partner.store.all("SELECT id FROM events ORDER BY seq")
            return {"event_id": rows[pick % len(rows)]["id"]} if rows else None
        if kind == "card_close":
            last4 = self.world.partner.store.one("SELECT last4 FROM cards WHERE id = ?", about["card"])
            return {**about, "last4": last4["last4"] if last4 else ""}
        return about if kind.startswith("card_") else {}

    # The end

    def _calm(self) -> None:
        """Everything that goes wrong stops, everybody is back, and time passes until all has ended that can."""
        world = self.world
        world.say("— the trouble ends —")
        self._drive(1.0)
        world.network.troubles.clear()
        world.slack.faults.clear()
        world.tell_partner("faults", method="DELETE")
        world.tell_partner("account", {"processor_timeout": "502"})
        world.set_clocks(0.0)
        world.die_at = None
        world.inside(self._everybody_is_back)
        keep = [s for s in api_keys.SCOPES if s not in self.plan.scopes_missing]
        world.partner.store.run("UPDATE api_keys SET scopes = ?", " ".join(keep))
        for process in world.processes:
            if not process.ready:
                world.kill_bot(process)
        world.start_bots()
        self._drive(10.0)
        if world.rows("SELECT 1 FROM pause"):
            self.people.resume(BOB, CAROL)
        self._until_rest()
        self._end_by_hand()
        if self.watch.orphans:
            self._drive(1300.0, leap_s=325.0)  # until the whole ledger has been read again
        self._drive(200.0, leap_s=40.0)  # as on a machine that stands still no more
        for _ in range(40):
            if not world.rows("SELECT 1 FROM outbox WHERE state IN ('owed', 'sending')"):
                break
            self._drive(12.0, leap_s=4.0)
        for line in self.watch.final_sums():
            self.watch.broken("S sums", line)
        self.watch.at_the_end()
        self._verify_audit()

    def _everybody_is_back(self) -> None:
        for person in (*PEOPLE_WHO_DECIDE, "U0ALICE", DAVE):
            self._change_person(person, {"deleted": False, "is_restricted": False})
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
                self._drive(20.0)
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
                # On a clock that was fast it is due when the clock gets there again.
                until_owed = (datetime.fromisoformat(owed) - START).total_seconds() - world.loop.time()
                pause_s = min(pause_s, max(3.0, until_owed + 0.5))
            if due is not None:
                until_due = (datetime.fromisoformat(due) - START).total_seconds() - world.loop.time()
                at_least_s = 2.0 if leap < PATIENT_LEAPS else 90.0
                pause_s = min(pause_s, max(at_least_s, until_due + 0.5))
            self._drive(pause_s, leap_s=pause_s)
            self._drive(1.5)

    def _end_by_hand(self) -> None:
        """What no reading can settle two people can: they say what the API's side knows to be true."""
        rows = self.world.rows("SELECT * FROM request WHERE state = 'unresolved'")
        for row in rows:
            verdict = "succeeded" if self.watch.did(row) else "failed"
            for person in PEOPLE_WHO_DECIDE:
                self.people.decide(person, "resolve", row["id"], verdict=verdict)
                self._drive(4.0)
        for row in rows:
            left = self.world.rows("SELECT state FROM request WHERE id = ?", row["id"])[0]["state"]
            if left == "unresolved" and not self.watch.found:
                self.watch.broken("people can end it", f"{row['id']} ({row['kind']}) stays unresolved")

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
        self._drive(0.5)


async def _dropped(work: Any) -> None:
    """What is sent and of whose answer nobody asks."""
    with suppress(ConnectionError):
        await work


__all__ = ["ALERTS", "API", "APPROVALS", "SLACK", "Result", "Schedule", "json", "run"]
