"""Funding submissions: in review, rejected, late, credited, taken back; each told once, however we heard.

No event exists for a review, a rejection or a reversal [Event types], so the submissions are read until
they are final, and those credited for thirty days more. What was last known is kept for each, and both
the reading and the event `float.credited` go by it: whichever comes second finds nothing new.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from bot import operations
from bot.domain.alerts import HEARD_LATE, alert_rules, funding_alerts
from bot.domain.money import exact_sum, format_usd
from bot.domain.requests import State
from bot.operations import reason_in_words
from bot.partner.calls import account as account_calls
from bot.partner.errors import NotFound
from bot.partner.models import FloatCredit, Funding
from bot.partner.ratelimit import Lane
from bot.services.alerts import lifecycle as alerts
from bot.services.core import Core
from bot.services.received_event import LATE_AFTER
from bot.view_models import OpenFunding
from storage.cards import Reading, api_snapshots
from storage.requests import requests
from storage.transaction import Tx

_KEPT = "funding:"
_BEGUN = "funding_watch"
CREDITED_WATCHED_FOR = timedelta(days=30)
_CREDITED_READ_EVERY = timedelta(days=1)
_READ_SINGLY = 20
_FINAL = frozenset({"credited", "rejected"})
_GONE = "gone"  # a word of ours: the service answers that there is no such submission

Known = dict[str, Any]


async def read(core: Core, program: str) -> None:
    """Read what is not final, and tell what changed. Raises PartnerError."""
    partner = core.partners[program]
    found = {f.id: f for f in await partner.funding_list(lane=Lane.BACKGROUND)}
    async with core.store.read() as tx:
        known = await api_snapshots.named(tx, program, _KEPT)
        begun = await api_snapshots.get(tx, program, _BEGUN)
        ours = await _submitted_here(tx, core, program)
        now = tx.now
    for funding_id in _to_read_singly({**dict.fromkeys(ours), **known}, found, now):
        try:
            found[funding_id] = await partner.funding(funding_id, lane=Lane.BACKGROUND)
        except NotFound:
            await _gone(core, program, funding_id, known.get(funding_id))
    usual = _usual(known)
    async with core.store.begin() as tx:
        for funding in found.values():
            await _judge(tx, core, program, funding, usual, is_first=begun is None)
        await _count_unverified(tx, core, program, found)
        if begun is None:
            await api_snapshots.put(tx, program, _BEGUN, {})


async def _submitted_here(tx: Tx, core: Core, program: str) -> list[str]:
    """Ids of submissions that requests of ours made, should the list not show them."""
    made = await requests.find(
        tx,
        kinds=operations.asking(core.kinds, account_calls.SUBMIT_FUNDING),
        states=(State.SUCCEEDED,),
        since=tx.now - CREDITED_WATCHED_FOR,
        limit=100,
    )
    ids = [str((r.outcome or {}).get("funding_id") or "") for r in made if r.program == program]
    return [funding_id for funding_id in ids if funding_id]


def _to_read_singly(
    known: Mapping[str, Reading | None], found: Mapping[str, Funding], now: datetime
) -> list[str]:
    """What the list did not show and may still change, those read longest ago first."""
    due = []
    for funding_id, kept in known.items():
        if funding_id in found:
            continue
        if kept is None or kept.value["status"] not in (*_FINAL, _GONE):
            due.append((kept.read_at if kept else datetime.min.replace(tzinfo=now.tzinfo), funding_id))
        elif kept.value["status"] == "credited" and kept.value["credited_at"]:
            age = now - datetime.fromisoformat(kept.value["credited_at"])
            if age < CREDITED_WATCHED_FOR and now - kept.read_at > _CREDITED_READ_EVERY:
                due.append((kept.read_at, funding_id))
    return [funding_id for _, funding_id in sorted(due)[:_READ_SINGLY]]


async def took(tx: Tx, program: str) -> dict[str, list[timedelta]]:
    """How long the program's credited submissions took, by network."""
    return _usual(await api_snapshots.named(tx, program, _KEPT))


def _usual(known: Mapping[str, Reading]) -> dict[str, list[timedelta]]:
    """How long credited submissions took, by network."""
    took: dict[str, list[timedelta]] = {}
    for kept in known.values():
        value = kept.value
        if value["status"] == "credited" and value["credited_at"] and value["created_at"]:
            ages = took.setdefault(value["network"], [])
            ages.append(
                datetime.fromisoformat(value["credited_at"]) - datetime.fromisoformat(value["created_at"])
            )
    return took


async def _judge(
    tx: Tx,
    core: Core,
    program: str,
    funding: Funding,
    took: Mapping[str, list[timedelta]],
    *,
    is_first: bool,
) -> None:
    """Compare with what was last told of it. The first reading of all tells nothing of what is final."""
    kept = await api_snapshots.get(tx, program, f"{_KEPT}{funding.id}")
    before: Known = kept.value if kept else {}
    age = tx.now - funding.created_at
    usual = alert_rules.usual_time(funding.network, took.get(funding.network, ()))
    mark = alert_rules.overdue_mark(age, usual) if funding.status == "pending" else ""
    if (
        not mark
        and funding.status == "pending"
        and funding.amount_usd is None
        and age > alert_rules.UNSEEN_AFTER
    ):
        mark = "unseen"
    now_known = _known(funding, mark)
    if before == now_known:
        return
    await api_snapshots.put(tx, program, f"{_KEPT}{funding.id}", now_known)
    is_told = (before.get("status"), before.get("reason"), before.get("mark")) == (
        funding.status,
        funding.reason,
        mark,
    )
    if is_told or (is_first and funding.status in _FINAL):
        return
    await _tell(tx, core, program, funding.id, now_known)


def _known(funding: Funding, mark: str) -> Known:
    return {
        "status": funding.status,
        "reason": funding.reason,
        "network": funding.network,
        "tx_hash": funding.tx_hash,
        "amount_usd": _text(funding.amount_usd),
        "fee_usd": _text(funding.fee_usd),
        "credited_usd": _text(funding.credited_usd),
        "created_at": funding.created_at.isoformat(),
        "credited_at": funding.credited_at.isoformat() if funding.credited_at else None,
        "mark": mark,
    }


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else str(amount)


async def credited(tx: Tx, core: Core, program: str, data: FloatCredit, created_at: datetime) -> None:
    """`float.credited` came; nothing is told where the poller was first."""
    name = f"{_KEPT}{data.funding_id}"
    kept = await api_snapshots.get(tx, program, name)
    unknown: Known = {"network": "", "tx_hash": "", "amount_usd": None, "created_at": ""}
    known: Known = {**unknown, **(kept.value if kept else {})}
    if known.get("status") == "credited" or known.get("reason") == "reversed_by_operator":
        return
    known |= {
        "status": "credited",
        "reason": None,
        "mark": "",
        "fee_usd": str(data.fee_usd),
        "credited_usd": str(data.credited_usd),
        "credited_at": created_at.isoformat(),
    }
    await api_snapshots.put(tx, program, name, known)
    await _tell(tx, core, program, data.funding_id, known)


async def _tell(tx: Tx, core: Core, program: str, funding_id: str, known: Known) -> None:
    """One alert for each submission, redrawn as it goes on; credited ends it."""
    status, reason = str(known["status"]), str(known["reason"] or "")
    condition = funding_alerts.FUNDING.condition(program, funding_id)
    words, about = reason_in_words(status, reason), _about(funding_id, known)
    if status == "credited":
        said = funding_alerts.FUNDING.says(
            "credited separately" if reason else "credited",
            submission=_named(funding_id, known),
            amount=funding_alerts.credited_amount(
                Decimal(known["credited_usd"] or 0),
                fee_usd=Decimal(known["fee_usd"] or 0),
                sent_usd=None if known["amount_usd"] is None else Decimal(known["amount_usd"]),
            ),
            text=" ".join(filter(None, (words, about, _late(tx, known)))),
        )
        await alerts.tell(tx, core, said, condition=condition, subject=funding_id)
        return
    if status == "pending" and not known["mark"]:
        await alerts.resolve(tx, core, condition)
        return
    said = funding_alerts.FUNDING.says(
        _case(status, reason, str(known["mark"])),
        submission=_named(funding_id, known),
        status=status,
        reason=words,
        mark=known["mark"],
        network=known["network"],
        about=about,
    )
    facts = {"program": program, "funding_id": funding_id, "reason": reason}
    facts |= {key: known[key] for key in ("tx_hash", "network") if known[key]}
    await alerts.keep(tx, core, said, condition=condition, subject=funding_id, facts=facts, is_news=True)


def _case(status: str, reason: str, mark: str) -> str:
    """Which wording of the alert fits a submission that is not credited."""
    if status == "rejected":
        return "taken back" if reason == "reversed_by_operator" else "rejected"
    if status == "pending":
        return "unseen" if mark == "unseen" else "overdue"
    return "review" if status == "review" else "unknown status"


def _late(tx: Tx, known: Known) -> str:
    credited_at = datetime.fromisoformat(known["credited_at"]) if known["credited_at"] else tx.now
    return HEARD_LATE.format(at=credited_at) if tx.now - credited_at > LATE_AFTER else ""


def _named(funding_id: str, known: Known) -> str:
    return funding_alerts.submission_named(funding_id, known["tx_hash"])


def _about(funding_id: str, known: Known) -> str:
    shown = {"amount_usd": "sent", "fee_usd": "fee", "credited_usd": "credited"}
    amounts = [(label, format_usd(Decimal(known[key]))) for key, label in shown.items() if known.get(key)]
    return funding_alerts.submission_about(
        funding_id, tx_hash=known["tx_hash"], network=known["network"], amounts=amounts
    )


async def _gone(core: Core, program: str, funding_id: str, kept: Reading | None) -> None:
    """Not there any more: another account's claim of the same transfer took its place [GET /funding/{id}]."""
    if kept is None or kept.value["status"] == _GONE:
        return
    async with core.store.begin() as tx:
        known: Known = {**kept.value, "status": _GONE}
        await api_snapshots.put(tx, program, f"{_KEPT}{funding_id}", known)
        await alerts.keep(
            tx,
            core,
            funding_alerts.FUNDING.says(
                "gone", submission=_named(funding_id, known), about=_about(funding_id, known)
            ),
            condition=funding_alerts.FUNDING.condition(program, funding_id),
            subject=funding_id,
            facts={"program": program, "funding_id": funding_id},
        )


async def _count_unverified(tx: Tx, core: Core, program: str, found: Mapping[str, Funding]) -> None:
    """Five unverified submissions block all funding [POST /funding]: said at the fourth."""
    waiting = [f for f in found.values() if f.status == "pending" and f.amount_usd is None]
    condition = funding_alerts.FUNDING_UNVERIFIED.condition(program)
    if len(waiting) < funding_alerts.UNVERIFIED_LIMIT - 1:
        await alerts.resolve(tx, core, condition)
        return
    said = funding_alerts.FUNDING_UNVERIFIED.says(
        program=program,
        count=len(waiting),
        limit=funding_alerts.UNVERIFIED_LIMIT,
        hashes=", ".join(funding_alerts.short_hash(f.tx_hash) for f in waiting),
    )
    await alerts.keep(tx, core, said, condition=condition, subject=program)


async def on_its_way(tx: Tx, program: str) -> Decimal:
    """What verified submissions will bring before the fee, as last read; unverified ones count nothing."""
    known = (await api_snapshots.named(tx, program, _KEPT)).values()
    coming = (k.value for k in known if k.value["status"] in ("pending", "review"))
    return exact_sum(Decimal(value["amount_usd"]) for value in coming if value["amount_usd"])


async def under_way(tx: Tx, program: str) -> list[OpenFunding]:
    """What is pending or in review, reviews first, then the oldest."""
    known = await api_snapshots.named(tx, program, _KEPT)
    found = [
        OpenFunding(
            funding_id,
            _named(funding_id, kept.value),
            kept.value["network"],
            kept.value["status"],
            Decimal(kept.value["amount_usd"]) if kept.value["amount_usd"] else None,
            datetime.fromisoformat(kept.value["created_at"]),
        )
        for funding_id, kept in known.items()
        if kept.value["status"] in ("pending", "review") and kept.value["created_at"]
    ]
    return sorted(found, key=lambda f: (f.status != "review", f.since, f.id))
