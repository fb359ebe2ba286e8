"""A machine that plays careless clients, merchants, faults, support and operators against the simulator.

After every step the simulator's own invariants hold, and so does a model kept here, which knows
nothing but the answers: one debit per key, no money from nowhere, no purchase beyond a limit, and
deliveries that are signed with the secret last given and carry what the log shows.
"""

import asyncio
import hashlib
import hmac
from decimal import Decimal
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sandbox.partner import codec, invariants
from sandbox.partner.accounts import account, first_account
from sandbox.partner.control import dispatch
from sandbox.partner.http import Answer, Request, Wire
from sandbox.partner.ledger import ledger
from sandbox.partner.routes import BASE_PATH
from sandbox.partner.server import answering, build_world, standing_key

AMOUNTS = st.decimals("0.01", "250", places=2)
KEYS = st.sampled_from([f"k{n}" for n in range(4)])
EFFECTS = st.sampled_from(
    ["drop_before_commit", "drop_after_commit", "drop_midway", "reset", "garbage", "status"]
)
ANSWERS = st.sampled_from(["400", "401", "403", "409", "412", "429", "5xx", "timeout", "capacity"])
SWITCHES: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"unload_replay": "conflict"}, {"key_scope": "account"}, {"key_amount": "conflict"},
        {"refund_reference": "same"}, {"topup_frozen": "refuse"}, {"funds_check": "before_replay"},
        {"outstanding": "live_balances"}, {"float_limit_usd": "150"}, {"unload_reference": "none"},
        {"order_claim_row": "no"}, {"create_400_key": "spent"}, {"first_sync": "immediate"}, {"monthly_fee": "invoice"},
        {"spend_window": "rolling"}, {"authorization_days": 1}, {"suspended_deliveries": "continue"},
        {"threeds_webhook_enabled": True}, {"transaction_markup_pct": "0.0125"}, {"close_again": "conflict"},
        {"velocity_per_minute": 2},
        {"profile": "scrambled"}, {"profile": "documented"}, {"threeds_default": "webhook"},
        {"float_limit_usd": None}, {"float_limit_usd": "40"}, {"float_limit_usd": "90.5"},
    ]
)  # fmt: skip


class Machine(RuleBasedStateMachine):
    steps: ClassVar[int] = 0  # of all runs, for the report of the soak

    def __init__(self) -> None:
        super().__init__()
        self.world = build_world()
        self.key = standing_key(self.world)
        self.cards: list[str] = []
        self.credited: dict[str, tuple[str, Decimal]] = {}
        self.closed: set[str] = set()
        self.last: tuple[str, int, Decimal] = ("k0", 0, Decimal(1))
        self.loop = asyncio.new_event_loop()
        self.secret = ""
        self.endpoint_status = 200
        self.delivered: dict[str, bytes] = {}
        self.world.post = self.receive

    async def receive(
        self, method: str, address: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, None]:
        """The endpoint: it checks each signature and keeps what it was sent."""
        signed = headers["X-SVC-Timestamp"].encode() + b"." + body
        expected = hmac.new(self.secret.encode(), signed, hashlib.sha256).hexdigest()
        assert headers["X-SVC-Signature"] == expected, "signed with another secret"
        event_id = headers["X-SVC-Delivery"]
        assert self.delivered.setdefault(event_id, body) == body, "a retry carried other bytes"
        return self.endpoint_status, None

    def teardown(self) -> None:
        self.loop.close()
        self.world.store.close()

    def control(self, path: str, **body: Any) -> tuple[int, Any]:
        given = codec.encode(body)
        answer = dispatch.handle_and_deliver(self.world, "POST", path, given)
        status, raw = self.loop.run_until_complete(answer)
        return status, codec.decode(raw)

    def request(self, path: str, body: Any = None, key: str | None = None, method: str = "POST") -> Request:
        headers = [("X-API-Key", self.key), *([("Idempotency-Key", key)] if key else [])]
        raw = b"" if body is None else codec.encode(body)
        return Request(method, BASE_PATH + path, headers=headers, body=raw)

    def call(self, path: str, body: Any = None, key: str | None = None, method: str = "POST") -> Answer:
        self.world.recent_calls.clear()
        return self.loop.run_until_complete(
            answering.handle(self.world, self.request(path, body, key, method))
        )

    def debits(self) -> int:
        return self.world.store.number("SELECT count(*) FROM ledger WHERE kind = 'card_topup'")

    def available_usd(self) -> Decimal:
        return ledger.available_usd(self.world, account(self.world, first_account(self.world)))

    def card(self, number: int) -> str:
        return self.cards[number % len(self.cards)] if self.cards else "Z" * 32

    @initialize()
    def start(self) -> None:
        self.control("clock", mode="frozen", set="2026-01-30T12:00:00Z")
        self.control("float", amount_usd="300")
        self.control("deliveries", map={"hooks.example.com": "http://127.0.0.1:9"})
        self.order("first")

    @rule(key=KEYS)
    def order(self, key: str) -> None:
        body = {
            "card_holder_name": "Ada", "phone_country_code": 49, "phone": "15123456789", "email": "a@b.de",
        }  # fmt: skip
        answer = self.call("/cards", body, key)
        if answer.status == 201:
            card = codec.decode(answer.body)["data"]["card"]["id"]
            if card not in self.cards:
                self.cards.append(card)

    @rule(key=KEYS, number=st.integers(0, 3), amount_usd=AMOUNTS)
    def top_up(self, key: str, number: int, amount_usd: Decimal) -> None:
        card, self.last = self.card(number), (key, number, amount_usd)
        before_usd, debits = self.available_usd(), self.debits()
        answer = self.call(f"/cards/{card}/topup", {"amount_usd": amount_usd}, key)
        assert self.debits() == debits or amount_usd <= before_usd, "debited more than was available"
        if answer.status == 200 and answer.wire is Wire.ANSWER and answer.body.endswith(b"}}"):
            data = codec.decode(answer.body)["data"]
            shown = (data["card_id"], Decimal(data["credited_usd"]))
            assert self.credited.setdefault(key, shown) == shown, "a key credited two things"
            assert data["card_id"] == card

    @rule()
    def send_the_last_top_up_again(self) -> None:
        self.top_up(*self.last)

    @rule(number=st.integers(0, 3))
    def send_the_last_key_to_another_card(self, number: int) -> None:
        self.top_up(self.last[0], number, self.last[2])

    @rule(
        keys=st.tuples(KEYS, KEYS),
        numbers=st.tuples(st.integers(0, 3), st.integers(0, 3)),
        amount_usd=AMOUNTS,
    )
    def two_top_ups_at_once(
        self, keys: tuple[str, str], numbers: tuple[int, int], amount_usd: Decimal
    ) -> None:
        """Two clients, each waiting between its two commits while the other is let in."""
        before_usd, debits = self.available_usd(), self.debits()
        slow = {"operation": "POST /cards/{cardId}/topup", "effect": "delay", "seconds": 0.001, "times": 2}
        assert self.control("faults", **slow)[0] == 200
        requests = [
            self.request(f"/cards/{self.card(number)}/topup", {"amount_usd": amount_usd}, key)
            for key, number in zip(keys, numbers, strict=True)
        ]

        async def both() -> None:
            await asyncio.gather(*(answering.handle(self.world, request) for request in requests))

        self.loop.run_until_complete(both())
        made = self.debits() - debits
        assert made * amount_usd <= before_usd, "two clients together debited more than was available"
        assert made <= len(set(keys))

    @rule(
        number=st.integers(0, 3), amount_usd=AMOUNTS, kind=st.sampled_from(["purchase", "atm", "high_risk"])
    )
    def buy(self, number: int, amount_usd: Decimal, kind: str) -> None:
        card = self.card(number)
        held_usd, before = self.held_usd(card), self.spent_today_usd(card)
        status, shown = self.control("purchases", card_id=card, amount_usd=str(amount_usd), kind=kind)
        if status == 400:  # no card yet
            return
        taken_usd = held_usd - self.held_usd(card)
        if shown["outcome"] == "declined":
            assert taken_usd == 0, "a decline took money"
            return
        assert taken_usd == Decimal(shown["amount_usd"]) >= amount_usd, "an authorization took another amount"
        limit = self.world.store.one("SELECT daily_limit_usd FROM cards WHERE id = ?", card)
        if limit is not None and limit[0] is not None:
            assert before + amount_usd <= Decimal(limit[0]), "a purchase beyond the daily limit"

    def held_usd(self, card: str) -> Decimal:
        row = self.world.store.one("SELECT balance_usd FROM cards WHERE id = ?", card)
        return Decimal(row[0]) if row else Decimal(0)

    def spent_today_usd(self, card: str) -> Decimal:
        rows = self.world.store.all(
            "SELECT charge_usd FROM purchases WHERE card_id = ? AND status != 'declined' AND at >= ?",
            card,
            codec.stamp(self.world.clock.now())[:10],
        )
        return sum((Decimal(row[0]) for row in rows), Decimal(0))

    @rule(
        number=st.integers(0, 5),
        leg=st.sampled_from(["settle", "reverse", "refund"]),
        part=st.sampled_from([None, "0.01", "5", "80"]),
        fee=st.sampled_from(["0", "0.25"]),
    )
    def merchant(self, number: int, leg: str, part: str | None, fee: str) -> None:
        rows = self.world.store.all("SELECT transaction_id FROM purchases ORDER BY seq DESC LIMIT 6")
        if rows:
            more = {} if part is None else {"amount_usd": part}
            path = f"purchases/{rows[number % len(rows)]['transaction_id']}/{leg}"
            assert self.control(path, fee_usd=fee, **more)[0] in (200, 400, 409)

    @rule(number=st.integers(0, 3), limit_usd=AMOUNTS, period=st.sampled_from(["daily", "weekly"]))
    def limit(self, number: int, limit_usd: Decimal, period: str) -> None:
        self.call(f"/cards/{self.card(number)}/limits", {f"{period}_limit": limit_usd}, method="PUT")

    @rule(number=st.integers(0, 3))
    def spend_past_a_limit(self, number: int) -> None:
        self.top_up(f"spend-{number}", number, Decimal(30))
        self.limit(number, Decimal(7), "daily")
        for _ in range(2):
            self.buy(number, Decimal(5), "purchase")

    @rule(host=st.sampled_from(["hooks", "other"]), rotate=st.booleans())
    def register(self, host: str, rotate: bool) -> None:
        body = {"url": f"https://{host}.example.com/", "rotate": rotate}
        data = codec.decode(self.call("/webhook", body, method="PUT").body)["data"]
        assert data["secret"] or (self.secret and not rotate), "no secret where one was due"
        self.secret = data["secret"] or self.secret

    @rule(status=st.sampled_from([200, 500]))
    def endpoint(self, status: int) -> None:
        self.endpoint_status = status

    @rule(mode=st.sampled_from(["normal", "pause", "duplicate", "reorder", "drop"]))
    def way(self, mode: str) -> None:
        assert self.control("deliveries", mode=mode)[0] == 200

    @rule(number=st.integers(0, 20))
    def redeliver(self, number: int) -> None:
        rows = self.world.store.all("SELECT id FROM events ORDER BY seq DESC LIMIT 20")
        if rows:
            assert self.call(f"/events/{rows[number % len(rows)]['id']}/redeliver").status == 200

    @rule(number=st.integers(0, 3), amount_usd=AMOUNTS)
    def buy_online(self, number: int, amount_usd: Decimal) -> None:
        body = {"amount_usd": str(amount_usd), "merchant": "Web Shop"}
        assert self.control(f"cards/{self.card(number)}/3ds", **body)[0] in (200, 404)

    @rule(number=st.integers(0, 3))
    def webhook_mode(self, number: int) -> None:
        self.call(f"/cards/{self.card(number)}/3ds", {"method": "webhook"}, method="PUT")

    @rule(key=KEYS, number=st.integers(0, 3), amount_usd=AMOUNTS)
    def unload(self, key: str, number: int, amount_usd: Decimal) -> None:
        self.call(f"/cards/{self.card(number)}/unload", {"amount_usd": amount_usd}, key)

    @rule(key=KEYS, number=st.integers(0, 3))
    def close(self, key: str, number: int) -> None:
        card = self.card(number)
        answer = self.call(f"/cards/{card}/close", None, key)
        if answer.status == 200:
            self.closed.add(card)

    @rule(number=st.integers(0, 3), frozen=st.booleans())
    def freeze(self, number: int, frozen: bool) -> None:
        self.call(f"/cards/{self.card(number)}/freeze", {"frozen": frozen})

    @rule(
        effect=EFFECTS,
        operation=st.sampled_from(
            ["POST /cards/{cardId}/topup", "POST /cards/{cardId}/unload", "POST /cards"]
        ),
    )
    def fault(self, effect: str, operation: str) -> None:
        more = {"status": 500} if effect == "status" else {}
        assert self.control("faults", operation=operation, effect=effect, **more)[0] == 200

    @rule(answer=ANSWERS, operation=st.sampled_from(["topup", "unload", "close", "freeze"]))
    def processor(self, answer: str, operation: str) -> None:
        path = f"POST /cards/{{cardId}}/{operation}"
        assert self.control("faults", operation=path, effect="processor", processor=answer)[0] == 200

    @rule(
        key=KEYS,
        kind=st.sampled_from(["topups", "unloads"]),
        outcome=st.sampled_from(["credited", "refunded"]),
    )
    def support(self, key: str, kind: str, outcome: str) -> None:
        self.control(f"{kind}/{key}/resolve", **{"as": outcome})

    @rule(amount_usd=st.decimals("-50", "100", places=10))
    def operators(self, amount_usd: Decimal) -> None:
        assert self.control("float", amount_usd=str(amount_usd))[0] == 200

    @rule(
        number=st.integers(0, 3),
        status=st.sampled_from(["BLOCKED", "ACTIVE", "EXPIRED"]),
        readable=st.booleans(),
    )
    def card_changes(self, number: int, status: str, readable: bool) -> None:
        self.control(f"cards/{self.card(number)}", status=status, balance_readable=readable)

    @rule(seconds=st.sampled_from([1, 60, 7_800, 86_400, 40 * 86_400]))
    def time_passes(self, seconds: int) -> None:
        assert self.control("clock", advance_seconds=seconds)[0] == 200

    @rule(switch=SWITCHES)
    def switch(self, switch: dict[str, Any]) -> None:
        assert self.control("account", **switch)[0] == 200

    @precondition(lambda self: self.world.store.number("SELECT count(*) FROM transfers") < 3)
    @rule(amount=st.decimals("9", "40", places=2), network=st.sampled_from(["POLYGON", "BASE"]))
    def funding(self, amount: Decimal, network: str) -> None:
        number = self.world.store.number("SELECT count(*) FROM transfers")
        tx_hash = f"0x{number:064x}"
        self.control("wallets", address="0xaa", owner="self")
        sent = {
            "network": network,
            "tx_hash": tx_hash,
            "senders": ["0xAA"],
            "token": "USDC",
            "amount": str(amount),
        }
        assert self.control("chain/transfers", **sent)[0] == 200
        assert self.call("/funding", {"tx_hash": tx_hash, "network": network}).status in (200, 429)

    @rule(number=st.integers(0, 2), network=st.sampled_from(["POLYGON", "BASE"]))
    def submit_again(self, number: int, network: str) -> None:
        self.call("/funding", {"tx_hash": f"0x{number:064x}", "network": network})

    @rule(
        number=st.integers(0, 2),
        decision=st.sampled_from(["credit", "reverse", "reject", "credit_separately", "hold"]),
    )
    def operator_decides(self, number: int, decision: str) -> None:
        row = self.world.store.one("SELECT id FROM funding WHERE tx_hash = ?", f"0x{number:064x}")
        if row:
            self.control(f"funding/{row['id']}/decide", decision=decision)

    @invariant()
    def nothing_is_broken(self) -> None:
        Machine.steps += 1
        assert invariants.broken(self.world) == []

    @invariant()
    def closed_cards_stay_closed(self) -> None:
        for card in self.closed:
            row = self.world.store.one("SELECT status FROM cards WHERE id = ?", card)
            assert row is not None
            assert row["status"] == "DELETED"

    @invariant()
    def one_debit_per_key(self) -> None:
        rows = self.world.store.all("SELECT reference FROM ledger WHERE kind = 'card_topup'")
        references = [row["reference"] for row in rows]
        assert len(references) == len(set(references))

    @invariant()
    def what_was_delivered_is_what_the_log_shows(self) -> None:
        for event_id, body in self.delivered.items():
            row = self.world.store.one("SELECT payload FROM events WHERE id = ?", event_id)
            assert row is not None
            assert body.partition(b'"data":')[2] == row["payload"].encode() + b"}"
        self.delivered.clear()
