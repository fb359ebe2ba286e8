"""The database: its address and folder, its version, the master key, the audit chain and the rows that it proves,
messages that wait in it, and who has a passkey."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from bot.cli.audit import in_words
from bot.cli.doctor.findings import Finding, of_error, to_check, well, wrong

if TYPE_CHECKING:
    from bot.config import Config, Settings
    from storage.audit import Report
    from storage.store import Store

_TWO = 2
_SHOWN = 3


async def opened(settings: Settings, stack: AsyncExitStack) -> tuple[list[Finding], Store | None]:
    """Its findings, and the store, which the stack closes; None where it does not open."""
    from bot.cli.environment import open_store
    from storage.database import Database
    from storage.maintenance import why_not_written

    try:
        if unwritable := Database.parse(settings.database_url).unwritable():
            return [wrong("database_folder", str(unwritable))], None
        store = await stack.enter_async_context(open_store(beside_the_bot=True))
        report, rows = await _rows(store)
        server, too_old = await store.server(), await store.too_old()
        unwritten = await why_not_written(store, leaves_nothing=True)
    except Exception as error:  # noqa: BLE001  reported in a sentence, or raised again where it is our own fault
        return of_error("database", error), None
    if too_old:
        return [wrong("database", too_old), _audit_chain(report), *rows, await messages(store)], store
    fits = f"The database is at this version, on {server}, and the master key fits it."
    can_be_written = (
        wrong("database_written", unwritten)
        if unwritten
        else well("database_written", "The database can be written, and its disk has room.")
    )
    return [well("database", fits), can_be_written, _audit_chain(report), *rows, await messages(store)], store


async def _rows(store: Store) -> tuple[Report, list[Finding]]:
    """Is the audit chain whole, and is any row unreadable, or not as Countersign left it?

    Rows that cannot be read are left out of the rest, as the bot does it. Where the chain is broken, nothing is held
    against it.
    """
    from bot.services.operators import deep_check
    from bot.services.processes import unreadable

    new = await unreadable.leave_out_all(store)
    unread = [row for row in dict.fromkeys([*store.set_aside, *new]) if row.because is None]
    left_out = {row.about for row in unread}
    async with store.read() as tx:
        report, compared = await deep_check.compared(tx)
    changed = [one for one in compared if one.about not in left_out]
    found = []
    if unread:
        shown = _some([f"{row.row} of {row.table} in its column {row.column}" for row in unread])
        found.append(
            wrong(
                "unreadable_rows",
                f"Somebody wrote into the database what nothing can read: {shown}. Keep a copy of it, put the rows back"
                " as they are in a backup, and find out who can write to it. See “unreadable_row” in the runbook.",
            )
        )
    if report.ok and changed:
        found.append(
            wrong(
                "changed_rows",
                f"The database is not as Countersign left it: {_some([str(one) for one in changed])}. Keep a copy of"
                " it, run `countersign audit verify --deep`, and find out who can write to it. See “changed_outside” in"
                " the runbook.",
            )
        )
    if not found and report.ok:
        found.append(well("rows", "Every row can be read, and is as the audit log has it."))
    return report, found


def _some(each: list[str]) -> str:
    more = f"; and {len(each) - _SHOWN} more" if len(each) > _SHOWN else ""
    return "; ".join(each[:_SHOWN]) + more


def _audit_chain(report: Report) -> Finding:
    if report.ok:
        return well("audit_chain", f"The audit chain is whole: {in_words(report.count)}.")
    from bot.services.audit import broken

    return wrong("audit_chain", broken(report.first_bad, report.kind))


async def messages(store: Store) -> Finding:
    """Do messages wait for Slack?"""
    from bot.services.messages import waiting as waiting_messages
    from bot.services.operators import health

    async with store.read() as tx:
        waiting = await waiting_messages.now(tx)
        is_late = waiting is not None and waiting.since < tx.now - waiting_messages.LATE_AFTER
    if waiting is None or not is_late:
        return well("messages", "No message waits for Slack.")
    return wrong("messages", health.messages_wait(waiting))


async def anchors_there(settings: Settings, store: Store) -> list[Finding]:
    """Places for audit anchors that hold none, although they should. What cannot be read is said elsewhere."""
    from bot.services.anchor_places import Unreadable, empty_places, places
    from storage import audit

    kept_in = places(store, settings.anchors_file, settings.anchors_command)
    try:
        kept = await kept_in.read_each()
    except Unreadable:
        return []
    async with store.read() as tx:
        entries = (await audit.head(tx)).seq
    fault = empty_places(kept_in, kept, entries)
    return [to_check("anchors_there", fault)] if fault else []


async def passkeys(settings: Settings, config: Config, store: Store) -> list[Finding]:
    """Can one be added, and have enough people one that works, where the policy asks for it?

    Only where browsers can use them at all.
    """
    from bot.domain.passkeys import Site
    from bot.services.passkeys import proofs
    from storage.operators import passkeys as rows

    asking = [one for one in (config.policy.default, *config.policy.kinds.values()) if one.asks_for_passkey]
    if not asking or not settings.public_url:
        return []
    try:
        host = Site.at(settings.public_url).rp_id
    except ValueError:
        return []
    anchors = await _kept_anchors(settings, store)
    await _read_log(store)
    async with store.read() as tx:
        found = await proofs.counting(tx, await rows.everybodys(tx))
    by_person = Counter(one.slack_id for one in found if one.key and one.key.rp_id == host)
    people = len(by_person)
    needed = max(one.most_approvals for one in asking)
    if people > needed:
        enough = well("people_with_passkeys", f"{people} people have a passkey that works.")
        return [*anchors, enough, *_spare(by_person)]
    have = "Nobody has" if not people else "1 person has" if people == 1 else f"{people} people have"
    take = "1 approval" if needed == 1 else f"{needed} approvals"
    return [
        *anchors,
        to_check(
            "people_with_passkeys",
            f"{have} a passkey that works, and a request may take {take} from others than its requester. Let every"
            " approver type `/countersign passkey add` in Slack.",
        ),
        *_spare(by_person),
    ]


def _spare(by_person: Mapping[str, int]) -> Iterator[Finding]:
    """Two people with one passkey each cannot replace a lost one: two others have to confirm the next."""
    from bot.domain.passkeys import NO_TWO_OTHERS

    if len(by_person) != _TWO or min(by_person.values()) > 1:
        return
    yield to_check(
        "spare_passkeys",
        "Only 2 people have a passkey, and not both have a second one. Whoever loses their only one needs two others to"
        f" confirm the next. Let both add one on another device. {NO_TWO_OTHERS}",
    )


async def _kept_anchors(settings: Settings, store: Store) -> list[Finding]:
    """What keeps everybody from adding a passkey."""
    from bot.domain.passkeys import NO_ANCHORS, anchors_unreadable
    from bot.services.anchor_places import Unreadable, places

    kept_in = places(store, settings.anchors_file, settings.anchors_command)
    if not kept_in.is_anywhere:
        return [wrong("passkey_anchors", NO_ANCHORS)]
    try:
        await kept_in.read_each()
    except Unreadable as error:
        return [wrong("passkey_anchors", anchors_unreadable(str(error)))]
    return []


async def _read_log(store: Store) -> None:
    """All of it: whose passkeys count stands there. Where it isn't whole, none counts, as `audit_chain` says."""
    from storage.errors import ChangedOutside
    from storage.operators import passkeys_on_record

    left = 1
    while left:
        async with store.read() as tx:
            try:
                left = await passkeys_on_record.learn(tx)
            except ChangedOutside:
                return
