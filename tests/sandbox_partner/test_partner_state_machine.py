"""A machine that plays a careless client, faults, support and operators against the simulator.

After every step the simulator's own invariants hold, and so does a model kept here, which knows
nothing but the answers: one debit per key, and no money from nowhere.
"""

import asyncio
from decimal import Decimal
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sandbox.partner import codec, control, core, invariants, ledger
from sandbox.partner.accounts import account, first_account
from sandbox.partner.app import build_world, standing_key
from sandbox.partner.http import Answer, Request, Wire
from sandbox.partner.surface import BASE_PATH

AMOUNTS = st.decimals("0.01", "250", places=2)
KEYS = st.sampled_from([f"k{n}" for n in range(4)])
EFFECTS = st.sampled_from(
    ["drop_before_commit", "drop_after_commit", "drop_midway", "reset", "garbage", "status"]
)
ANSWERS = st.sampled_from(["400", "401", "403", "409", "412", "429", "5xx", "timeout", "capacity"])
SWITCHES = st.sampled_from(
    [
        {"unload_replay": "conflict"}, {"key_scope": "account"}, {"key_amount": "conflict"},
        {"refund_reference": "same"}, {"topup_frozen": "refuse"}, {"funds_check": "before_replay"},
        {"outstanding": "live_balances"}, {"float_limit_usd": "150"}, {"unload_reference": "none"},
        {"order_claim_row": "no"}, {"create_400_key": "spent"}, {"first_sync": "immediate"}, {"monthly_fee": "invoice"},
    ]
)  # fmt: skip


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = build_world()
        self.key = standing_key(self.world)
        self.cards: list[str] = []
        self.credited: dict[str, tuple[str, Decimal]] = {}
        self.closed: set[str] = set()
        self.last: tuple[str, int, Decimal] = ("k0", 0, Decimal(1))
        self.loop = asyncio.new_event_loop()

    def teardown(self) -> None:
        self.loop.close()
        self.world.store.close()

    def control(self, path: str, **body: Any) -> tuple[int, Any]:
        status, raw = control.handle(self.world, "POST", path, codec.encode(body))
        return status, codec.decode(raw)

    def call(self, path: str, body: Any = None, key: str | None = None) -> Answer:
        headers = [("X-API-Key", self.key), *([("Idempotency-Key", key)] if key else [])]
        raw = b"" if body is None else codec.encode(body)
        request = Request("POST", BASE_PATH + path, headers=headers, body=raw)
        return self.loop.run_until_complete(core.handle(self.world, request))

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
        self.order("first")

    @rule(key=KEYS)
    def order(self, key: str) -> None:
        body = {
            "card_holder_name": "Ada", "phone_country_code": 49, "phone": "15123456", "email": "a@b.de",
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
            told = (data["card_id"], Decimal(data["credited_usd"]))
            assert self.credited.setdefault(key, told) == told, "a key credited two things"
            assert data["card_id"] == card

    @rule()
    def send_the_last_top_up_again(self) -> None:
        self.top_up(*self.last)

    @rule(number=st.integers(0, 3))
    def send_the_last_key_to_another_card(self, number: int) -> None:
        self.top_up(self.last[0], number, self.last[2])

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

    @rule(seconds=st.sampled_from([1, 60, 86_400, 40 * 86_400]))
    def time_passes(self, seconds: int) -> None:
        assert self.control("clock", advance_seconds=seconds)[0] == 200

    @rule(switch=SWITCHES)
    def switch(self, switch: dict[str, str]) -> None:
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


TestMachine = Machine.TestCase
TestMachine.settings = settings(
    max_examples=80, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
