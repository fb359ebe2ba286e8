"""Funding submissions: in review, rejected, late, credited, taken back; each reported once, however we learned of it.

No event exists for a review, a rejection or a reversal [Event types], so the submissions are read until
they are final, and those credited for thirty days more. What was last known is kept for each, and both
the reading and the event `float.credited` go by it: whichever comes second finds nothing new.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from bot import operations
from bot.domain.alerts import RECEIVED_LATE, alert_rules, funding_alerts
from bot.domain.ids import short_hash
from bot.domain.money import exact_sum, format_usd, funding_readings
from bot.domain.requests import Request, State
from bot.operations import funding_facts, reason_in_words
from bot.partner.calls import account as account_calls
from bot.partner.errors import NotFound
from bot.partner.models import FloatCredit, Funding
from bot.partner.ratelimit import Lane
from bot.services import request_stages, snapshots
from bot.services.alerts import lifecycle as alerts
from bot.services.core import Core
from bot.services.received_event import LATE_AFTER
from bot.services.snapshots import Funding as Known
from bot.services.snapshots import Kept
from bot.view_models import OpenFunding
from storage.cards import api_snapshots
from storage.requests import requests
from storage.transaction import Tx

_BEGUN = "funding_watch"
CREDITED_WATCHED_FOR = timedelta(days=30)
_CREDITED_READ_EVERY = timedelta(days=1)
_READ_SINGLY = 20
_FINAL = frozenset({"credited", "rejected"})
_COMING = frozenset({"pending", "review"})


@dataclass(frozen=True, slots=True)
class _Read:
    """A submission as the API showed it. `begun_at` is when the call that read it began."""

    funding: Funding
    begun_at: datetime


async def read(core: Core, program: str) -> None:
    """Read what is not final, tell what changed, and move the requests on. Raises PartnerError."""
    partner = core.partners[program]
    begun_at = core.clock.now()
    listed = await partner.funding_list(lane=Lane.BACKGROUND)
    found = {f.id: _Read(f, begun_at) for f in listed}
    async with core.store.read() as tx:
        known = await snapshots.FUNDING.named(tx, program)
        begun = await api_snapshots.get(tx, program, _BEGUN)
        ours = await _submitted_here(tx, core, program)
        now = tx.now
    for funding_id in _to_read_singly({**dict.fromkeys(ours), **known}, found, now):
        begun_at = core.clock.now()
        try:
            found[funding_id] = _Read(await partner.funding(funding_id, lane=Lane.BACKGROUND), begun_at)
        except NotFound:
            await _gone(core, program, funding_id, known.get(funding_id), begun_at)
    usual = _usual(known)
    async with core.store.begin() as tx:
        for funding_id in sorted(found):  # in one order, as each is held until the end
            await _judge(tx, core, program, found[funding_id], usual, is_first=begun is None)
        await _count_unverified(tx, core, program, [one.funding for one in found.values()])
        if begun is None:
            await api_snapshots.put(tx, program, _BEGUN, {})


async def _submitted_here(tx: Tx, core: Core, program: str) -> list[str]:
    """Ids of submissions that requests of ours made, should the list not show them."""
    made = await requests.find(
        tx,
        program=program,
        kinds=operations.asking(core.kinds, account_calls.SUBMIT_FUNDING),
        states=(State.SUCCEEDED,),
        since=tx.now - CREDITED_WATCHED_FOR,
        limit=100,
    )
    ids = [str((r.outcome or {}).get("funding_id") or "") for r in made]
    return [funding_id for funding_id in ids if funding_id]


def _to_read_singly(
    known: Mapping[str, Kept[Known] | None], found: Collection[str], now: datetime
) -> list[str]:
    """What the list did not show and may still change, those read longest ago first."""
    due = []
    for funding_id, kept in known.items():
        if funding_id in found:
            continue
        if kept is None or kept.value.status not in (*_FINAL, funding_readings.GONE):
            due.append((kept.read_at if kept else datetime.min.replace(tzinfo=now.tzinfo), funding_id))
        elif kept.value.status == "credited" and kept.value.credited_at:
            age = now - kept.value.credited_at
            if age < CREDITED_WATCHED_FOR and now - kept.read_at > _CREDITED_READ_EVERY:
                due.append((kept.read_at, funding_id))
    return [funding_id for _, funding_id in sorted(due)[:_READ_SINGLY]]


async def known_hashes(tx: Tx, program: str) -> frozenset[str]:
    """The hashes of all submissions of this program that were ever read here."""
    known = await snapshots.FUNDING.named(tx, program)
    return frozenset(kept.value.tx_hash for kept in known.values())


async def took(tx: Tx, program: str) -> dict[str, list[timedelta]]:
    """How long the program's credited submissions took, by network."""
    return _usual(await snapshots.FUNDING.named(tx, program))


def _usual(known: Mapping[str, Kept[Known]]) -> dict[str, list[timedelta]]:
    """How long credited submissions took, by network."""
    took: dict[str, list[timedelta]] = {}
    for kept in known.values():
        value = kept.value
        if value.status == "credited" and value.credited_at and value.created_at:
            took.setdefault(value.network, []).append(value.credited_at - value.created_at)
    return took


async def _judge(
    tx: Tx,
    core: Core,
    program: str,
    read: _Read,
    took: Mapping[str, list[timedelta]],
    *,
    is_first: bool,
) -> None:
    """Take a reading in. The first reading of all tells nothing of what is final."""
    funding = read.funding
    known = _shown(funding_facts(funding), read.begun_at, mark=_mark(funding, tx.now, took))
    await _take_in(tx, core, program, asdict(known), is_quiet=is_first and funding.status in _FINAL)


def _shown(facts: Mapping[str, Any], read_at: datetime, *, mark: str = "") -> Known:
    return snapshots.FUNDING.typed({**facts, "mark": mark, "read_at": read_at})


def _mark(funding: Funding, now: datetime, took: Mapping[str, list[timedelta]]) -> str:
    """For how long a submission that should have moved on is pending; empty while it is in time."""
    if funding.status != "pending":
        return ""
    age = now - funding.created_at
    mark = alert_rules.overdue_mark(
        age, alert_rules.usual_time(funding.network, took.get(funding.network, ()))
    )
    unseen = funding.amount_usd is None and age > alert_rules.UNSEEN_AFTER
    return mark or ("unseen" if unseen else "")


async def answered(tx: Tx, core: Core, request: Request, facts: Mapping[str, Any]) -> None:
    """The API took a request's submission: what it answered is a reading like any other, of when it was sent."""
    sent_at = request.first_sent_at or tx.now
    await _take_in(tx, core, request.program, asdict(_shown(facts, sent_at)))


async def credited(tx: Tx, core: Core, program: str, data: FloatCredit, created_at: datetime) -> None:
    """`float.credited` came; nothing is reported where a reading was first."""
    said = {
        "funding_id": data.funding_id,
        "status": "credited",
        "reason": None,
        "mark": "",
        "fee_usd": data.fee_usd,
        "credited_usd": data.credited_usd,
        "credited_at": created_at,
        "read_at": funding_readings.BY_EVENT,
    }
    await _take_in(tx, core, program, said)


async def _take_in(tx: Tx, core: Core, program: str, new: dict[str, Any], *, is_quiet: bool = False) -> None:
    """Keep what was learned of a submission unless something newer is known; tell what changed, everywhere.

    `new` has, of the fields of `Known`, no more than what its source says: the rest stays as it was known.
    """
    funding_id = new["funding_id"]
    await tx.hold(f"funding:{funding_id}")
    kept = await snapshots.FUNDING.get(tx, program, funding_id)
    known = _merged(new, kept, tx.now)
    if kept is None or _is_worth_keeping(known, kept, tx.now):
        await snapshots.FUNDING.put(tx, program, known, funding_id)
    if not is_quiet and (kept is None or _as_reported(kept.value) != _as_reported(known)):
        await _tell(tx, core, program, known)
    if known.tx_hash:
        kinds = operations.asking(core.kinds, account_calls.SUBMIT_FUNDING)
        await request_stages.follow(
            tx, core, program=program, kinds=kinds, subject=known.tx_hash, facts=asdict(known)
        )


def _merged(new: dict[str, Any], kept: Kept[Known] | None, now: datetime) -> Known:
    """What is known once `new` was learned, which may be older than what was known before."""
    if kept is None:
        return Known(**new)
    last = _reading(kept.value, kept.read_at)
    if not funding_readings.is_newer(_reading(replace(kept.value, **new), now), last):
        return kept.value
    return replace(kept.value, **{**new, "read_at": max(new["read_at"], last.read_at)})


def _as_reported(known: Known) -> tuple[str, str | None, str]:
    """What people are shown: a reading that changes nothing of it is no news."""
    return known.status, known.reason, known.mark


def _is_worth_keeping(known: Known, kept: Kept[Known], now: datetime) -> bool:
    """What changed; and of what may still change, or was kept long ago, that it was read again."""
    now_known, before = asdict(known), asdict(kept.value)
    changed = {key for key in now_known if now_known[key] != before[key]}
    is_old = now - kept.read_at > _CREDITED_READ_EVERY
    return bool(changed - {"read_at"}) or is_old or (bool(changed) and _reading(known, now).may_go_back)


def _reading(known: Known, at: datetime) -> funding_readings.FundingReading:
    """`at` is when it was kept, for what was kept before the time of its reading was."""
    return funding_readings.FundingReading(known.status, known.reason, known.read_at or at)


async def _tell(tx: Tx, core: Core, program: str, known: Known) -> None:
    """One alert for each submission, redrawn as it goes on; credited ends it."""
    funding_id, status, reason = known.funding_id, known.status, known.reason or ""
    condition = funding_alerts.FUNDING.condition(program, funding_id)
    words, about = reason_in_words(status, reason), _about(known)
    if status == "credited":
        said = funding_alerts.FUNDING.says(
            "credited separately" if reason else "credited",
            submission=_named(known),
            amount=funding_alerts.credited_amount(
                known.credited_usd or Decimal(0),
                fee_usd=known.fee_usd or Decimal(0),
                sent_usd=known.amount_usd,
            ),
            text=" ".join(filter(None, (words, about, _late(tx, known)))),
        )
        await alerts.tell(tx, core, said, condition=condition, subject=funding_id, program=program)
        return
    if status == "pending" and not known.mark:
        await alerts.resolve(tx, core, condition)
        return
    await _warn(tx, core, program, known, reason=reason)


async def _warn(tx: Tx, core: Core, program: str, known: Known, *, reason: str) -> None:
    """Somebody should look at it: the alert goes on, or is raised."""
    funding_id, status = known.funding_id, known.status
    said = funding_alerts.FUNDING.says(
        _case(status, reason, known.mark),
        submission=_named(known),
        status=status,
        reason=reason_in_words(status, reason),
        mark=known.mark,
        network=known.network,
        about=_about(known),
    )
    condition = funding_alerts.FUNDING.condition(program, funding_id)
    facts = {"program": program, "funding_id": funding_id, "reason": reason}
    facts |= {"tx_hash": known.tx_hash} if known.tx_hash else {}
    facts |= {"network": known.network} if known.network else {}
    await alerts.keep(
        tx, core, said, condition=condition, subject=funding_id, program=program, facts=facts, is_news=True
    )


def _case(status: str, reason: str, mark: str) -> str:
    """Which wording of the alert fits a submission that is not credited."""
    if status == "rejected":
        return "taken back" if reason == "reversed_by_operator" else "rejected"
    if status == funding_readings.GONE:
        return "gone"
    if status == "pending":
        return "unseen" if mark == "unseen" else "overdue"
    return "review" if status == "review" else "unknown status"


def _late(tx: Tx, known: Known) -> str:
    credited_at = known.credited_at or tx.now
    return RECEIVED_LATE.format(at=credited_at) if tx.now - credited_at > LATE_AFTER else ""


def _named(known: Known) -> str:
    return funding_alerts.submission_named(known.funding_id, known.tx_hash)


def _about(known: Known) -> str:
    shown = {"sent": known.amount_usd, "fee": known.fee_usd, "credited": known.credited_usd}
    amounts = [(label, format_usd(usd)) for label, usd in shown.items() if usd is not None]
    return funding_alerts.submission_about(
        known.funding_id, tx_hash=known.tx_hash, network=known.network, amounts=amounts
    )


async def _gone(
    core: Core, program: str, funding_id: str, kept: Kept[Known] | None, begun_at: datetime
) -> None:
    """Not there any more: another account's claim of the same transfer took its place [GET /funding/{id}]."""
    if kept is None or kept.value.status == funding_readings.GONE:
        return
    said = {
        "funding_id": funding_id,
        "status": funding_readings.GONE,
        "mark": "",
        "read_at": begun_at,
    }
    async with core.store.begin() as tx:
        await _take_in(tx, core, program, {"reason": None, **said})
        if kept.value.status == "credited":  # which no claim can displace: somebody has to ask
            await snapshots.FUNDING.put(tx, program, kept.value, funding_id)
            await _warn(tx, core, program, replace(kept.value, status=funding_readings.GONE), reason="")


async def _count_unverified(tx: Tx, core: Core, program: str, found: Sequence[Funding]) -> None:
    """Five unverified submissions block all funding [POST /funding]: said at the fourth."""
    waiting = [f for f in found if f.status == "pending" and f.amount_usd is None]
    condition = funding_alerts.FUNDING_UNVERIFIED.condition(program)
    if len(waiting) < funding_alerts.UNVERIFIED_LIMIT - 1:
        await alerts.resolve(tx, core, condition)
        return
    said = funding_alerts.FUNDING_UNVERIFIED.says(
        program=program,
        count=len(waiting),
        limit=funding_alerts.UNVERIFIED_LIMIT,
        hashes=", ".join(short_hash(f.tx_hash) for f in waiting),
    )
    await alerts.keep(tx, core, said, condition=condition, subject=program, program=program)


async def requests_of(tx: Tx, core: Core, funding_id: str) -> list[Request]:
    """Our requests that submitted this transfer and that the API took, the newest first."""
    kinds = operations.asking(core.kinds, account_calls.SUBMIT_FUNDING)
    found: list[Request] = []
    for program in core.partners:
        kept = await snapshots.FUNDING.get(tx, program, funding_id)
        if kept is not None and kept.value.tx_hash:
            found += await requests.find(
                tx, program=program, states=(State.SUCCEEDED,), kinds=kinds, subject=kept.value.tx_hash
            )
    return found


async def on_its_way(tx: Tx, program: str) -> Decimal:
    """What verified submissions will bring before the fee, as last read; unverified ones count nothing."""
    known = (await snapshots.FUNDING.named(tx, program)).values()
    return exact_sum(k.value.amount_usd for k in known if k.value.status in _COMING and k.value.amount_usd)


async def under_way(tx: Tx, program: str) -> list[OpenFunding]:
    """What is pending or in review, reviews first, then the oldest."""
    known = [kept.value for kept in (await snapshots.FUNDING.named(tx, program)).values()]
    found = [
        OpenFunding(one.funding_id, _named(one), one.network, one.status, one.amount_usd, one.created_at)
        for one in known
        if one.status in _COMING and one.created_at
    ]
    return sorted(found, key=lambda f: (f.status != "review", f.since, f.id))
