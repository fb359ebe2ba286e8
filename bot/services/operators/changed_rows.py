"""Reports rows that somebody else changed: those that decide who gets what are signed, and compared every minute."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from bot.domain.alerts import Said, request_alerts
from bot.domain.requests import UNSENT, Request
from bot.services import alerts
from bot.services.alerts import put_back_rules
from bot.services.core import Core
from bot.services.requests import signatures
from bot.together import each_by_itself
from storage import audit, master_keys
from storage import tables as t
from storage.cards import cards, otp_recipients
from storage.columns import is_ours
from storage.errors import LogNotWhole
from storage.events import webhook_secrets
from storage.log_record import LogFacts, on_record, open_requests
from storage.maintenance import sequences
from storage.messages import alerts as alert_rows
from storage.operators import pauses, programs
from storage.protection import (
    CODE_RECIPIENT,
    CONSENT,
    DETAILS_LINK,
    MUTE,
    PAUSE,
    PROGRAM,
    SIGNED_TABLES,
    signed_rows,
)
from storage.requests import attempts, decisions, requests
from storage.transaction import Contradiction, Tx

ATTEMPTS = "attempt"
DECISIONS = "decision"
CARDS = "card"
PASSKEY_LINKS = "passkey_link"
LOG = "audit_log"
SECRETS = "webhook_secret"
_NAMED = 3
_WITHOUT_THE_LOG = frozenset(signed.name for signed in SIGNED_TABLES)
END_OF_LOG = "where the audit log ends"
WORDS = {
    PROGRAM.name: "the account of a program, or whether it is for drafts only",
    PAUSE.name: "who stopped sending to a program",
    CODE_RECIPIENT.name: "who gets one-time codes",
    MUTE.name: "which alerts are muted",
    CONSENT.name: "who requested a confirmation, and of what",
    DETAILS_LINK.name: "a link to card details",
    ATTEMPTS: "the calls that were made for a request",
    DECISIONS: "what people decided on a request",
    t.request.name: "which version a request has",
    t.alert_thread_line.name: "the history of an alert",
    CARDS: "the directory of cards",
    PASSKEY_LINKS: "a link to the page for passkeys",
    SECRETS: "which webhook secrets sign deliveries",
    LOG: "the audit log",
}
"""What a table is about, for people, by its name."""


def rows_changed(what: str) -> Said:
    """That rows are not as they were left; `what` they are about."""
    return request_alerts.CHANGED_OUTSIDE.says("rows", what=what)


async def watch(core: Core) -> None:
    """Raise one alert for each table that holds rows which are not as we left them, and end it when none is left.

    Each part is done by itself, whatever fails in another: the first error is raised when all had their turn.
    """
    condition = request_alerts.CHANGED_OUTSIDE.condition
    async with each_by_itself() as each:
        for part in (_end_of_log_again, _numbers_again, _open_requests):
            with each():
                await part(core)
        changed, unknown = set[str](), set[str]()
        for name, look in _looks().items():
            unknown.add(name)
            with each():
                async with core.store.read() as tx:
                    # First: it has the newest numbers of rows.
                    is_whole = await _log_is_whole(tx)
                    changed |= set() if is_whole else {LOG}
                    if (is_whole or name in _WITHOUT_THE_LOG) and await look(tx):
                        changed.add(name)
                unknown.discard(name)
        async with core.store.read() as tx:
            conditions = {condition(name): name for name in WORDS}
            open_ones = {conditions[one] for one in await alert_rows.open_among(tx, conditions)}
            # All cards are looked at only once somebody met one: the API is asked about each before it is sent to.
            if CARDS in open_ones and not await cards.are_as_read(tx):
                changed.add(CARDS)
        for name in sorted(changed ^ open_ones):
            if name in changed or name not in unknown:
                with each():
                    await _tell(core, name, is_changed=name in changed, is_whole=LOG not in changed)


async def _tell(core: Core, name: str, *, is_changed: bool, is_whole: bool) -> None:
    """That rows of this table are changed, or as we left them again."""
    condition = request_alerts.CHANGED_OUTSIDE.condition(name)
    async with core.store.begin() as tx:
        tx.reports_loss = not is_whole
        if is_changed:
            said = request_alerts.CHANGED_OUTSIDE.says("log") if name == LOG else rows_changed(WORDS[name])
            await alerts.raise_(tx, core, said, condition=condition, subject=name, program="")
        else:
            await alerts.resolve(tx, core, condition)


async def _has_another_version(tx: Tx) -> bool:
    """Does a request that is open by the log have a version that is none of ours, or is of before?"""
    known = (await on_record.of(tx)).open
    rows = await requests.among(tx, known)
    return any(not is_ours(row.version) or row.version < known[row.id].version for row in rows)


def _looks() -> dict[str, Callable[[Tx], Awaitable[bool]]]:
    """By table, does it hold rows that are not as we left them?"""

    def of_signed(signed: signed_rows.SignedTable) -> Callable[[Tx], Awaitable[bool]]:
        async def is_changed(tx: Tx) -> bool:
            if signed is PROGRAM and await programs.with_older_key(tx):
                return True
            return bool(await signed_rows.changed_outside(tx, signed, only_alive=True))

        return is_changed

    async def any_of(found: Awaitable[Any]) -> bool:
        return bool(await found)

    return {
        **{signed.name: of_signed(signed) for signed in SIGNED_TABLES},
        SECRETS: lambda tx: any_of(webhook_secrets.not_on_record(tx)),
        ATTEMPTS: lambda tx: any_of(attempts.not_on_record(tx)),
        DECISIONS: lambda tx: any_of(decisions.not_on_record(tx)),
        t.request.name: _has_another_version,
    }


async def tell_of_those_met(core: Core) -> None:
    """One alert for each table of which this process met a row that is not as we left it, and went no further. The row
    may be right again by now: then `watch` ends the alert."""
    found = sorted(core.store.rows_met)
    for name in found:
        condition = request_alerts.CHANGED_OUTSIDE.condition(name)
        async with core.store.begin() as tx:
            if await alert_rows.open_one(tx, condition) is None:
                said = rows_changed(WORDS[name])
                await alerts.raise_(tx, core, said, condition=condition, subject=name, program="")
        core.store.rows_met.discard(name)


async def _open_requests(core: Core) -> None:
    """Find what nobody meets: requests that are open by the audit log, and whose rows are gone or otherwise, as one of
    another program, or a row of a list that somebody cancelled in the database. People are notified."""
    condition = request_alerts.CHANGED_OUTSIDE.condition("open_requests")
    try:
        async with core.store.read() as tx:
            known = (await on_record.of(tx)).open
            rows = await requests.among(tx, known)
            there = {row.id for row in rows}
            # Of a row that cannot be read people are notified by itself.
            gone = [one for one in sorted(known.keys() - there) if not tx.set_aside.has(t.request.name, one)]
            is_open = await alert_rows.open_one(tx, condition) is not None
    except LogNotWhole:  # an alert of its own says so
        return
    for row in rows:
        wrong = _not_as_left(core, row, known[row.id])
        if wrong is not None:
            core.store.put_back.setdefault(row.id, wrong)
    await put_back_rules.lists_follow(core)
    await put_back_rules.tell(core)
    if not gone and not is_open:
        return
    async with core.store.begin() as tx:
        if gone:
            said = rows_changed(_taken_out(gone))
            await alerts.keep(tx, core, said, condition=condition, subject="request", program="")
        else:
            await alerts.resolve(tx, core, condition)


def _not_as_left(core: Core, row: Request, known: open_requests.OpenRequest) -> Contradiction | None:
    if row.state is not known.state:
        why = f"is {known.state} by the audit log, and somebody changed its row to {row.state}"
        return Contradiction(row.id, why, known.state)
    # What was sent is looked at again and again, which says by itself that its terms were changed.
    if known.state in UNSENT and not signatures.has_its_digest(core.store.vault, row, as_proof=True):
        why = f"is {known.state} by the audit log, and somebody changed in its row what was requested"
        return Contradiction(row.id, why, known.state)
    return open_requests.differs(row, known)


def _taken_out(gone: Sequence[str]) -> str:
    named = ", ".join(gone[:_NAMED]) + (f" and {len(gone) - _NAMED} more" if len(gone) > _NAMED else "")
    return (
        f"requests that have not ended by the audit log were taken out ({named}), so nothing is sent for them"
    )


async def _log_is_whole(tx: Tx) -> bool:
    """As far as this process can tell. Another one may have retired a master key meanwhile: that is learned, too."""
    try:
        await master_keys.learn_retired(tx)
    except LogNotWhole:
        return False
    return True


async def read_log(core: Core) -> None:
    """Go on in the audit log, and so learn what it tells that money and keys depend on: from then on this process opens
    and believes nothing under a master key that was retired, whichever process retired it.

    Of a log that isn't whole `watch` notifies people.
    """
    with suppress(LogNotWhole):
        async with core.store.read() as tx:
            await on_record.of(tx)


async def _end_of_log_again(core: Core) -> None:
    """Where its row was taken out or set back, nothing can be recorded, not even alerts. Write it again, and tell."""
    async with core.store.read() as tx:
        if not await audit.head_is_lost(tx):
            return
    async with core.store.begin() as tx:
        if await audit.put_head_back(tx):
            said = rows_changed(f"{END_OF_LOG}; it was written again")
            condition = request_alerts.CHANGED_OUTSIDE.condition("audit_head")
            await alerts.keep(tx, core, said, condition=condition, subject="audit_head", program="")


async def _numbers_again(core: Core) -> None:
    """Where the next number of a table is one that none can follow, or is taken, nothing goes into it: neither messages
    nor what comes with them. Go on after the rows that are there, and tell."""
    if core.store.database.path is not None:
        return
    async with core.store.begin() as tx:
        if moved := await sequences.put_right(tx):
            said = rows_changed(f"how the rows of {', '.join(moved)} are numbered; it was put right")
            condition = request_alerts.CHANGED_OUTSIDE.condition("sequences")
            await alerts.tell(tx, core, said, condition=condition, subject="sequences", program="")


async def undo_what_was_put_back(core: Core) -> list[str]:
    """At the start, before anything is sent: hold what decides who gets what against the audit chain.

    Older rows put back together with their older signatures count for nothing, by the numbers that the chain has; rows
    from before it had them may look like ours. A pause or draft only that the chain tells of is in force again, and
    codes go to whom the chain names. Returns what was put right, as alerts say it. Raises `LogNotWhole`.
    """
    async with core.store.begin() as tx:
        said = await on_record.of(tx)
        now = dict(await otp_recipients.all(tx))
        changed = await signed_rows.changed_outside(tx, CODE_RECIPIENT)
        found = [
            *[PAUSE.name for one in await programs.all(tx) if await _pause_again(tx, said, one.name)],
            *[PROGRAM.name for one in await programs.all(tx) if await _draft_again(tx, said, one)],
            *[
                CODE_RECIPIENT.name
                for one in sorted({*now, *changed}.intersection(said.codes))
                if await _name_again(tx, one, said.codes[one], None if one in changed else now.get(one))
            ],
        ]
        await signed_rows.put_all_on_record(tx)
        await programs.put_keys_on_record(tx)
        for name in dict.fromkeys(found):
            put_right = rows_changed(f"{WORDS[name]}; an older row was put back")
            condition = request_alerts.CHANGED_OUTSIDE.condition(f"{name}:put_back")
            await alerts.keep(tx, core, put_right, condition=condition, subject=name, program="")
    return list(dict.fromkeys(found))


async def _pause_again(tx: Tx, said: LogFacts, program: str) -> bool:
    paused_by = said.paused.get(program)
    if paused_by is None or (
        await pauses.of(tx, program) is not None and not await pauses.is_changed(tx, program)
    ):
        return False
    await pauses.drop(tx, program)  # whatever else is there in its name
    reason = "the pause was taken out of the database by somebody else"
    return await pauses.put(tx, program, by=paused_by, by_name="Countersign", reason=reason)


async def _draft_again(tx: Tx, said: LogFacts, program: programs.Program) -> bool:
    if program.name not in said.drafts or program.is_draft_only:
        return False
    if not await programs.is_as_left(tx, program.name):
        return False  # nothing is sent to it either
    return await programs.begin_drafts(tx, program.name)


async def _name_again(tx: Tx, reference: str, recorded: str, person: str | None) -> bool:
    """`person`: who gets them now; None = what is stored was changed."""
    if recorded == person:
        return False
    if recorded:
        await otp_recipients.put(tx, reference, recorded)
    else:
        await otp_recipients.drop(tx, reference)
    return True


async def note_signed(core: Core) -> None:
    """Say that the rows of an older database were signed when it was opened."""
    rows = core.store.signed_now
    if rows is None:
        return
    async with core.store.begin() as tx:
        said = request_alerts.ROWS_SIGNED.says(rows=rows)
        condition = request_alerts.ROWS_SIGNED.condition(core.store.instance)
        await alerts.tell(tx, core, said, condition=condition, subject="database", program="")
    core.store.signed_now = None
