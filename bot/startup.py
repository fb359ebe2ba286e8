"""What must be right before the bot starts: the database, an unbroken audit chain, programs with their keys.

Each check raises `CannotStart` with a sentence that says what is wrong and what to do; nothing is started then. Of what
Slack says, one thing is among them: a name of the policy that Slack does not have. Whatever Slack refuses to say, the
bot starts and waits (`bot.slack_names`).
`Start` is what every step of a start is given, and `Overrides` is what a test may put in place of our own parts.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol
from urllib.parse import urlsplit

from slack_sdk.web.async_client import AsyncWebClient

from bot import operations
from bot.config import Config, Settings
from bot.domain.alerts import people_alerts, running_alerts
from bot.domain.card_details import Reveals, origins
from bot.domain.errors import CountersignError
from bot.domain.ids import Random, system_random
from bot.domain.passkeys import NO_ANCHORS, Site
from bot.domain.people import changes, described, policy_on_record
from bot.domain.process_roles import ALL, Role
from bot.domain.sentences import Lines
from bot.domain.time import Clock, SystemClock
from bot.engine.timers import Timers
from bot.operations import Operation, QuoteDeposit
from bot.partner.client import PartnerClient, Transport
from bot.partner.errors import PartnerError
from bot.partner.key_guard import AccessRefused, check_access
from bot.partner.loopback import is_loopback
from bot.partner.ratelimit import RateLimiter, SharedRateLimiter
from bot.partner.secret import Secret
from bot.services import alerts
from bot.services.anchor_places import (
    ENOUGH_PLACES,
    FEW_PLACES,
    AnchorPlaces,
    NoAnswer,
    Unreadable,
    empty_places,
    places,
)
from bot.services.audit import broken
from bot.services.core import Core, no_crash
from bot.services.events import Sender
from bot.services.measures import Measures
from bot.services.operators import programs as program_pauses
from bot.services.processes import StoredMinute
from bot.services.processes import unreadable as unreadable_processes
from storage import audit, errors, instance, master_keys
from storage.audit import Anchor
from storage.errors import ChangedOutside, LogNotWhole
from storage.log_record import Policy, on_record
from storage.operators import programs as known_programs
from storage.operators import restored_copies
from storage.protection import unreadable_rows
from storage.set_aside import UnreadableRow
from storage.store import Store
from storage.transaction import Tx
from storage.vault import Keyring, Vault

log = logging.getLogger("countersign.app")

#: Of a setting that would do nothing.
TRACES_NOT_INSTALLED = (
    "OTEL_EXPORTER_OTLP_ENDPOINT is set, and what sends traces is not installed, so none are sent. Install it with"
    " `pip install 'countersign[otel]'`, or remove the setting."
)
#: Of a database that was not moved to the first key of the keyring, or is a backup of before it was.
OLDER_KEYS = (
    "The database still uses an older master key ({kids}), which opens and signs here, even if it was retired in a"
    " newer database. Run `countersign keys rewrap`: it moves everything to the first key, and retires the older one."
)
# How much of the audit chain is checked before the bot starts; `audit verify` checks all of it.
AUDIT_CHECKED_AT_START = 10_000
# So many anchors of entries that are there are compared.
_NEWEST = 100
# A start does not wait longer for anchors in Slack.
_CHANNEL_ANSWERS_WITHIN_S = 5.0
# One that takes the call and never answers would keep the page of this process away for a minute.
_ACCOUNT_ANSWERS_WITHIN_S = 5.0
# Of a changed policy, so many settings are shown in the alert; all of them are in the audit log.
_MOST_CHANGES = 20


class CannotStart(CountersignError):
    """The bot refuses to start; the text says why and what to fix. It stays so until somebody changes something, and no
    start is worth trying before, unless it is `NotNow`."""

    reason = "cannot_start"


class NotNow(CannotStart):
    """The bot cannot start now. It may be able to by itself: it is worth starting again."""

    reason = "cannot_start_now"


class OpenStore(Protocol):
    """As `Store.open`."""

    async def __call__(self, url: str, *, vault: Vault, clock: Clock) -> Store: ...


class RunsJobs(Protocol):
    """As `bot.engine.timers.Timers`."""

    def every(self, name: str, seconds: float, job: Callable[[], Awaitable[None]]) -> None: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Overrides:
    """What may be put in place of our own parts; left alone, it is as in production.

    `crash_point` is called with the name of each place where a crash is of interest. `lease_s` is how long a
    process may be silent, in seconds, before another takes over its work. `details_at` is where browsers reach
    the page of card details, if not at the public address. `sender` makes the relay's HTTP client. `random` is what
    ids are drawn from, `open_store` opens the database, `http` carries calls to the API, `slack` those to Slack,
    `timers` runs the jobs, and `doors` lets people and deliveries in; None is our own.
    """

    clock: Clock = field(default_factory=SystemClock)
    random: Random = field(default_factory=system_random)
    open_store: OpenStore = Store.open
    http: Transport | None = None
    slack: AsyncWebClient | None = None
    timers: Callable[[], RunsJobs] = Timers
    doors: Callable[..., Awaitable[str]] | None = None  # as `bot.entrances.open_all`
    crash_point: Callable[[str], None] = no_crash
    lease_s: float = 30.0
    details_at: str = ""
    sender: Callable[[], Sender] = Sender


@dataclass(frozen=True, slots=True)
class Start:
    """One start of the bot: its settings, and the stack that undoes what was started, in reverse order.

    `unreadable`: rows that it goes on without.
    """

    settings: Settings
    config: Config
    overrides: Overrides
    stack: AsyncExitStack
    roles: frozenset[Role] = ALL
    measures: Measures = field(default_factory=Measures)
    unreadable: Sequence[UnreadableRow] = ()


@dataclass(frozen=True, slots=True)
class Programs:
    """The accounts at the card provider, by name: a client for each, and whether it moves real money."""

    clients: Mapping[str, PartnerClient]
    live: Mapping[str, bool]


async def open_store(start: Start) -> Store:
    """The database, opened with the master key. Raises `CannotStart` without one, and storage errors."""
    settings = start.settings
    if settings.master_key is None:
        raise CannotStart(
            "No master key is set. Set COUNTERSIGN_MASTER_KEY_FILE; `countersign keys new-master` makes one."
        )
    vault = Vault(Keyring.parse(settings.master_key.read().reveal()))
    store = await start.overrides.open_store(settings.database_url, vault=vault, clock=start.overrides.clock)
    start.stack.push_async_callback(store.close)
    store.leave_out(start.unreadable)
    if store.database.path is not None and start.roles != ALL:
        raise CannotStart(
            "One process works on an SQLite file, so it does everything: leave --roles out, or use PostgreSQL."
        )
    await _optimize(store)
    async with store.read() as tx:
        older = await master_keys.older_in_use(tx)
    if older:
        log.warning("keys.older_in_use", extra={"fault": OLDER_KEYS.format(kids=", ".join(older))})
    return store


async def unreadable(failed: Start, error: Exception) -> list[UnreadableRow]:
    """The rows without which a start goes on that failed with `error`; none where it failed for something else.

    Raises `errors.Unreadable` where one of them is needed.
    """
    is_it = isinstance(error, errors.Unreadable) or unreadable_rows.may_be_unreadable(error)
    if not is_it or failed.settings.master_key is None:
        return []
    async with AsyncExitStack() as stack:
        store = await open_store(replace(failed, stack=stack))
        found = await unreadable_processes.leave_out_all(store)
    for row in found:
        if row.table in unreadable_rows.NEVER_SET_ASIDE:
            raise errors.Unreadable(row) from error
    return found


def mailbox_key(vault: Vault, mailbox: str) -> str:
    """The keyed hash by which two mailboxes are compared: nobody without the master key can make one of an address."""
    return vault.mac("mailbox", mailbox.encode())


async def _optimize(store: Store) -> None:
    """What it cannot do now, as another process is at it, comes with the daily job: it works without."""
    try:
        await store.optimize()
    except Exception as error:  # noqa: BLE001 - whichever database it is, and whatever is in the way
        log.warning("startup.not_optimized", extra={"error": type(error).__name__})


async def reveals(start: Start, store: Store) -> Reveals:
    """Where card details are shown, and whose pages may show them: the API's own host and those named."""
    async with store.read() as tx:
        apis = [program.base_url for program in await known_programs.all(tx)]
    base_url = start.overrides.details_at or start.settings.public_url or ""
    return Reveals(base_url, origins(apis, start.config.detail_hosts, is_loopback))


def passkey_site(start: Start) -> Site:
    """Where the page for passkeys is. Raises `CannotStart` where the policy asks for passkeys and there is no page."""
    address = start.overrides.details_at or start.settings.public_url or ""
    needed = start.config.policy.uses_passkeys
    if needed and not address:
        raise CannotStart(
            "countersign.toml asks for passkeys (passkey = true), and browsers cannot reach Countersign: set"
            " COUNTERSIGN_PUBLIC_URL to the https address of its web server. Nothing was started."
        )
    try:
        return Site.at(address)
    except ValueError as wrong:
        if needed:
            raise CannotStart(
                f"countersign.toml asks for passkeys (passkey = true), but COUNTERSIGN_PUBLIC_URL does not allow them:"
                f" {wrong}. Nothing was started."
            ) from None
        return Site()


def trace(start: Start, store: Store, process: str) -> None:
    """From here on what is done for requests is traced, where the settings say who collects it."""
    endpoint = start.settings.otlp_endpoint
    if not endpoint:
        return
    try:
        from bot.tracing import OpenTelemetry
    except ImportError:
        log.warning("traces.not_installed", extra={"fault": TRACES_NOT_INSTALLED})
        return
    traces = OpenTelemetry(
        endpoint, installation=store.instance, process=process, clock=start.overrides.clock
    )
    start.stack.push_async_callback(traces.close)
    start.measures.traces = traces
    store.observe = traces.took
    log.info("traces.sent", extra={"url": endpoint})


@dataclass(frozen=True, slots=True)
class OlderCopy:
    """The database is older than its anchors: number and time of its last audit entry, and of the newest anchor; the
    hashes of those that are beyond its end."""

    head: tuple[int, datetime | None]
    anchor: tuple[int, datetime | None]
    lost: tuple[str, ...] = ()


def anchor_places(start: Start, store: Store) -> AnchorPlaces:
    """Where the end of the audit chain is kept outside the database; that they are few is logged."""
    found = places(store, start.settings.anchors_file, start.settings.anchors_command)
    if fault := few_places(start.settings, start.config):
        log.warning("audit.few_anchors", extra={"fault": fault})
    if start.config.policy.uses_passkeys and not found.is_anywhere:
        log.error("passkeys.no_anchors", extra={"fault": NO_ANCHORS})
    return found


def has_places(settings: Settings, config: Config) -> bool:
    """Is the end of the audit chain kept anywhere apart from the database and its disk?"""
    return bool(settings.anchors_file or settings.anchors_command or config.channels.audit)


def few_places(settings: Settings, config: Config) -> str:
    """That anchors are kept in fewer places than are safe, and what to set; empty where they are enough."""
    count = sum(map(bool, (settings.anchors_file, settings.anchors_command, config.channels.audit)))
    return FEW_PLACES.format(count="one place" if count else "no place") if count < ENOUGH_PLACES else ""


async def report_anchors_missing(settings: Settings, config: Config, core: Core) -> None:
    """To people, where real money moves: an older copy may start unnoticed. Ends it where there is a place."""
    condition = running_alerts.NO_ANCHORS.condition()
    async with core.store.begin() as tx:
        if not core.is_live() or has_places(settings, config):
            await alerts.resolve(tx, core, condition)
            return
        said = running_alerts.NO_ANCHORS.says()
        await alerts.keep(tx, core, said, condition=condition, subject="database", program="")


async def check_audit(store: Store, kept_in: AnchorPlaces) -> OlderCopy | None:
    """That it is an older copy of itself, if it is one. With a chain that was changed `CannotStart` is raised: somebody
    wrote into the database behind our back."""
    async with store.read() as tx:
        known, entries = await instance.anchor_files(tx), (await audit.head(tx)).seq
    try:
        each = await kept_in.read_each()
        missing = await kept_in.missing(known)
    except Unreadable as error:
        kind = NotNow if isinstance(error, NoAnswer) else CannotStart
        raise kind(
            f"{error} cannot be read as audit anchors, so nobody can tell whether the database is an older copy."
            " Nothing was started. Restore what it holds, or correct COUNTERSIGN_ANCHORS_FILE or"
            " COUNTERSIGN_ANCHORS_COMMAND. If you are sure that the database is the newest, remove the setting and"
            " start without it until it is repaired."
        ) from None
    if missing:
        # Its disk may be mounted later.
        raise NotNow(
            f"{' and '.join(map(str, missing))} is missing, where audit anchors were kept, so nobody can tell whether"
            " the database is an older copy. Nothing was started. Mount its disk, or put the file back. If it is lost"
            " and you are sure that the database is the newest, make an empty file there."
        )
    if fault := empty_places(kept_in, each, entries):
        log.error("audit.no_anchors_kept", extra={"fault": fault})
    return await _compare(store, [one for kept in each.values() for one in kept])


async def check_audit_channel(store: Store, read: Callable[[], Awaitable[Sequence[str]]]) -> OlderCopy | None:
    """The same by what was posted in the audit channel, as far as Slack gives it. Anybody may write there, so only what
    is signed with our keys counts."""
    try:
        async with asyncio.timeout(_CHANNEL_ANSWERS_WITHIN_S):
            lines = await read()
    except Exception as error:  # noqa: BLE001 - whatever Slack refuses, the start goes on
        log.warning("audit.channel_not_read", extra={"error": type(error).__name__})
        return None
    async with store.read() as tx:
        ours = [one for one in _anchors_among(lines) if audit.is_ours(tx, one)]
    return await _compare(store, ours)


def _anchors_among(lines: Sequence[str]) -> Iterator[Anchor]:
    for line in lines:
        with suppress(ValueError):  # something else is said there, too
            yield Anchor.from_line(line)


async def _compare(store: Store, kept: Sequence[Anchor]) -> OlderCopy | None:
    """What was kept was read before this looks where the chain ends: other processes go on with it."""
    async with store.read() as tx:
        kept = sorted(await restored_copies.of_this_chain(tx, kept), key=lambda one: one.seq)
        own_from = await restored_copies.before_its_upgrade(tx, store.ended_at)
        try:
            fork = await _whole(tx, kept, own_from)
        except LogNotWhole as fault:
            raise _broken(fault) from None
        if not fork.lost:
            return None
        head_at = await audit.made_at(tx, fork.end)
    newest = fork.lost[-1]
    hashes = tuple(sorted({one.hash for one in fork.lost}))
    return OlderCopy((fork.end, head_at), (newest.seq, datetime.fromisoformat(newest.at)), hashes)


def _broken(fault: LogNotWhole) -> CannotStart:
    then = "" if fault.kind == "key" else " Then run `countersign audit verify`, and restore a backup."
    return CannotStart(f"{broken(fault.seq, fault.kind)} Nothing was started.{then}")


@dataclass(frozen=True, slots=True)
class _Fork:
    """Anchors of entries that the chain does not have, and the number of its last entry before those begin."""

    lost: Sequence[Anchor]
    end: int


async def _whole(tx: Tx, kept: Sequence[Anchor], own_from: int) -> _Fork:
    """What was kept of a chain that is whole, and is not in it. Raises `LogNotWhole`, and `WrongMasterKey` where it
    says that the first key was retired.

    The anchors are held against the very rows from which this process takes what the log tells. Of those within
    it the newest do: each entry covers all that were before it. `own_from`: what comes after that entry was added since
    it was opened, or by an upgrade, so that another one may have had its number.
    """
    first = max(1, (await audit.head(tx)).seq - AUDIT_CHECKED_AT_START)
    report = await audit.verify(tx, from_seq=first)
    if not report.ok:
        raise LogNotWhole(report.first_bad or first, report.kind or "head")
    await master_keys.learn_retired(tx)
    known = await on_record.of(tx)
    within = [one for one in kept if one.seq <= known.seq][-_NEWEST:]
    beyond = [one for one in kept if one.seq > known.seq]
    has = {one.hash for one in within if known.fingerprints.has(one.seq, one.hash)}
    lost = [one for one in [*within, *beyond] if one.hash not in has]
    for one in [*within, *beyond]:
        if not audit.is_ours(tx, one) or (one in lost and one.seq <= own_from):
            raise LogNotWhole(one.seq, "anchor")
    return _Fork(lost, max([min(own_from, known.seq), *(one.seq for one in within if one.hash in has)]))


async def programs(start: Start, store: Store, owner: str) -> Programs:
    """A client for each program; the key of the environment is sealed into the database first.

    `owner`: this process, as others know it who use the same keys.
    """
    settings, clock = start.settings, start.overrides.clock
    async with store.begin() as tx:
        if settings.partner_url and settings.partner_key:
            await _keep_key(tx, settings.partner_url, settings.partner_key)
        known = await known_programs.all(tx)
    if not known:
        raise CannotStart(
            "No program has an API key. Set COUNTERSIGN_PARTNER_URL and COUNTERSIGN_PARTNER_KEY, or run"
            " `countersign keys set main`."
        )
    clients, live = {}, {}
    for program in known:
        async with store.read() as tx:
            try:
                key = await known_programs.key(tx, program.name)
            except ChangedOutside as refusal:
                raise CannotStart(f"{refusal} Nothing was started.") from None
        try:
            limiter = _limiter(start, store, program.key_prefix, owner)
            client = PartnerClient(
                program.base_url,
                key,
                http=start.overrides.http,
                limiter=limiter,
                clock=clock,
                observe=start.measures.called,
            )
        except AccessRefused as refusal:
            raise CannotStart(f"Program {program.name}: {refusal}") from None
        start.stack.push_async_callback(client.aclose)
        clients[program.name] = client
        live[program.name] = not is_loopback(check_access(program.base_url, key).host)
        if live[program.name]:
            _require_slack_itself(program.name, settings.slack_api_url)
        await _same_partner(store, program.name, client)
    return Programs(clients, live)


def _require_slack_itself(program: str, slack_api_url: str) -> None:
    """Raise `CannotStart` where real money would be approved in a stand-in, in which one person plays everybody."""
    if is_loopback(urlsplit(slack_api_url).hostname or ""):
        raise CannotStart(
            f"Program {program} moves real money, and SLACK_API_URL ({slack_api_url}) is a stand-in on this machine, in"
            " which anybody can approve as anybody. Nothing was started. Remove SLACK_API_URL, or use a sandbox key."
        )


def _limiter(start: Start, store: Store, key_prefix: str, owner: str) -> RateLimiter:
    """One minute for all processes that use the key.

    An SQLite file has one process, whose memory knows all that was sent: there each call would wait for the disk to
    learn nothing. Commands beside it (`backfill`, `doctor`) are seen in the answers' headers.
    """
    clock = start.overrides.clock
    if store.database.path is not None:
        return RateLimiter(clock)
    limiter = SharedRateLimiter(clock, StoredMinute(store, key_prefix), owner=owner)
    start.stack.push_async_callback(limiter.aclose)
    return limiter


async def _keep_key(tx: Tx, url: str, key: Secret) -> None:
    """Seal the key of the environment, unless it is the one already sealed."""
    try:
        check_access(url, key)
    except AccessRefused as refusal:
        raise CannotStart(str(refusal)) from None
    found = await known_programs.get(tx, "main")
    with suppress(ChangedOutside):  # an older one was put back: this one is set again
        known = found is not None and found.base_url == url
        if known and (await known_programs.key(tx, "main")).reveal() == key.reveal():
            return
    kept = await known_programs.put(tx, "main", base_url=url, key=key)
    await audit.append(
        tx, actor="system:app", action="key.set", subject="program:main", body={"prefix": kept.key_prefix}
    )


async def _same_partner(store: Store, program: str, client: PartnerClient) -> None:
    """A key of another account under this program's name is refused.

    An API that is down is not, but nothing is sent until it has said whose account it is (`programs.probe_paused`).
    """
    try:
        async with asyncio.timeout(_ACCOUNT_ANSWERS_WITHIN_S):
            me = await client.me()
    except (PartnerError, TimeoutError) as error:
        why = str(error) or type(error).__name__
        log.warning("start.account_not_read", extra={"program": program, "error": why})
        async with store.begin() as tx:
            known = await known_programs.get(tx, program)
            if (
                known is not None
                and known.partner_id
                and await known_programs.pause(tx, program, program_pauses.NOT_READ)
            ):
                subject = f"program:{program}"
                await audit.append(
                    tx,
                    actor="system:app",
                    action="program.paused",
                    subject=subject,
                    body={"cause": program_pauses.NOT_READ},
                )
        return
    async with store.begin() as tx:
        try:
            is_same = await known_programs.learn_partner_id(tx, program, me.partner.id)
        except ChangedOutside as refusal:
            raise CannotStart(f"{refusal} Nothing was started.") from None
        if not is_same:
            raise CannotStart(
                f"The key of program {program} belongs to another account than before. Use another program name"
                " for another account: ids and requests of two accounts must not mix."
            )


def check_names(unknown: str) -> None:
    """Without everybody whom the policy names, nobody can decide. `unknown`: what Slack lacks, in a sentence."""
    if unknown:
        raise CannotStart(
            f"{unknown} The policy needs every name under [people]. Nothing was started. Create the group in Slack, or"
            " correct countersign.toml, and start again."
        )


def kinds(config: Config) -> Mapping[str, type[Operation]]:
    """Every kind there is; deposits as the agreement has them."""
    configured = {QuoteDeposit.kind: QuoteDeposit.configured(config.deposits)} if config.deposits else {}
    return {**operations.kinds(), **configured}


@dataclass(frozen=True, slots=True)
class ReadFile:
    """The policy file, and `after` which entry of the audit log it was as it is; 0 where there was none."""

    config: Config
    after: int


async def read_with_log(store: Store, read_config: Callable[[], Config]) -> ReadFile:
    """The file, with the number of the last entry of the audit log, which this process has checked before: whoever says
    meanwhile that it ends earlier is refused. Raises `CannotStart`.

    Between two readings that are the same: so of two processes that read one file, the one with the older content never
    has the higher number, however long either of them takes.
    """
    before = read_config()
    while True:
        try:
            async with store.read() as tx:
                end = (await on_record.of(tx)).seq
        except LogNotWhole as fault:
            raise _broken(fault) from None
        after = read_config()
        if after.digest == before.digest:
            return ReadFile(after, end)
        before = after


async def note_start(core: Core, *, read_after: int | None = None) -> None:
    """Put on record which policy is in force from now on, and tell the alerts channel where it has changed.

    `read_after`: as `read_with_log` has it; None = the file was read just now.
    """
    settings = described(core.policy)
    async with core.store.begin() as tx:
        before = (await on_record.of(tx)).policy
        if before is not None and before.version != core.policy.version:
            await _policy_changed(tx, core, before, settings)
        await audit.append(
            tx,
            actor="system:app",
            action="policy.loaded",
            subject="policy",
            body={
                "programs": sorted(core.partners),
                "settings": settings,
                "people": policy_on_record.people_as_json(core.policy),
                **({} if read_after is None else {"read_after": read_after}),
            },
            policy_version=core.policy.version,
        )


async def _policy_changed(tx: Tx, core: Core, before: Policy, settings: Mapping[str, str]) -> None:
    if before.settings is None:
        found = ["What it was before is not on record."]
    else:
        found = changes(before.settings, settings) or ["No setting of who decides what has changed."]
    body = {"before": before.version, "changes": found}
    await audit.append(
        tx,
        actor="system:app",
        action="policy.changed",
        subject="policy",
        body=body,
        policy_version=core.policy.version,
    )
    version = core.policy.version
    more = [f"And {len(found) - _MOST_CHANGES} more, in the audit log."] if len(found) > _MOST_CHANGES else []
    said = people_alerts.POLICY_CHANGED.says(
        changes=Lines("\n".join([*found[:_MOST_CHANGES], *more])),
        before=before.version[:12],
        now=version[:12],
    )
    condition = people_alerts.POLICY_CHANGED.condition(core.ids.ulid())
    await alerts.tell(tx, core, said, condition=condition, subject="policy", program="")
