"""The ledger: it must add up to the float, and a request here must explain what leaves [Ledger entry].

A short ledger is read whole each time. Of a long one only what came in since is read, on top of the sum so far; the
newest row of that sum must still stand where it did, and once a day all of it is read again. In safe mode all of it is
read once: debits of requests that the copy does not know may stand anywhere.

How far it was read is signed, and that it was read at all is on record: where somebody changed the one or took it out,
all that came in since the first reading is looked at again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.alerts import float_alerts, request_alerts
from bot.domain.money import exact_sum, format_usd, ledger_text
from bot.domain.requests import RETURNED, Request, State
from bot.outcomes import timing
from bot.partner.calls.pages import PAGE, Page
from bot.partner.client import PartnerClient
from bot.partner.models import LedgerEntry
from bot.partner.ratelimit import Lane
from bot.services import audit, outbox_messages, snapshots
from bot.services.alerts import ledger_causes, unsent_debits
from bot.services.alerts import lifecycle as alerts
from bot.services.alerts.unsent_debits import in_a_line, orphan
from bot.services.core import Core
from bot.services.requests import batch_rows, has_its_digest
from bot.services.snapshots import Kept, Ledger
from storage.log_record import on_record
from storage.operators import SafeMode, safe_mode
from storage.requests import request_search, requests
from storage.transaction import Tx

# Up to ten calls: read whole.
_SHORT = 10 * PAGE
_WHOLE_EVERY = timedelta(days=1)
_TRIES = 3


@dataclass
class _Sum:
    """The ledger up to its newest row: how many rows, their sum in USD, and that row; when all was last read."""

    rows: int
    total_usd: Decimal
    newest: tuple[str, ...]
    whole_at: datetime
    # Of what came in, all that may need an explanation, the newest first; and how many of these, from the front, came
    # in since somebody watched.
    fresh: list[LedgerEntry] = field(default_factory=list)
    watched: int = 0
    places: list[int] = field(
        default_factory=list
    )  # where each of them stands in a ledger that was read whole


async def compare(core: Core, program: str) -> None:
    """Read both. What nobody explains is reported once, and a difference when it is seen twice. Raises PartnerError."""
    partner = core.partners[program]
    async with core.store.read() as tx:
        kept = await snapshots.LEDGER.get(tx, program)
        mode = await safe_mode.current(tx)
        mark = "" if mode is None else mode.mark
        begun_with = None if kept is not None else (await on_record.of(tx)).ledgers.get(program)
    is_changed = begun_with is not None
    if begun_with is not None:
        kept = Kept(Ledger(begun_with), core.clock.now())
    first, balance_usd = await _as_of_one_moment(partner)
    if mode is not None and not is_whole_in(kept, mark):
        found = await _read_after_restore(core, partner, first, kept, mode)
    else:
        found = await _summed(core, partner, first, kept)
        found.watched = len(found.fresh) if _is_baseline(kept) else 0
        mark = kept.value.whole_in if kept else mark
    async with core.store.begin() as tx:
        await _explain(tx, core, program, found.fresh, watched=found.fresh[: found.watched])
        differs_usd = None if balance_usd is None else balance_usd - found.total_usd
        await snapshots.LEDGER.put(tx, program, _kept(found, differs_usd, mark))
        if balance_usd is not None and differs_usd is not None:
            await _add_up(tx, core, program, found.total_usd, balance_usd, kept)
        if is_changed:
            await _tell_of_change(tx, core, program)
        if program not in (await on_record.known(tx)).ledgers:
            about, body = f"program:{program}", {"rows": found.rows}
            await audit.record(tx, core, "system:poller", "ledger.begun", about, body)


async def is_begun(core: Core, program: str) -> bool:
    """Was the ledger ever read here, and the whole of it if in safe mode? What comes in from then on is reported."""
    async with core.store.read() as tx:
        kept, mode = await snapshots.LEDGER.get(tx, program), await safe_mode.current(tx)
        return _is_baseline(kept) and (mode is None or is_whole_in(kept, mode.mark))


async def _tell_of_change(tx: Tx, core: Core, program: str) -> None:
    what = (
        f"how far the ledger of {program} was read; what came in since its first reading was looked at again"
    )
    said = request_alerts.CHANGED_OUTSIDE.says("rows", what=what)
    condition = request_alerts.CHANGED_OUTSIDE.condition(f"ledger:{program}")
    await alerts.keep(tx, core, said, condition=condition, subject=program, program=program)


def _is_baseline(kept: Kept[Ledger] | None) -> bool:
    return kept is not None and kept.value.rows is not None


def is_whole_in(kept: Kept[Ledger] | None, mark: str) -> bool:
    """Was all of it read in the safe mode of this mark?"""
    return kept is not None and kept.value.whole_in == mark


async def since_last_reading(
    partner: PartnerClient, kept: Kept[Ledger] | None, *, never_before: datetime | None
) -> list[LedgerEntry]:
    """The rows that came in since the ledger was last read here, as far as that can be seen. Where it was never read,
    or changed elsewhere than at its end: those since `never_before`; None = all. Raises PartnerError."""
    first = await partner.ledger(1, PAGE, lane=Lane.BACKGROUND)
    known_rows = (kept.value.rows or 0) if kept else 0
    new, found = first.total - known_rows, list[LedgerEntry]()
    async for entry in partner.ledger_entries(since=never_before, first=first, lane=Lane.BACKGROUND):
        if kept is not None and len(found) == new and entry.marks == kept.value.newest:
            break
        found.append(entry)
    return found


async def _as_of_one_moment(partner: PartnerClient) -> tuple[Page[LedgerEntry], Decimal | None]:
    """The ledger's first page and the float's balance of that moment, in USD; None: money moves all the time."""
    before = (await partner.me(lane=Lane.BACKGROUND)).float.balance_usd
    for _ in range(_TRIES):
        first = await partner.ledger(1, PAGE, lane=Lane.BACKGROUND)
        after = (await partner.me(lane=Lane.BACKGROUND)).float.balance_usd
        if before == after:
            return first, after
        before = after
    return first, None


async def _summed(
    core: Core, partner: PartnerClient, first: Page[LedgerEntry], kept: Kept[Ledger] | None
) -> _Sum:
    known = _known(core, first, kept)
    if known is None:
        return await _read_whole(core, partner, first, (kept.value.rows or 0) if kept else 0)
    new = first.total - known.rows
    total_usd, fresh, place = known.total_usd, list[LedgerEntry](), 0
    async for entry in partner.ledger_entries(first=first, lane=Lane.BACKGROUND):
        if place == new:
            if entry.marks != known.newest:
                return await _read_whole(core, partner, first, 0)
            break
        total_usd = exact_sum((total_usd, entry.amount_usd))
        fresh.append(entry)
        place += 1
    newest = first.rows[0].marks if first.rows else ()
    return _Sum(first.total, total_usd, newest, known.whole_at, [e for e in fresh if _may_need_a_cause(e)])


def _known(core: Core, first: Page[LedgerEntry], kept: Kept[Ledger] | None) -> _Sum | None:
    """What the sum may be built upon; None: read all of it."""
    last = kept.value if kept else Ledger()
    if first.total <= _SHORT or not last.newest or last.rows is None or last.rows > first.total:
        return None
    if last.whole_at is None or last.differs_usd:
        return None
    if not timedelta(0) <= core.clock.now() - last.whole_at < _WHOLE_EVERY:  # or the clock was ahead then
        return None
    return _Sum(last.rows, last.total_usd, last.newest, last.whole_at)


async def _read_whole(core: Core, partner: PartnerClient, first: Page[LedgerEntry], known_rows: int) -> _Sum:
    """All of it. `known_rows` were there at the last reading: what is beyond them is new."""
    begun_at = core.clock.now()
    total_usd, fresh, places, place = Decimal(0), list[LedgerEntry](), list[int](), 0
    async for entry in partner.ledger_entries(first=first, lane=Lane.BACKGROUND):
        total_usd = exact_sum((total_usd, entry.amount_usd))
        if place < first.total - known_rows and _may_need_a_cause(entry):
            fresh.append(entry)
            places.append(place)
        place += 1
    newest = first.rows[0].marks if first.rows else ()
    return _Sum(first.total, total_usd, newest, begun_at, fresh, places=places)


async def _read_after_restore(
    core: Core, partner: PartnerClient, first: Page[LedgerEntry], kept: Kept[Ledger] | None, mode: SafeMode
) -> _Sum:
    """All of it: any row may be of a request that this copy does not know. Watched counts what came in since the copy
    last read it, or since it was made where it never did."""
    found = await _read_whole(core, partner, first, 0)
    if kept is not None and kept.value.rows is not None:
        found.watched = len([at for at in found.places if at < first.total - kept.value.rows])
    elif mode.head_at is not None:
        since = mode.head_at - timing.CLOCKS_DIFFER
        found.watched = len([entry for entry in found.fresh if entry.created_at >= since])
    return found


def _kept(found: _Sum, differs_usd: Decimal | None, mark: str) -> Ledger:
    return Ledger(found.rows, found.total_usd, found.newest, found.whole_at, differs_usd, mark)


def _may_need_a_cause(entry: LedgerEntry) -> bool:
    """A row that names a key, or one by which the float falls."""
    return entry.amount_usd < 0 or bool(ledger_text.key_in(entry.reference))


async def _explain(
    tx: Tx, core: Core, program: str, fresh: Sequence[LedgerEntry], *, watched: Sequence[LedgerEntry]
) -> None:
    """Tell of what came in and no request here made. What was there before anybody `watched` is reported only if its
    key is one of ours. A row under the key of a request that was never sent is reported, too. A request that was
    called failed is looked at again where its key moved something after all, and one whose outcome is not known where
    there is anything new under its key.
    """
    known = await request_search.by_key(tx, {ledger_text.key_in(entry.reference) for entry in fresh})
    await requests.look_again(
        tx, [known[key] for key in unsent_debits.moving(fresh) & known.keys()], {State.FAILED}
    )
    await requests.look_again(tx, known.values(), {State.UNRESOLVED})
    edited = set[str]()  # somebody wrote the key into its row, for instance: it explains nothing
    for key, request_id in known.items():
        rows = [e for e in fresh if ledger_text.key_in(e.reference) == key]
        for entry in rows:
            if entry.amount_usd < 0:
                core.traces.since(request_id, "Debit in the ledger", entry.created_at, kind=entry.kind)
        request = await requests.get(tx, request_id)
        if request is not None and not has_its_digest(tx.vault, request, as_proof=True):
            edited.add(key)
        elif request is not None and await unsent_debits.was_not_sent(tx, core, request_id):
            await unsent_debits.tell(tx, core, request, rows)
    known = {key: request_id for key, request_id in known.items() if key not in edited}
    await _tell_of_returns(tx, core, fresh, known)
    await unsent_debits.count_of_failed(tx, program, fresh)
    orphans, foreign = await ledger_causes.unexplained(tx, core, program, fresh, known)
    # In safe mode they are expected, and its own alert lists them.
    is_listed = await safe_mode.current(tx) is not None
    listed_at = None if is_listed else tx.now
    await safe_mode.add_orphans(
        tx, [orphan(program, entry, found_at=tx.now, listed_at=listed_at) for entry in orphans]
    )
    since = {entry.marks for entry in watched}
    foreign = [entry for entry in foreign if entry.marks in since]
    for case, rows in (("orphans", [] if is_listed else orphans), ("foreign", foreign)):
        if not rows:
            continue
        took_usd = -exact_sum(entry.amount_usd for entry in rows)
        said = float_alerts.unexplained(program, case, [in_a_line(entry) for entry in rows], took_usd)
        condition = float_alerts.UNEXPLAINED.condition(program, case, rows[0].created_at.isoformat())
        await alerts.raise_(tx, core, said, condition=condition, subject=program, program=program)


async def _tell_of_returns(
    tx: Tx, core: Core, fresh: Sequence[LedgerEntry], known: Mapping[str, str]
) -> None:
    """Of payments that are called succeeded, by an answer of the API or by two people, and came back to the float.

    What is on record of how it ended is kept; its message, its thread and its requester say what came after.
    """
    for key, request_id in known.items():
        back = [e for e in fresh if ledger_text.key_in(e.reference) == key and e.amount_usd > 0]
        request = await requests.get(tx, request_id) if back else None
        if request is not None and request.state is State.SUCCEEDED and request.kind in core.float_kinds:
            usd = exact_sum(entry.amount_usd for entry in back)
            await tell_of_return(tx, core, request, usd, [in_a_line(entry) for entry in back])


async def tell_of_return(tx: Tx, core: Core, request: Request, usd: Decimal, rows: Sequence[str]) -> None:
    """Of one that is called succeeded: so much came back, as these rows of the ledger show. Reported once."""
    if (request.outcome or {}).get(RETURNED):
        return
    program = request.program
    text = f"{request.outcome_text} After that {format_usd(usd)} came back to the float: do not rely on the card."
    facts = {RETURNED: str(usd)}
    request = await requests.touch(
        tx, request, outcome_text=text, outcome={**(request.outcome or {}), **facts}
    )
    await audit.of_request(tx, core, request, "system:poller", "request.returned", facts)
    await outbox_messages.card(tx, core, request)
    await outbox_messages.line(tx, core, request, "returned", text=text)
    await outbox_messages.tell_requester(tx, core, request, "", is_loud=True)
    await batch_rows.money_came_back(tx, core, request)
    said = float_alerts.returned(program, rows, usd, request=f"{request.id} ({request.summary})")
    condition = float_alerts.UNEXPLAINED.condition(program, "returned", request.id)
    await alerts.raise_(tx, core, said, condition=condition, subject=request.id, program=program)


async def _add_up(
    tx: Tx, core: Core, program: str, total_usd: Decimal, balance_usd: Decimal, kept: Kept[Ledger] | None
) -> None:
    differs_usd = balance_usd - total_usd
    condition = float_alerts.LEDGER_DIFFERS.condition(program)
    if not differs_usd:
        await alerts.resolve(tx, core, condition)
    elif kept is not None and kept.value.differs_usd == differs_usd:
        said = float_alerts.LEDGER_DIFFERS.says(
            program=program,
            difference=format_usd(differs_usd),
            total=format_usd(total_usd),
            balance=format_usd(balance_usd),
        )
        facts = {"program": program}
        await alerts.keep(
            tx,
            core,
            said,
            condition=condition,
            subject=program,
            program=program,
            facts=facts,
            since=kept.read_at,
        )
