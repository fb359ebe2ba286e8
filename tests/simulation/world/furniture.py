"""What is the same for every seed, made once: an empty database, settings, the API's cards and money."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from sandbox.partner.accounts import accounts
from sandbox.partner.calls import idempotency
from sandbox.partner.cards import cards as card_records
from sandbox.partner.cards import topups
from sandbox.partner.control import dispatch
from sandbox.partner.server import build_world, standing_key
from sandbox.partner.state import Clock as PartnerClock
from sandbox.slack.state import manifest
from storage.database import Database
from storage.migrate import _migrate
from tests.simulation.world.names import ROOT, START

CARDS = (
    ("MARTA KOWALSKA", "p-1"),
    ("JONAS BERG", "p-2"),
    ("MARTA KOWALSKA", "3205"),
    ("SOFIA MARCHETTI", "p-4"),
)
FLOAT_USD = "4000"


@cache
def migrated() -> bytes:
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"countersign-simulation-{os.getpid()}.db"
    path.unlink(missing_ok=True)
    try:
        _migrate(Database.parse(f"sqlite:///{path}"), lambda letters: letters[0])
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        return path.read_bytes()
    finally:
        for left in path.parent.glob(path.name + "*"):
            left.unlink()


@cache
def slack_manifest() -> Any:
    return manifest.load(ROOT / "manifest.yml")


@cache
def furnished_partner() -> tuple[sqlite3.Connection, str]:
    """The API's sandbox with its cards and money, and its key."""
    world = build_world(":memory:", "simulation")
    world.clock = PartnerClock(world.store, real_now=lambda: START)
    key = standing_key(world)
    owner = accounts.first_account(world)
    for number, (name, reference) in enumerate(CARDS):
        claimed = idempotency.claim_for(world, owner, "create", f"seed-{number}")
        card = card_records.issue(world, owner, name, reference, claimed)
        idempotency.settle(world, claimed, "done", {"card": card_records.shown(world, card)})
        world.store.update("cards", "id", card.id, synced_at=card.created_at)
        if number == 0:  # the last four digits of one card are the reference of another
            world.store.update("cards", "id", card.id, last4="3205")
    status, answer = dispatch.handle(world, "POST", "float", json.dumps({"amount_usd": FLOAT_USD}).encode())
    assert status == 200, answer
    for place, card in enumerate(card_records.all_cards(world)[:3]):
        topups.credit_top_up(world, topups.debit_for_top_up(world, card, Decimal(100), f"seed-topup-{place}"))
    status, answer = dispatch.handle(
        world, "POST", "account", json.dumps({"accept_any_wallet": True}).encode()
    )
    assert status == 200, answer
    return world.store.copy(), key


def folder_in_memory(name: str = "") -> Path:
    """A folder for one run's database; in memory where the system has such a place."""
    folder = memory() / f"countersign-simulation-{os.getpid()}{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def memory() -> Path:
    """Where files are kept in memory, or where temporary ones are."""
    return Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(os.environ.get("TMPDIR", "/tmp"))
