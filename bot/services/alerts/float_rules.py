"""What a reading of the account means: the float low or about to be, the card allowance nearly used."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from bot.domain.events import alert_rules
from bot.domain.events.alert_rules import FloatAlert, Spent
from bot.domain.money.amounts import format_usd
from bot.services.alerts import funding_rules
from bot.services.alerts import lifecycle as alerts
from bot.services.core import Core
from storage.cards import api_snapshots, history
from storage.cards.api_snapshots import Reading
from storage.messages import alerts as alert_rows
from storage.requests import requests
from storage.transaction import Tx

# Long enough for the hours of the day to differ, short enough to notice a new habit.
_LOOKED_BACK = timedelta(days=7)
_WATCH = "float_watch"


async def look(core: Core, program: str, reading: Reading) -> None:
    """Raise or resolve by what `GET /me` said."""
    async with core.store.begin() as tx:
        await _float(tx, core, program, reading)
        await _allowance(tx, core, program, reading)


def _usable(reading: Reading) -> Decimal:
    """What can be spent: a ceiling of the service can make it less than the balance, a debt less than 0."""
    return min(Decimal(reading.value["balance_usd"]), Decimal(reading.value["available_usd"]))


async def _float(tx: Tx, core: Core, program: str, reading: Reading) -> None:
    rule = core.alerting.float_alert
    dedupe = f"float:{program}"
    was_low = await alert_rows.open_one(tx, dedupe) is not None
    kept = await api_snapshots.get(tx, program, _WATCH)
    clean_before = int(kept.value["clean"]) if kept else 0
    low, clean = alert_rules.float_is_low(_usable(reading), rule, was_low=was_low, clean_reads=clean_before)
    if clean != clean_before:
        await api_snapshots.put(tx, program, _WATCH, {"clean": clean})
    if not low:
        await alerts.resolve(tx, core, dedupe)
        return
    usable = _usable(reading)
    await alerts.keep(
        tx,
        core,
        dedupe=dedupe,
        kind="float_low",
        subject=program,
        severity="critical" if usable <= 0 else "warning",
        title=f"Float of {program} is low: {format_usd(usable)}, floor {format_usd(rule.floor_usd)}",
        text=await _float_text(tx, core, program, reading, rule),
        facts={"program": program},
    )
    await alerts.resolve(tx, core, f"runway:{program}")


async def _float_text(tx: Tx, core: Core, program: str, reading: Reading, rule: FloatAlert) -> str:
    balance, available = (Decimal(reading.value[name]) for name in ("balance_usd", "available_usd"))
    said = [f"Balance {format_usd(balance)}, available {format_usd(available)}."]
    if balance < 0:
        said.append("The balance is below zero: a credit may have been taken back. Look at the ledger.")
    elif available < balance:
        said.append(
            "Available is less than the balance because the service caps what may be on cards; more funding does"
            " not change that."
        )
    said += await _about_to_change(tx, core, program)
    said.append(
        f"Top-ups above what is available fail. Submit funding; this ends at {format_usd(rule.clear_usd)}."
    )
    return " ".join(said)


async def _about_to_change(tx: Tx, core: Core, program: str) -> list[str]:
    """Pending requests that would take from it, and funding on its way."""
    said = []
    hold = await requests.pending_hold(tx, program, core.float_kinds)
    if hold.usd:
        said.append(f"Requests that wait would take {format_usd(hold.usd)}.")
    coming_usd = await funding_rules.on_its_way(tx, program)
    if coming_usd:
        said.append(f"Funding of {format_usd(coming_usd)} is on its way and not yet credited.")
    return said


async def look_ahead(core: Core, program: str) -> None:
    """Will the float be at its floor within the runway, at the pace of the last days?"""
    async with core.store.begin() as tx:
        await _runway(tx, core, program)


async def _runway(tx: Tx, core: Core, program: str) -> None:
    rule, dedupe = core.alerting.float_alert, f"runway:{program}"
    last = await api_snapshots.get(tx, program, "me")
    if last is None or await alert_rows.open_one(tx, f"float:{program}"):
        return
    past = await history.since(tx, program, "me", tx.now - _LOOKED_BACK)
    spent = [Spent(r.read_at, Decimal(r.value["spent_usd"])) for r in past]
    room_usd = _usable(last) - (await requests.pending_hold(tx, program, core.float_kinds)).usd
    was_open = await alert_rows.open_one(tx, dedupe) is not None
    # A quarter more to end it than to raise it, or it would come and go with every top-up.
    most = rule.runway_hours * 5 // 4 if was_open else rule.runway_hours
    left = alert_rules.hours_left(room_usd, rule.floor_usd, spent, tx.now, most=most)
    if left is None:
        await alerts.resolve(tx, core, dedupe)
        return
    coming_usd = await funding_rules.on_its_way(tx, program)
    then = alert_rules.hours_left(room_usd + coming_usd, rule.floor_usd, spent, tx.now, most=most)
    at = (tx.now + timedelta(hours=left)).replace(minute=0, second=0, microsecond=0)
    said = [
        f"At the pace of the last days the float of {program} reaches its floor of"
        f" {format_usd(rule.floor_usd)} around {at:%a %Y-%m-%d %H:00} UTC, requests that wait included.",
        *await _about_to_change(tx, core, program),
        *([_with_funding(then, most)] if coming_usd else []),
        "Submit funding in time: a transfer takes minutes on POLYGON and hours on BNB and BASE.",
    ]
    await alerts.keep(
        tx,
        core,
        dedupe=dedupe,
        kind="runway",
        subject=program,
        # What is verified may still be held or refused, so it is said all the same.
        severity="warning" if then is not None else "info",
        title=f"Float of {program} lasts about {max(1, round(left))} h",
        text=" ".join(said),
        facts={"program": program},
    )


def _with_funding(hours: float | None, most: int) -> str:
    """How long it lasts if what is on its way is credited whole."""
    lasts = f"more than {most} h" if hours is None else f"about {max(1, round(hours))} h"
    return f"With it, it lasts {lasts}."


async def _allowance(tx: Tx, core: Core, program: str, reading: Reading) -> None:
    total, limit = reading.value["cards_total"], reading.value["cards_limit"]
    level = alert_rules.allowance_level(total, limit)
    if level is None:
        await alerts.resolve(tx, core, f"allowance:{program}")
        return
    left = max(0, limit - total)
    await alerts.keep(
        tx,
        core,
        dedupe=f"allowance:{program}",
        kind="allowance",
        subject=program,
        severity=level,
        title=f"Card allowance of {program}: {left} of {limit} left",
        text=f"{total} cards were ordered of the {limit} that may ever be; closed cards count and give nothing"
        " back. Ask the service for more before the last one is ordered.",
        facts={"program": program},
    )
