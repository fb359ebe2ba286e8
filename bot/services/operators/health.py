"""Is this bot able to do its work? Each check answers None, or a sentence for whoever runs it."""

from __future__ import annotations

from datetime import timedelta

from bot.domain import slack_faults
from bot.domain.alerts import account_alerts
from bot.services import snapshots
from bot.services.core import Core
from bot.services.message_kinds import Form
from bot.services.messages import waiting as waiting_messages
from bot.services.operators import late_stops
from bot.services.operators.programs import cause_of
from bot.services.processes import start_holds
from storage import audit
from storage.maintenance import why_not_written
from storage.messages import Waiting, outbox
from storage.operators import programs, safe_mode

ENTRY_GONE = (
    "The database lacks entry {seq} of the audit log, which this process knows, so nothing is approved or sent. Either"
    " an older copy of the database was put in place while Countersign ran: then restart every process, and safe mode"
    " begins. Or somebody changed it: then keep a copy of it, and run countersign audit verify --deep."
)
# Two missed polls are a hiccup; the third says that nobody is watching.
_MISSED_POLLS = 3
_LOOKED_AT = 50


async def keys_work(core: Core) -> str | None:
    """No program is paused for its key: the API takes it, and has said whose account it is of."""
    async with core.store.read() as tx:
        paused = [p for p in await programs.all(tx) if p.paused_reason]
    return " ".join(f"Nothing is sent to {p.name}: {cause_of(p)}." for p in paused) or None


async def messages_go_out(core: Core) -> str | None:
    """No message has waited for Slack for long, and somebody sends them."""
    async with core.store.read() as tx:
        waiting = await waiting_messages.now(tx)
        due = await outbox.next_due(tx, limit=_LOOKED_AT)
        last_sent = await outbox.last_sent_at(tx)
        late = tx.now - waiting_messages.LATE_AFTER
    if waiting is not None and waiting.since < late:
        return messages_wait(waiting)
    if last_sent is not None and last_sent >= late:
        return None  # many wait their turn: Slack takes one a second
    untried = [row for row in due if row.kind != Form.LINE and row.due_at < late]
    return f"{len(untried)} messages are due and nothing sends them." if untried else None


def messages_wait(waiting: Waiting) -> str:
    """How many messages wait, since when, what Slack says of them, and what to do."""
    messages = "1 message waits" if waiting.count == 1 else f"{waiting.count:,} messages wait"
    why = slack_faults.explained(waiting.error)
    return f"{messages} for Slack since {waiting.since:%Y-%m-%d %H:%M:%S} UTC. {why}"


async def database_is_written(core: Core) -> str | None:
    """A row can be stored now, and the database has what this process wrote there last."""
    return await why_not_written(core.store) or await _entry_gone(core)


async def _entry_gone(core: Core) -> str | None:
    async with core.store.read() as tx:
        lacked = await audit.lacked(tx)
    return None if lacked is None else ENTRY_GONE.format(seq=lacked.seq)


async def sends(core: Core) -> str | None:
    """The database is no older copy of itself."""
    async with core.store.read() as tx:
        mode = await safe_mode.current(tx)
    return (
        "Safe mode: the database is an older copy, so nothing is sent. Two people leave it with /countersign resume."
        if mode
        else None
    )


async def stops_are_recorded(core: Core) -> str | None:
    """All that people stopped is on record, as far as this process was asked."""
    return late_stops.sentence(core)


async def looked_since_start(core: Core) -> str | None:
    """Nothing is held back because a start could not read the ledger or the messages in Slack."""
    async with core.store.read() as tx:
        waits = [await start_holds.why(tx, program) for program in core.partners if core.awaits_look()]
    return " ".join(filter(None, waits)) or None


async def poller_runs(core: Core, every: timedelta) -> str | None:
    """The card provider answers, and the account of every program was read within three cadences."""
    away = [
        _away(name, partner.contact.status, seconds)
        for name, partner in core.partners.items()
        if (seconds := partner.contact.away_for_s)
    ]
    if away:
        return " ".join(away)
    longest_s = every.total_seconds() * _MISSED_POLLS
    late = []
    async with core.store.read() as tx:
        for program in core.partners:
            last = await snapshots.ACCOUNT.get(tx, program)
            if last is None or core.measures.readings.age_s(program, last.read_at, core.clock) > longest_s:
                late.append(f"{program} ({'never' if last is None else f'{last.read_at:%H:%M:%S} UTC'})")
    return f"The account was not read lately: {', '.join(late)}." if late else None


def _away(program: str, status: int | None, seconds: float) -> str:
    """What the API does instead of answering; `status`: of what came back, None where nothing did."""
    if status is None:
        return f"Your card provider does not answer: {program} (for {seconds:.0f} s)."
    lasts = f"{program} (HTTP {status}, for {seconds:.0f} s)."
    if account_alerts.is_of_a_server(status):
        return f"Your card provider answers only errors: {lasts}"
    return f"What answers at your card provider's address is not its API: {lasts}"
