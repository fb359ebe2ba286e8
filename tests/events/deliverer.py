"""The card provider's side of deliveries to a bot that is killed: every event is sent until it was answered 200."""

import asyncio
import hashlib
import hmac
import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp

from bot.domain.time import SystemClock
from bot.partner.secret import Secret
from storage.events import webhook_secrets
from storage.store import Store
from storage.vault import Keyring, Vault
from tests.crash.outside import MASTER, Outside
from tests.support.posted_ids import dedupe_of

SECRET = "whsec_" + "d" * 32
LEGS = ("authorized", "cleared", "refund", "reversal")
_TYPES = {"authorized": "card.authorized", "declined": "card.declined"}
AT_ONCE = 6


async def keep_secret(world: Outside) -> None:
    """Store the secret as a registration would; the bot is not running yet."""
    url = world.env["COUNTERSIGN_DATABASE_URL"]
    store = await Store.open(url, vault=Vault(Keyring.parse(MASTER)), clock=SystemClock())
    async with store.begin() as tx:
        until = tx.now + timedelta(minutes=10)
        await webhook_secrets.put(tx, "main", Secret(SECRET), previous_until=until)
    await store.close()


@dataclass
class Deliverer:
    """Makes purchases up and delivers their events, several at once and some of them twice."""

    world: Outside
    rng: random.Random
    made: dict[str, bytes] = field(default_factory=dict)
    accepted: set[str] = field(default_factory=set)
    answers: Counter[str] = field(default_factory=Counter)

    def purchase(self) -> None:
        """The events of one more purchase, to be delivered in any order; every third is declined for fraud,
        each on a card of its own, so that each is an alert of its own."""
        name = f"purchase-{len(self.made)}"
        if self.rng.random() < 0.33:
            self.made[f"{name}-declined"] = json.dumps(
                self.event(f"{name}-declined", name, "declined")
            ).encode()
            return
        for kind in LEGS[: self.rng.randint(1, len(LEGS))]:
            event_id = f"{name}-{kind}"
            self.made[event_id] = json.dumps(self.event(event_id, name, kind)).encode()

    def event(self, event_id: str, name: str, kind: str) -> dict[str, Any]:
        """An event of the purchase `name`, as the card provider would make it now."""
        stamp = self._now().isoformat()
        data = {
            "card_id": "card-1",
            "transaction_id": name,
            "event": kind,
            "amount_usd": 10.5,
            "fee_usd": 0.5,
            "original_amount": 9,
            "original_currency": "EUR",
            "occurred_at": stamp,
        }
        kind_of_event = _TYPES.get(kind, "card.transaction")
        if kind == "declined":
            why = {
                "code": "fraud_risk_declined",
                "message": "No",
                "retryable": False,
                "card_blocked": False,
            }
            data |= {"card_id": f"card-{name}", "decline_reason": why}
        return {"id": event_id, "type": kind_of_event, "created_at": stamp, "data": data}

    def _now(self) -> datetime:
        return datetime.fromtimestamp(time.time() + self.world.leaps.offset_s, UTC)

    @property
    def queued(self) -> list[str]:
        return [event_id for event_id in self.made if event_id not in self.accepted]

    async def work(self, url: str) -> None:
        """Deliver what waits for the bot at this address, and make more of it. Until cancelled."""
        async with aiohttp.ClientSession(url) as client:
            while True:
                if len(self.queued) < AT_ONCE:
                    self.purchase()
                chosen = self.rng.sample(self.queued, min(AT_ONCE, len(self.queued)))
                repeated = self.rng.sample(sorted(self.accepted), min(1, len(self.accepted)))
                await asyncio.gather(*(self._deliver(client, one) for one in [*chosen, *repeated]))
                await asyncio.sleep(0.005)

    async def finish(self, url: str) -> None:
        """Deliver what still waits."""
        async with aiohttp.ClientSession(url) as client:
            while self.queued:
                await asyncio.gather(*(self._deliver(client, one) for one in self.queued))

    async def _deliver(self, client: aiohttp.ClientSession, event_id: str) -> None:
        raw = self.made[event_id]
        stamp = str(int(self._now().timestamp()))
        signed = hmac.new(SECRET.encode(), stamp.encode() + b"." + raw, hashlib.sha256).hexdigest()
        headers = {"X-SVC-Timestamp": stamp, "X-SVC-Signature": signed}
        with suppress(aiohttp.ClientError, TimeoutError):
            async with client.post("/webhooks/main", data=raw, headers=headers) as answer:
                self.answers[str(answer.status)] += 1
                if answer.status == 200:
                    self.accepted.add(event_id)
            return
        self.answers["none"] += 1


def violations(world: Outside, deliverer: Deliverer) -> list[str]:
    """What was lost, doubled or half done of the events; empty when nothing was."""
    found = [f"answered {status}" for status in deliverer.answers if status not in ("200", "none")]
    rows = world.rows("SELECT event_id, state FROM inbox WHERE event_id LIKE 'purchase-%'")
    stored = Counter(row["event_id"] for row in rows)
    found += [f"{event_id} was accepted and is lost" for event_id in deliverer.accepted - set(stored)]
    found += [f"{event_id} is there {times} times" for event_id, times in stored.items() if times > 1]
    found += [f"{row['event_id']} is not handled" for row in rows if row["state"] != "processed"]
    shown: dict[str, set[str]] = {}
    for event_id in stored:
        shown.setdefault(event_id.rsplit("-", 1)[0], set()).add(event_id)
    for name, events in shown.items():
        drawn = world.rows("SELECT picture FROM purchase WHERE transaction_id = ?", name)
        legs = json.loads(drawn[0]["picture"])["legs"] if drawn else 0
        if legs != len(events):
            found.append(f"{name} is drawn from {legs} of its {len(events)} events")
    return [*found, *_alerts(world, {name for name in stored if name.endswith("-declined")})]


def _alerts(world: Outside, declines: set[str]) -> Iterator[str]:
    """Each of these declines is reported once, by a message of its own."""
    posted = Counter(
        dedupe_of(message).split(":")[1]
        for message in world.posts()
        if dedupe_of(message).startswith("alert:") and message.get("thread_ts") in (None, message["ts"])
    )
    for event_id in declines:
        card = f"card-{event_id.removesuffix('-declined')}"
        raised = world.rows("SELECT id, count FROM alert WHERE kind = 'decline' AND subject = ?", card)
        if [row["count"] for row in raised] != [1]:
            yield f"{event_id} was counted in {[tuple(row) for row in raised]}"
        for row in raised:
            if posted[row["id"]] != 1:
                yield f"the alert of {event_id} was posted {posted[row['id']]} times"


async def learns_of(deliverer: Deliverer, url: str, name: str) -> None:
    """The bot at this address is delivered a decline for fraud."""
    event = deliverer.event(f"purchase-{name}-declined", f"purchase-{name}", "declined")
    deliverer.made[event["id"]] = json.dumps(event).encode()
    await deliverer.finish(url)
