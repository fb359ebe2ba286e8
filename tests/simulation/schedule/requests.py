"""Steps in which people ask for something, decide about it, or look at it."""

from __future__ import annotations

import random
from typing import Any

from tests.simulation.people import PEOPLE_WHO_DECIDE, likely_action
from tests.simulation.schedule.stage import HASHES, Json, Stage

NAMES = ("Nora Quist", "Nora Quist", "Marta Kowalska")


class RequestSteps(Stage):
    """People and requests."""

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

    def do_ask_many(self, rng: random.Random, kind: str, by: str, cards: list[int], amount: int) -> None:
        known = self.cards()
        if kind == "card_topup":
            lines = ["card,amount_usd", *(f"{known[one % len(known)]},{amount + one}" for one in cards)]
        else:
            lines = ["card", *(known[one % len(known)] for one in cards)]
        self.people.ask_for_many(by, "\n".join([*lines, ""]), kind=kind)

    def do_ask_by_name(self, rng: random.Random, by: str, text: str, many: bool) -> None:
        if many:
            self.people.ask_for_many(by, f"partner_ref,amount_usd\n{text},50\n", named=text)
        else:
            self.people.ask(by, "card_topup", {"card": text, "amount_usd": "50"}, named=text)

    def do_decide(self, rng: random.Random, by: str, pick: int, in_slack: bool, action: str = "") -> None:
        rows = self.world.rows(
            "SELECT * FROM request WHERE parent_id IS NULL ORDER BY created_at DESC, id LIMIT 8"
        )
        if action:
            tries_own = rng.random() < 0.15  # which is refused
            rows = [r for r in rows if r["state"] == "pending" and (tries_own or r["requester"] != by)]
        if not rows:
            return
        row = rows[pick % len(rows)]
        chosen, verdict = (action, "") if action else likely_action(row, by, rng)
        self.people.decide(by, chosen, row["id"], verdict=verdict, in_slack=in_slack)
        if chosen == "resolve":
            second = rng.choice([one for one in (*PEOPLE_WHO_DECIDE, row["requester"]) if one != by])
            self.people.decide(second, "resolve", row["id"], verdict=verdict)

    def do_by_hand(self, rng: random.Random, pick: int, verdict: str) -> None:
        rows = self.world.rows("SELECT id FROM request WHERE state = 'unresolved' ORDER BY id")
        if rows:
            for person in PEOPLE_WHO_DECIDE:
                self.people.decide(person, "resolve", rows[pick % len(rows)]["id"], verdict=verdict)

    def do_click(self, rng: random.Random, by: str, pick: int, action: str, verdict: str) -> None:
        """Whatever somebody may try, whether it is theirs to do or not."""
        if found := self._one_of_the_newest(pick):
            self.people.decide(by, action, found["id"], verdict=verdict)

    def do_click_twice(self, rng: random.Random, by: str, pick: int, action: str) -> None:
        if found := self._one_of_the_newest(pick):
            for _ in range(2):
                self.people.decide(by, action, found["id"])

    def _one_of_the_newest(self, pick: int) -> Any:
        rows = self.world.rows("SELECT * FROM request ORDER BY created_at DESC, id LIMIT 8")
        return rows[pick % len(rows)] if rows else None

    def do_open_link(self, rng: random.Random, pick: int, times: int, as_text: bool) -> None:
        """A link to card details is used as often, all at once."""
        links = self.people.links()
        if links:
            for _ in range(times):
                self.people.open_link(links[pick % len(links)], as_text=as_text)

    def do_another_link(self, rng: random.Random, by: str, pick: int) -> None:
        rows = self.world.rows("SELECT request_id FROM card_reveal ORDER BY request_id")
        if rows:
            self.people.ask_for_another_link(by, rows[pick % len(rows)]["request_id"])

    def do_look(self, rng: random.Random, by: str, command: str) -> None:
        self.people.look(by, command)

    def do_time_passes(self, rng: random.Random, seconds: float, every: float) -> None:
        """Nobody does anything, and everything that is due has a turn each so many seconds."""
        self.drive(seconds, leap_s=every)

    def _texts(self, kind: str, card: int, amount: int, pick: int, rng: random.Random) -> Json | None:
        """What is typed into the form of this kind; few values, so that requests meet."""
        known = self.cards()
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
