"""What the Partner API simulator's pages cost with 1,000 and with 100,000 cards and ten ledger rows a card."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks import Row
from sandbox.partner import codec, http
from sandbox.partner.accounts import accounts
from sandbox.partner.control import page_view
from sandbox.partner.routes import BASE_PATH
from sandbox.partner.server import answering, build_world, standing_key
from sandbox.partner.state import CARD_BLOCK, World

SMALL, LARGE = 1_000, 100_000
LEDGER_ROWS_A_CARD = 10
ROUNDS = 60
_BATCH = 20_000


def fill(world: World, cards: int) -> None:
    """Cards of one account with their rows, as many top-ups would have left them; the totals agree."""
    owner = accounts.first_account(world)
    now = codec.stamp(world.clock.now())
    rows = cards * LEDGER_ROWS_A_CARD
    with world.store.transaction():
        for start in range(0, cards, _BATCH):
            world.store.run(
                "WITH RECURSIVE n (i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)"
                " INSERT INTO cards (id, account, card_holder_name, last4, status, created_at, synced_at,"
                " balance_usd, balance_readable, cached_usd, cached_at)"
                " SELECT printf('%032d', i), ?, 'BENCH', '4242', 'ACTIVE', ?, ?, '10', 1, '10', ? FROM n",
                start,
                min(start + _BATCH, cards),
                owner,
                now,
                now,
                now,
            )
        for start in range(0, rows, _BATCH):
            world.store.run(
                "WITH RECURSIVE n (i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)"
                " INSERT INTO ledger (account, amount_usd, kind, reference, card_id, created_at, number)"
                " SELECT ?, '-1', 'card_topup', 'topup:k' || i, printf('%032d', i / 10), ?, i + 1 FROM n",
                start,
                min(start + _BATCH, rows),
                owner,
                now,
            )
        world.store.run(
            "INSERT INTO card_blocks SELECT account, seq / ?, count(*) FROM cards GROUP BY 1, 2", CARD_BLOCK
        )
        world.store.update(
            "accounts", "id", owner, cards_ordered=cards, open_cards=cards, ledger_rows=rows, ledger_last_at=now,
            funded_usd=str(rows * 2), spent_usd=str(rows), net_topups_usd=str(rows),
        )  # fmt: skip


def measure() -> list[Row]:
    """Medians in one process, without HTTP, on a file: what differs is the size alone."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = (_times(Path(folder) / f"{size}.db", size) for size in (SMALL, LARGE))
    return [
        Row(
            name,
            f"{large[name] * 1000:.2f} ms",
            f"{large[name] / small[name]:.2f} times as with {SMALL:,} cards",
        )
        for name in small
    ]


def _times(path: Path, size: int) -> dict[str, float]:
    world = build_world(str(path))
    fill(world, size)
    key = standing_key(world)
    pages = size * LEDGER_ROWS_A_CARD // 100
    requests = {
        "GET /cards, first 100": ("GET", "/cards", "limit=100", b""),
        "GET /cards, 100 from the middle": ("GET", "/cards", f"limit=100&offset={size // 2}", b""),
        "POST /cards/balances, first 500": ("POST", "/cards/balances", "", b"{}"),
        "POST /cards/balances, last 500": ("POST", "/cards/balances", "", b'{"page": %d}' % (size // 500)),
        "GET /ledger, first 100": ("GET", "/ledger", "limit=100", b""),
        "GET /ledger, last 100": ("GET", "/ledger", f"limit=100&page={pages}", b""),
        "GET /me": ("GET", "/me", "", b""),
    }
    found = {name: _median(world, key, *request) for name, request in requests.items()}
    page_view.view(world)  # the first look sums everything up
    began = time.perf_counter()
    page_view.view(world)
    found["the viewer's page, once summed up"] = time.perf_counter() - began
    world.store.close()
    return found


def _median(world: World, key: str, method: str, path: str, query: str, body: bytes) -> float:
    async def run() -> float:
        times = []
        for _ in range(ROUNDS):
            world.recent_calls.clear()
            request = http.Request(method, BASE_PATH + path, query, [("X-API-Key", key)], body)
            before = time.perf_counter()
            answer = await answering.handle(world, request)
            times.append(time.perf_counter() - before)
            assert answer.status == 200
        return statistics.median(times)

    return asyncio.run(run())
