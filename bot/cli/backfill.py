"""`countersign backfill`: events of the past from the API's event log into the inbox."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.cli import terminal
from bot.cli.terminal import ExitCode, Mistake

if TYPE_CHECKING:
    from bot.services.events import Found
    from storage.store import Store


def moment(text: str, now: datetime) -> datetime:
    """The time that was typed, UTC where it names no offset. Raises Mistake."""
    try:
        since = datetime.fromisoformat(text)
        since = since.replace(tzinfo=UTC) if since.tzinfo is None else since.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Mistake(
            f"{text!r} isn't an ISO time. Write for example 2026-03-01 or 2026-03-01T09:30:00Z."
        ) from None
    if since > now:
        raise Mistake(f"{text} is in the future: nothing has happened since then.")
    return since


async def pull(since_text: str) -> None:
    """Every program's log since then; says for each what came."""
    from bot.cli.environment import open_store
    from bot.domain.time import SystemClock
    from bot.partner.errors import PartnerError
    from storage.operators import programs

    since = moment(since_text, SystemClock().now())
    async with open_store(beside_the_bot=True) as store:
        async with store.read() as tx:
            known = await programs.all(tx)
        if not known:
            raise Mistake("No program has an API key. Run `countersign keys set main`.")
        for program in known:
            try:
                found = await _pull_one(store, program.name, program.base_url, since)
            except PartnerError as error:
                raise Mistake(
                    f"The event log of {program.name} could not be read to its end: {error} What was read is"
                    " stored; run the command again for the rest.",
                    ExitCode.NOT_WELL,
                ) from None
            terminal.echo(
                f"{program.name}: {found.seen} event(s) since {since:%Y-%m-%d %H:%M} UTC,"
                f" {found.new} of them new. A running bot handles them within seconds."
            )


async def _pull_one(store: Store, program: str, base_url: str, since: datetime) -> Found:
    from bot.cli.environment import operator
    from bot.domain.time import SystemClock
    from bot.partner.client import PartnerClient
    from bot.partner.ratelimit import RateLimiter
    from bot.services.core import no_crash
    from bot.services.events import Intake, read_log
    from bot.services.otp_store import Codes
    from storage import audit, master_keys
    from storage.events import Ingest
    from storage.operators import programs

    clock = SystemClock()
    async with store.read() as tx:
        await master_keys.learn_retired(tx)
        key = await programs.key(tx, program)
    client = PartnerClient(base_url, key, limiter=RateLimiter(clock), clock=clock)
    ingest = await Ingest.open(store, clock)
    # Codes of challenges of the past are of no use to anybody: they are cut out and end with this process.
    intake = Intake(ingest, Codes(), clock, lambda: None, no_crash)
    try:
        found = await read_log(intake, program, client, since)
    finally:
        await ingest.close()
        await client.aclose()
    async with store.begin() as tx:
        await audit.append(
            tx,
            actor=operator(),
            action="events.backfilled",
            subject=f"program:{program}",
            body={"since": since, "seen": found.seen, "new": found.new},
        )
    return found
