"""How quickly the audit chain is written and checked on SQLite; the floors are bare inserts, and bare hashes."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import sqlite3
import statistics
import tempfile
import time
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

from sqlalchemy import insert

from benchmarks import Row, wanted
from bot.domain.time import SystemClock
from storage import audit
from storage import tables as t
from storage.columns import time_text
from storage.migrate import migrate
from storage.store import Store
from storage.transaction import Tx
from storage.vault import Keyring, Vault, length_prefixed, new_master

ENTRIES = 5_000
ROUNDS = 6
BODY = {"kind": "card_topup", "state": "succeeded", "digest": "a" * 64, "finding": "succeeded", "attempt": 1}
TICK_S = 0.001


@dataclass(frozen=True, slots=True)
class Round:
    """Seconds that each way took for all entries, and the longest that the loop was held by `verify`."""

    append: float
    inserts: float
    sqlite3: float
    verify: float
    hashes: float
    macs: float
    held: float


def measure() -> list[Row]:
    """Medians over rounds, each with its floors; the first round is left out. One transaction, so no disk."""
    rounds = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            rounds.append(asyncio.run(_round(Path(folder))))
    del rounds[0]

    def rate(name: str) -> str:
        return f"{ENTRIES / statistics.median(getattr(one, name) for one in rounds):,.0f}/s"

    def share(name: str, floor: str) -> float:
        return float(statistics.median(getattr(one, floor) / getattr(one, name) for one in rounds))

    to_inserts, to_hashes = share("append", "inserts"), share("verify", "hashes")
    held_ms = statistics.median(one.held for one in rounds) * 1e3
    return [
        Row("the same rows inserted one by one, with sqlite3 alone", rate("sqlite3")),
        Row("the same rows inserted one by one, through the store", rate("inserts")),
        Row(
            "append",
            rate("append"),
            f"{to_inserts:.2f} of the inserts through the store {wanted(to_inserts, at_least=0.2)},"
            f" {share('append', 'sqlite3'):.2f} of sqlite3 alone",
        ),
        Row("SHA-256 over the same bytes, in memory", rate("hashes")),
        Row("the same with the MACs", rate("macs")),
        Row(
            "verify, hashes and MACs",
            rate("verify"),
            f"{to_hashes:.2f} of the hashes in memory {wanted(to_hashes, at_least=0.2)},"
            f" {share('verify', 'macs'):.2f} of hashes and MACs",
        ),
        Row("the longest that the loop was held meanwhile", f"{held_ms:.0f} ms"),
    ]


async def _round(folder: Path) -> Round:
    store = await _opened(folder / "audit.db")
    try:
        append = await _appended(store)
        async with store.read() as tx:
            verify, held = await _verified(tx)
            entries = [entry async for entry in audit.entries(tx)]
    finally:
        await store.close()
    other = await _opened(folder / "inserts.db")
    try:
        inserts = await _inserted(other, entries)
    finally:
        await other.close()
    hashes, macs = _in_memory(entries)
    await migrate(f"sqlite:///{folder / 'bare.db'}")
    return Round(append, inserts, _bare(folder / "bare.db", entries), verify, hashes, macs, held)


async def _opened(path: Path) -> Store:
    await migrate(f"sqlite:///{path}")
    vault = Vault(Keyring.parse(new_master()))
    return await Store.open(f"sqlite:///{path}", vault=vault, clock=SystemClock())


async def _appended(store: Store) -> float:
    async with store.begin() as tx:
        began = time.perf_counter()
        for number in range(ENTRIES):
            await audit.append(
                tx,
                actor="system:execution",
                action="request.outcome",
                subject=f"request:R-{number}:3",
                body=BODY,
                policy_version="bench",
            )
        return time.perf_counter() - began


async def _inserted(store: Store, entries: list[audit.Entry]) -> float:
    rows, statement = [asdict(entry) for entry in entries], insert(t.audit)
    async with store.begin() as tx:
        began = time.perf_counter()
        for row in rows:
            await tx.run(statement, row)
        return time.perf_counter() - began


def _bare(path: Path, entries: list[audit.Entry]) -> float:
    rows = [(entry.seq, time_text(entry.at), *astuple(entry)[2:]) for entry in entries]
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    statement = f"INSERT INTO audit VALUES ({', '.join('?' * len(rows[0]))})"
    began = time.perf_counter()
    for row in rows:
        connection.execute(statement, row)
    took = time.perf_counter() - began
    connection.close()
    return took


async def _verified(tx: Tx) -> tuple[float, float]:
    """Seconds, and the longest pause of a task that wants a turn every millisecond."""
    pauses: list[float] = []

    async def ticks() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(TICK_S)
            pauses.append(time.perf_counter() - before - TICK_S)

    ticking = asyncio.create_task(ticks())
    await asyncio.sleep(TICK_S)
    began = time.perf_counter()
    report = await audit.verify(tx)
    took = time.perf_counter() - began
    await asyncio.sleep(TICK_S * 2)
    ticking.cancel()
    if not report.ok or report.count != ENTRIES:
        raise RuntimeError(f"the chain that was just written is not whole: {report}")
    return took, max(pauses)


def _in_memory(entries: list[audit.Entry]) -> tuple[float, float]:
    """Seconds for the hashes of all entries, and for hashes and MACs; from the bytes that verify hashes."""
    covered, key = [_bytes(entry) for entry in entries], bytes(32)
    began = time.perf_counter()
    digests = [hashlib.sha256(one).hexdigest() for one in covered]
    hashes = time.perf_counter() - began
    if digests != [entry.hash for entry in entries]:
        raise RuntimeError("these are not the bytes of the chain")
    began = time.perf_counter()
    for one in covered:
        hmac.digest(key, hashlib.sha256(one).hexdigest().encode(), "sha256").hex()
    return hashes, time.perf_counter() - began


def _bytes(entry: audit.Entry) -> bytes:
    texts = (str(entry.seq), time_text(entry.at), *astuple(entry)[2:9])
    covered = length_prefixed(*(text.encode() for text in texts))
    return b"countersign-audit-v1" + covered + entry.prev.encode()
