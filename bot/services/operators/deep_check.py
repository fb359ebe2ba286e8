"""Holds the tables against the audit chain: requests, decisions and outcomes that somebody edited, deleted or invented.

`countersign audit verify --deep` prints what differs. Once a night all of it is checked by itself, with an alert.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date

from bot.domain.alerts import request_alerts
from bot.domain.requests import OPEN, Attempt, Decision, Request, fingerprints
from bot.services import alerts
from bot.services.core import Core
from bot.services.requests import has_its_digest
from storage import audit
from storage.cards import otp_recipients
from storage.columns import time_text
from storage.errors import LogNotWhole
from storage.events import webhook_secrets
from storage.log_record import on_record, open_requests
from storage.operators import passkeys, pauses, programs
from storage.protection import SIGNED_TABLES, chain_replay, signed_rows
from storage.requests import attempts, decisions, requests
from storage.transaction import Tx

_PAGE = 200
_SHOWN = 3
_AT_HOUR = 2  # UTC


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a table and the chain differ: what it is about, and in words how."""

    about: str
    how: str

    def __str__(self) -> str:
        return f"{self.about}: {self.how}"


async def differences(tx: Tx) -> list[Difference]:
    """All of them, in one reading of the database."""
    _, found = await compared(tx)
    return found


async def compared(tx: Tx, anchors: Sequence[audit.Anchor] = ()) -> tuple[audit.Report, list[Difference]]:
    """Is the chain whole, also by these anchors, and where do the tables differ from it?

    The entries are those that were checked, and each is read once.
    """
    report, chain = await chain_replay.replayed(tx, anchors)
    found = list[Difference]()
    after: Request | None = None
    while page := await requests.page_of_all(tx, after, limit=_PAGE):
        made = await decisions.of_many(tx, [request.id for request in page])
        calls = await attempts.of_many(tx, [request.id for request in page])
        spoiled = await requests.not_opening(tx, [request.id for request in page])
        found += [Difference(one, "its sealed details were edited") for one in sorted(spoiled)]
        # Beside the loop, which goes on meanwhile.
        found += await asyncio.to_thread(_of_page, tx, page, made, calls, chain)
        after = page[-1]
    found += [Difference(gone, "it is on record, and was deleted") for gone in sorted(chain.requests)]
    found += [Difference(about, how) for about, how in chain.wrong]
    with suppress(LogNotWhole):  # which is said by itself
        await on_record.of(tx)
    return report, found + await _signed(tx) + await _put_back(tx, chain)


def _of_page(
    tx: Tx,
    page: Sequence[Request],
    made: Sequence[Decision],
    calls: Mapping[str, Sequence[Attempt]],
    chain: chain_replay.Replayed,
) -> list[Difference]:
    words = defaultdict[str, list[Decision]](list)
    for decision in made:
        words[decision.request_id].append(decision)
    found = []
    for request in page:
        known = chain.requests.pop(request.id, None)  # what is left in the end was deleted
        how = [*_request(tx, request, known), *_decisions(tx, words[request.id], known)]
        stored = calls.get(request.id, ())
        if known is not None and known.calls != len(stored):
            how.append(f"{known.calls} calls are on record and {len(stored)} are stored")
        elif _calls_changed(request, stored, chain.open.get(request.id), known):
            how.append("what it says of its calls was edited")
        found += [Difference(request.id, one) for one in how]
    return found


def _calls_changed(
    request: Request,
    made: Sequence[Attempt],
    on_record: open_requests.OpenRequest | None,
    known: chain_replay.RequestReplayed | None,
) -> bool:
    if request.state not in OPEN:
        ended_with = known.made if known is not None else ""
        return ended_with not in ("", fingerprints.leant_on(made)["calls"])
    return on_record is not None and open_requests.calls_changed(on_record, request, made)


def _request(tx: Tx, request: Request, known: chain_replay.RequestReplayed | None) -> list[str]:
    if known is None or not known.submitted:
        return ["nothing of its submission is on record: it was invented"]
    how = []
    if not has_its_digest(tx.vault, request, as_proof=True) or known.digest != request.digest:
        how.append("its terms were edited")
    if known.state != request.state:
        how.append(f"it is {request.state} here and {known.state} on record")
    if known.approved_at != ("" if request.approved_at is None else time_text(request.approved_at)):
        how.append("when it was approved was edited")
    if known.at_once != request.break_glass:
        how.append("whether it was done without an approval was edited")
    if request.state not in OPEN and known.ended not in ("", fingerprints.of_end(request)):
        how.append("what it says of how it ended was edited")
    if request.version < known.newest:
        how.append("its version was set back")
    return how


def _decisions(tx: Tx, made: Iterable[Decision], known: chain_replay.RequestReplayed | None) -> list[str]:
    recorded = set() if known is None else known.decisions
    words = dict((known.words if known is not None else None) or ())
    how, stored, ids = list[str](), set[tuple[str, str]](), set[str]()
    for decision in made:
        ids.add(decision.id)
        stored.add((decision.kind.value, decision.actor))
        if not decisions.is_genuine(tx.vault, decision, as_proof=True):
            how.append(f"a decision in the name of {decision.actor} was edited or invented")
        elif (decision.kind.value, decision.actor) not in recorded:
            how.append(f"nothing of the decision of {decision.actor} is on record")
        elif words.get(decision.id) not in (None, fingerprints.of_words(decision)):
            how.append(f"what the decision of {decision.actor} says was edited")
    how += [f"the decision of {who} ({kind}) was deleted" for kind, who in sorted(recorded - stored)]
    # What one person said several times, as a word on an outcome and its correction.
    said = {} if known is None else {one: who for one, who in known.said if one not in ids}
    how += [
        f"a decision of {who} ({kind}) was deleted"
        for kind, who in sorted(said.values())
        if (kind, who) in stored
    ]
    return how


async def _signed(tx: Tx) -> list[Difference]:
    """Rows under a signature that are not as we left them."""
    return [
        Difference(f"{signed.name} {key}", "it was edited, invented, deleted or put back")
        for signed in SIGNED_TABLES
        for key in await signed_rows.changed_outside(tx, signed)
    ] + [
        Difference(f"program {name}", "its key was replaced, and an older one was put back")
        for name in await programs.with_older_key(tx)
    ]


async def _put_back(tx: Tx, chain: chain_replay.Replayed) -> list[Difference]:
    """Older rows put back together with their signatures: the chain knows the newer ones."""
    found = []
    now = dict(await otp_recipients.all(tx))
    for reference, person in chain.codes.items():
        if now.get(reference, "") != person:
            found.append(
                Difference(f"codes of {reference}", f"they are to go to {person or 'nobody'} by the record")
            )
    for program, is_paused in chain.paused.items():
        if is_paused and await pauses.of(tx, program) is None:
            found.append(Difference(f"program {program}", "its pause was taken away"))
    for program, is_on in chain.drafts.items():
        known = await programs.get(tx, program)
        if is_on and known is not None and not known.is_draft_only:
            found.append(Difference(f"program {program}", "draft only was switched off"))
    return found + await _passkeys(tx, chain) + await _secrets(tx)


async def _secrets(tx: Tx) -> list[Difference]:
    """Webhook secrets that were put back, invented or deleted, or are to be taken for longer. Nothing where the log
    isn't whole, which is said by itself."""
    with suppress(LogNotWhole):
        return [
            Difference(f"webhook secret of {program}", "it isn't as it is on record")
            for program in await webhook_secrets.not_on_record(tx)
        ]
    return []


async def _passkeys(tx: Tx, chain: chain_replay.Replayed) -> list[Difference]:
    """Passkeys that were invented or given to somebody else, that were ended and put back, or deleted."""
    found, counting = [], {one.id: one for one in await passkeys.everybodys(tx) if one.state == "active"}
    for passkey_id, one in counting.items():
        person = chain.passkeys.get(passkey_id)
        if one.key is None:
            found.append(Difference(f"passkey {passkey_id}", "it was edited or invented"))
        elif person != one.key.slack_id:
            how = (
                "it had ended and was put back"
                if person == ""
                else "nothing of its confirmation is on record"
            )
            found.append(Difference(f"passkey {passkey_id}", how))
    gone = [one for one, person in chain.passkeys.items() if person and one not in counting]
    return found + [
        Difference(f"passkey {one}", "it is on record, and was deleted or switched off") for one in gone
    ]


class Nightly:
    """Checks everything once a night, and soon after a start. When it did so last is in memory, where nobody changes
    it."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._last: date | None = None

    async def run(self) -> None:
        """Check now if it is due; called every few minutes."""
        now = self._core.clock.now()
        if self._last is not None and (now.date() <= self._last or now.hour < _AT_HOUR):
            return
        self._last = now.date()
        await check(self._core)


async def check(core: Core) -> None:
    """Check the whole chain and the tables against it: one alert while something is wrong."""
    async with core.store.read() as tx:
        report, found = await compared(tx)
    if report.ok:
        core.measures.chain_checked_to, core.measures.chain_checked_at_s = report.last, core.clock.monotonic()
    wrong = [str(one) for one in found[:_SHOWN]]
    if len(found) > _SHOWN:
        wrong.append(f"and {len(found) - _SHOWN} more")
    if not report.ok:
        wrong = [f"the audit chain is broken at entry {report.first_bad} ({report.kind})"]
    condition = request_alerts.CHANGED_OUTSIDE.condition("audit")
    async with core.store.begin() as tx:
        if not wrong:
            await alerts.resolve(tx, core, condition)
            return
        said = request_alerts.CHANGED_OUTSIDE.says("rows", what="; ".join(wrong))
        await alerts.keep(tx, core, said, condition=condition, subject="audit", program="")
