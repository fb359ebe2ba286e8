"""How quickly the audit chain is written and checked; the floor is SHA-256 over the same bytes."""

from __future__ import annotations

import asyncio
import hashlib
import json
import tempfile
import time
from pathlib import Path

from benchmarks import Row
from bot.domain.time import SystemClock
from storage import audit
from storage.migrate import migrate
from storage.store import Store
from storage.vault import Keyring, Vault, new_master

ENTRIES = 20_000
BODY = {"kind": "card_topup", "state": "succeeded", "digest": "a" * 64, "finding": "succeeded", "attempt": 1}


def measure() -> list[Row]:
    """Entries a second on SQLite, appended in one transaction so that only the chain is measured."""
    with tempfile.TemporaryDirectory() as folder:
        append, verify = asyncio.run(_chain(Path(folder)))
    floor = _hashes()
    return [
        Row("SHA-256 chain in memory", f"{floor:,.0f}/s"),
        Row("append", f"{append:,.0f}/s"),
        Row("verify, hashes and MACs", f"{verify:,.0f}/s", f"{verify / floor:.2f} of the chain in memory"),
    ]


async def _chain(folder: Path) -> tuple[float, float]:
    url = f"sqlite:///{folder / 'audit.db'}"
    await migrate(url)
    store = await Store.open(url, vault=Vault(Keyring.parse(new_master())), clock=SystemClock())
    try:
        before = time.perf_counter()
        async with store.begin() as tx:
            for number in range(ENTRIES):
                await audit.append(
                    tx,
                    actor="system:execution",
                    action="request.outcome",
                    subject=f"request:R-{number}:3",
                    body=BODY,
                    policy_version="bench",
                )
        appended = time.perf_counter()
        async with store.read() as tx:
            report = await audit.verify(tx)
        verified = time.perf_counter()
    finally:
        await store.close()
    if not report.ok or report.count != ENTRIES:
        raise RuntimeError(f"the chain that was just written is not whole: {report}")
    return ENTRIES / (appended - before), ENTRIES / (verified - appended)


def _hashes() -> float:
    link, body = "", json.dumps(BODY)
    before = time.perf_counter()
    for number in range(ENTRIES):
        link = hashlib.sha256(f"{link}{number}{body}".encode()).hexdigest()
    return ENTRIES / (time.perf_counter() - before)
