"""Anchors: where the audit chain ended, kept outside the database.

A chain alone does not show that its tail was cut off or that an older copy was put back; an anchor outside does. One is
written every hundred entries and every quarter of an hour, and at once after each stop: a copy of before it would send
what people stopped. Each goes to the log, to the audit channel where one is set, to a file beside an SQLite database,
and to the file or the command of the settings. A place that does not answer in its time is away: it is tried again, and
keeps neither the others nor people waiting. Files and the command are read at each start. In safe mode none is
written: the newer database may be put back, and these would not be of it. Who resets passkeys at the machine goes on
with the copy, and they are written again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress

from bot.domain.errors import NotAllowed
from bot.domain.passkeys import IN_SAFE_MODE, NO_ANCHORS, anchors_unreadable
from bot.services import outbox_messages
from bot.services.anchor_places import EVERY_ENTRIES, Unreadable
from bot.services.audit import record
from bot.services.core import Core
from storage import audit, instance
from storage.errors import ChangedOutside, DatabaseFault, LogNotWhole
from storage.operators import passkeys_on_record
from storage.transaction import Tx

log = logging.getLogger("countersign.audit")

# Stops that follow each other so closely have one anchor, such as of many approvals that run out together.
_APART_S = 1.0
# A place that took none is tried again.
_TRIED_AGAIN_S = 30.0
_SAFE_MODE = "nothing is kept in safe mode"
_NOT_KEPT = (
    "A passkey is added only while the end of the audit log is kept outside the database, and it was not kept in"
    " {places}. Nothing was changed. Tell an admin."
)


async def drop(core: Core, *, within_s: float | None = None, again: bool = True) -> None:
    """State where the chain ends now, in every place outside the database. Where the database lacks what this process
    knows, that is stated, and `LogNotWhole` raised then. `within_s`: how long to wait for the places, as in
    `AnchorPlaces.write`. `again`: a place that has it already is given it once more."""
    core.anchors.due.clear()
    try:
        await _drop(core, in_channel=True, within_s=within_s, again=again)
    except LogNotWhole:
        raise
    except BaseException:
        core.anchors.due.set()
        raise


async def drop_after_a_stop(core: Core) -> None:
    """As `drop`, of what somebody has stopped: that is done, and they need not wait for a place that is slow or away.
    It has its anchor all the same, as the loop of stops would see to."""
    await drop(core, within_s=_APART_S)


async def drop_at_stops(core: Core) -> None:
    """For as long as the process runs: one at once when something was stopped, and the places that did not take the
    newest are tried again. It waits for none of them."""
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout(_TRIED_AGAIN_S if core.anchors.is_anywhere else None):
                await core.anchors.due.wait()
        with suppress(LogNotWhole):  # said by the job that asks whether one is due
            if core.anchors.due.is_set():
                await drop(core, within_s=0)
            elif core.anchors.behind:
                await _try_again(core)
        await asyncio.sleep(_APART_S)
        await _note_files(core)


async def _try_again(core: Core) -> None:
    async with core.store.read() as tx:
        anchor = None if await passkeys_on_record.is_copy_in_doubt(tx) else await audit.anchor(tx)
    if anchor is not None:
        await core.anchors.write(anchor, core.anchors.behind, within_s=0)


async def drop_last(core: Core, *, within_s: float) -> None:
    """As `drop`, at an end: it waits no longer for a place, and logs each that lacks it then. Where the SQLite file at
    its path is not the one that is open, by what is open: then the next start knows that what it finds is older."""
    fault = ""
    try:
        async with asyncio.timeout(within_s):
            if core.store.misplaced() is None:
                await drop(core, within_s=within_s, again=False)
            else:
                await _drop_what_is_open(core, within_s)
    except (TimeoutError, DatabaseFault) as error:
        fault = type(error).__name__
    finally:
        without = [str(lane.place) for lane in core.anchors.behind.values()]
        if fault or without:
            log.warning("audit.no_last_anchor", extra={"places": without, "error": fault})


async def _drop_what_is_open(core: Core, within_s: float) -> None:
    async with core.store.read(though_misplaced=True) as tx:
        anchor = None if await passkeys_on_record.is_copy_in_doubt(tx) else await audit.anchor(tx)
    if anchor is not None:
        await core.anchors.write(anchor, core.anchors.lacking(anchor), within_s=within_s)


async def _drop(
    core: Core, *, in_channel: bool, within_s: float | None = None, again: bool = True
) -> tuple[audit.Anchor | None, Mapping[str, str]]:
    """The anchor, and by the name of each place that did not keep it, what is wrong with that place. Raises
    `LogNotWhole`."""
    # In a transaction of its own: what comes with an anchor is locked before the end of the chain.
    async with core.store.begin() as tx:
        await audit.wait_for_who_adds(tx)
    async with core.store.begin() as tx:
        lacked = await audit.lacked(tx)
        anchor = await audit.anchor(tx)
        if anchor is None:
            return None, {}
        is_safe_mode = await passkeys_on_record.is_copy_in_doubt(tx)
        if in_channel and core.channels.audit and not is_safe_mode:
            await outbox_messages.anchor(tx, core, anchor)
    log.info(
        "audit.anchor", extra={"seq": anchor.seq, "hash": anchor.hash, "mac": anchor.mac, "at": anchor.at}
    )
    if is_safe_mode:
        return anchor, {name: f"{lane.place} ({_SAFE_MODE})" for name, lane in core.anchors.lanes.items()}
    if in_channel:
        core.anchors.last_seq = anchor.seq
    lanes = core.anchors.lanes if again else core.anchors.lacking(anchor)
    failed = await core.anchors.write(anchor, lanes, within_s=within_s)
    if lacked is not None:
        log.error("audit.entry_gone", extra={"seq": lacked.seq, "hash": lacked.hash})
        raise LogNotWhole(lacked.seq, "head")
    await _note_files(core)
    return anchor, failed


async def _note_files(core: Core) -> None:
    """That one of these is missing later is noticed at the start."""
    beside = core.store.database.anchors_beside
    kept = frozenset(str(path) for path in core.anchors.kept_in() if path != beside)
    if kept != core.anchors.noted:
        async with core.store.begin() as tx:
            await instance.note_anchor_files(tx, kept)
        core.anchors.noted = kept


async def require_places(core: Core) -> None:
    """There are places outside the database, and each can be read now. Raises NotAllowed."""
    if fault := await why_not_kept(core):
        raise NotAllowed(fault, "no_anchors")


async def why_not_kept(core: Core) -> str:
    """Why nobody can add a passkey, as far as the places for anchors go; empty where they can be read."""
    if not core.anchors.is_anywhere:
        return NO_ANCHORS
    try:
        await core.anchors.read_each()
    except Unreadable as error:
        return anchors_unreadable(str(error))
    async with core.store.read() as tx:
        if await passkeys_on_record.is_copy_in_doubt(tx):
            return IN_SAFE_MODE
    return ""


async def require_kept(core: Core) -> None:
    """Where the chain ends now is kept in every place, and each place is on record as one that keeps anchors: whoever
    cuts the chain off from here on, or takes a place away, is noticed. Raises NotAllowed, `NotReadYet`."""
    await require_places(core)
    anchor, failed = await _drop(core, in_channel=False)
    _refuse(failed)
    async with core.store.read() as tx:
        found = await passkeys_on_record.of(tx)
    lanes = core.anchors.lanes
    missing = {name: lane.kept for name, lane in lanes.items() if name not in found.kept and lane.kept}
    if anchor is None or not missing:
        return
    async with core.store.begin() as tx:
        await _put_on_record(tx, core, missing)
    _, failed = await _drop(core, in_channel=False)
    _refuse(failed)


async def _put_on_record(tx: Tx, core: Core, kept: Mapping[str, audit.Anchor]) -> None:
    """`kept`: an anchor that a place has, by its name."""
    for place, anchor in sorted(kept.items()):
        body = {"place": place, "seq": anchor.seq, "hash": anchor.hash}
        await record(tx, core, "system:app", passkeys_on_record.KEPT, f"anchors:{place}", body)


def _refuse(failed: Mapping[str, str]) -> None:
    if failed:
        raise NotAllowed(_NOT_KEPT.format(places=" and ".join(failed.values())), "anchors_not_kept")


async def catch_up(core: Core, seq: int) -> None:
    """Find an anchor of entry `seq` or a later one outside the database, or keep one now."""
    try:
        kept = [one for each in (await core.anchors.read_each()).values() for one in each]
    except Unreadable:
        kept = []
    async with core.store.read() as tx:
        try:
            has = (await passkeys_on_record.of(tx)).fingerprints.has
        except ChangedOutside:
            return
    found = max((one.seq for one in kept if has(one.seq, one.hash)), default=0)
    core.anchors.kept_seq = max(core.anchors.kept_seq, found)
    if core.anchors.kept_seq < seq:
        await drop(core)


async def drop_if_due(core: Core) -> None:
    """Once there are so many entries that no anchor tells of, or a stop that none tells of."""
    async with core.store.read() as tx:
        end, lacked = await audit.head(tx), await audit.lacked(tx)
    is_many = end.seq - core.anchors.last_seq >= EVERY_ENTRIES
    if lacked is not None or is_many or core.anchors.due.is_set():
        await drop(core)
