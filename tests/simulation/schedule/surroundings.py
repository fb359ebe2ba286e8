"""Steps in which the network, the API, Slack or money do something."""

from __future__ import annotations

import random
from contextlib import suppress
from decimal import Decimal
from typing import Any

from sandbox.partner.accounts import api_keys
from sandbox.partner.cards import cards, topups
from tests.simulation.network import SLACK, Trouble
from tests.simulation.schedule.stage import Json, Stage
from tests.simulation.world import START


class SurroundingSteps(Stage):
    """The network, the API, Slack, money."""

    def do_api_fault(self, rng: random.Random, fault: Json) -> None:
        self.watch.limits_planted |= fault.get("status") == 429
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

    def do_outage(self, rng: random.Random, side: str, effect: str, seconds: float, what: str = "") -> None:
        """Nothing gets through, or no call whose name contains `what`."""
        now = self.world.loop.time()
        self.world.network.troubles.append(Trouble(side, effect, what, 1, now + seconds, began=now))

    def do_rate(self, rng: random.Random, per_minute: int) -> None:
        """The API allows so many calls a minute from now on."""
        self.watch.limits_planted = True  # what was allowed a moment ago may be too much now
        self.world.partner.store.run("UPDATE api_keys SET rate_limit_per_minute = ?", per_minute)

    def do_slack_fault(self, rng: random.Random, fault: Json) -> None:
        # Slack refuses blocks for what is in them: one message, not whatever comes.
        times = 1 if fault.get("error") == "invalid_blocks" else fault["times"]
        self.world.slack.faults.add({**fault, "times": times})

    def do_support(self, rng: random.Random, pick: int, verdict: str) -> None:
        rows = self.world.partner.store.all(
            "SELECT kind, key FROM keyed WHERE kind IN ('topup', 'unload') AND state IN ('in_flight', 'unresolved')"
        )
        if rows:
            row = rows[pick % len(rows)]
            self.world.say(f"support settles {row['kind']} {row['key'][-6:]} as {verdict}.")
            self.try_partner(f"{row['kind']}s/{row['key']}/resolve", {"as": verdict})

    def do_money(self, rng: random.Random, kind: str, card: int, amount: int) -> None:
        known = self.cards()
        card_id = known[card % len(known)]
        if kind == "float":
            self.try_partner("float", {"amount_usd": str(-amount)})
        elif kind == "orphan":
            self._orphan(amount)
        elif kind == "3ds":
            self.try_partner(f"cards/{card_id}/3ds", {"amount_usd": str(amount)})
        elif kind in ("settle", "reverse", "refund"):
            rows = self.world.partner.store.all(
                "SELECT transaction_id FROM purchases ORDER BY seq DESC LIMIT 4"
            )
            if rows:
                self.try_partner(f"purchases/{rows[amount % len(rows)]['transaction_id']}/{kind}", {})
        else:
            declined = {"decline_code": "merchant_category_blocked"} if kind == "decline" else {}
            self.try_partner("purchases", {"card_id": card_id, "amount_usd": str(amount), **declined})

    def do_funding_decided(self, rng: random.Random, pick: int, decision: str) -> None:
        """The API's operators decide on a submission."""
        rows = self.world.partner.store.all("SELECT id FROM funding ORDER BY id")
        if rows:
            self.try_partner(f"funding/{rows[pick % len(rows)]['id']}/decide", {"decision": decision})

    def do_relay_answers(self, rng: random.Random, statuses: list[int]) -> None:
        self.world.relay.answers.extend(statuses)

    def _orphan(self, amount: int) -> None:
        """A debit under a key of this installation that its database does not know."""
        partner = self.world.partner
        instance = self.world.rows("SELECT value FROM meta WHERE name = 'instance'")[0]["value"]
        key = f"co-{instance}-01ORPHAN{len(self.watch.orphans)}"
        found = (cards.find(partner, card_id) for card_id in self.cards())
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

    def do_forgeries(self, rng: random.Random, count: int) -> None:
        for number in range(count):
            headers = {"X-SVC-Event": "card.created", "X-SVC-Delivery": f"forged-{number}"}
            headers |= {"X-SVC-Timestamp": str(int(START.timestamp())), "X-SVC-Signature": "0" * 64}
            post = self.world.api.deliver("POST", "http://x/webhooks/main", headers, b"{}")
            self.world.loop.spawn(self.world.world, _dropped(post))


async def _dropped(work: Any) -> None:
    """What is sent and of whose answer nobody asks."""
    with suppress(ConnectionError):
        await work
