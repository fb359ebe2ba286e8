"""What runs on a timer: a table of jobs with name, cadence and coroutine. `bot.app` hands it to the timers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from bot.config import Poll
from bot.domain import shared_work
from bot.domain.events import Retention
from bot.services import audit_anchors, requests
from bot.services.alerts import alert_actions, decline_rules, put_back_rules
from bot.services.cards import details_link
from bot.services.conversation import unread
from bot.services.core import Core
from bot.services.events import Backfill, Poller, Webhooks, otp_delivery, retention
from bot.services.execution import maintenance
from bot.services.messages import digest, reminders, waiting
from bot.services.older_copies import copy_detection, messages_in_slack
from bot.services.operators import changed_rows, confirmations, deep_check, delegations, programs, safe_mode
from bot.services.passkeys import resets
from bot.services.processes import ghost_leases, replicas, start_holds, unreadable

Run = Callable[[], Awaitable[None]]
ANSWERS_EVERY_S = 10.0
# So soon after a start is read what never was.
FIRST_READS_EVERY_S = 5.0
# So soon each process knows what another has recorded, as that a master key was retired.
READS_LOG_EVERY_S = 5.0
# What a process writes down that it alone has seen, and what each has to know.
OF_ITS_OWN = frozenset({"deliveries", "put-back", "rows-met", "unreadable", "read-log", "leases"})
# That, and one that may be done twice.
_EVERYWHERE = frozenset({"expire", "unseen", "held", *OF_ITS_OWN})
# Of each program by the process that has the lock for it, which they ask about themselves.
_BY_PROGRAM = frozenset(
    {
        *("account", "funding", "events", "cards", "first-cards", "moved"),
        *("first-ledger", "ledger", "webhook", "runway", "answers", "watch"),
    }
)
# What writes to the same places is done by one process.
_TOGETHER = {"anchor-due": "anchor"}


@dataclass(frozen=True, slots=True)
class Job:
    """One thing done on a cadence. Every job is idempotent and asks the database what there is to do.

    `calls` is its usual share of the rate limit: calls to the API a run makes for each program, of an
    account of some hundred cards. The background lane holds it to that lane's share whatever it is. `lock`: of several
    processes on one database the one that has this lock runs it; empty where every process does, or part of it.
    """

    name: str
    seconds: float
    run: Run
    calls: int = 0
    lock: str = ""


@dataclass(frozen=True, slots=True)
class Watchers:
    """Who learns what happens at the API: by asking, by being notified, and by asking for what was missed."""

    poller: Poller
    webhooks: Webhooks
    backfill: Backfill
    read_posted: messages_in_slack.ReadPosted = messages_in_slack.nothing_posted


def table(core: Core, watchers: Watchers, poll: Poll, keeps: Retention) -> list[Job]:
    """All jobs. `poll` and `keeps` are the tables `[poll]` and `[retention]` of the configuration."""
    poller = watchers.poller

    async def expire() -> None:
        await requests.expire_due(core)

    jobs = [
        Job("expire", 5, expire),  # shown within 30 s of being due
        Job("remind", 30, lambda: reminders.remind(core)),
        Job("probe-paused", 30, lambda: programs.probe_paused(core)),
        Job("purge", 60, lambda: maintenance.purge(core)),
        Job("account", poll.account.total_seconds(), poller.account, calls=1),
        Job("funding", poll.funding.total_seconds(), poller.funding, calls=1),
        Job("events", poll.events.total_seconds(), watchers.backfill.run_once, calls=1),
        Job("cards", poll.cards.total_seconds(), poller.cards, calls=5),
        Job("first-cards", FIRST_READS_EVERY_S, poller.first_cards),
        Job("moved", 3, poller.moved),
        Job("first-ledger", FIRST_READS_EVERY_S, poller.first_ledger),
        Job("unseen", 10, lambda: copy_detection.look_again(core, watchers.read_posted)),
        Job("unseen-messages", 30, lambda: copy_detection.look_at_unseen(core, watchers.read_posted)),
        Job("held", 10, lambda: start_holds.report(core)),
        Job("ledger", poll.ledger.total_seconds(), poller.ledger, calls=10),
        Job("webhook", 300, poller.webhook, calls=2),
        Job("runway", 600, poller.runway),
        Job("answers", ANSWERS_EVERY_S, poller.answers, calls=1),
        Job("watch", 30, poller.watch),
        Job("reveals", 30, lambda: details_link.end_unopened(core)),
        Job("consents", 30, lambda: confirmations.expire_due(core)),
        Job("delegations", 60, lambda: delegations.announce(core)),
        Job("passkey-resets", 30, lambda: resets.report(core)),
        Job("put-back", 10, lambda: put_back_rules.tell(core)),
        Job("rows-met", 10, lambda: changed_rows.tell_of_those_met(core)),
        Job("unreadable", 10, unreadable.Look(core).run),
        Job("leases", 10, ghost_leases.Look(core).run),
        Job("read-log", READS_LOG_EVERY_S, lambda: changed_rows.read_log(core)),
        Job("signed-rows", 60, lambda: changed_rows.watch(core)),
        Job("alerts", 30, lambda: alert_actions.tend(core)),
        Job("digest", 60, lambda: digest.post(core)),
        Job("declines", 30, lambda: decline_rules.settle(core)),
        Job("deliveries", 30, watchers.webhooks.report),
        Job("late-landings", 900, lambda: maintenance.sweep_late_landings(core)),
        Job("replicas", 3, lambda: replicas.look(core)),
        Job("messages", 30, lambda: waiting.watch(core)),
        Job("anchor", 900, lambda: audit_anchors.drop(core)),
        Job("anchor-due", 10, lambda: audit_anchors.drop_if_due(core)),
        Job("safe-mode", 10, lambda: safe_mode.review(core)),
        Job("policy", 600, lambda: maintenance.check_policy(core)),
        Job("codes", 60, lambda: otp_delivery.settle(core)),
        Job("audit-check", 600, deep_check.Nightly(core).run),
        Job("optimize", 86_400, core.store.optimize),
        Job("retention", 600, lambda: retention.prune(core, keeps)),
        Job("unread", 3600, lambda: unread.prune(core)),
    ]
    watched = [replace(job, run=_watched(core, job)) for job in jobs]
    return [job if job.name in _EVERYWHERE | _BY_PROGRAM else _locked(core, job) for job in watched]


def _watched(core: Core, job: Job) -> Run:
    """Where it fails, a row that cannot be read may be the cause."""

    async def run() -> None:
        try:
            await job.run()
        except Exception as error:
            core.store.suspect(error)
            raise

    return run


def _locked(core: Core, job: Job) -> Job:
    """Done by one of several processes on one database, or it would be done and reported twice."""
    lock = shared_work.job(_TOGETHER.get(job.name, job.name))

    async def if_held() -> None:
        if core.holds(lock):
            await job.run()

    return replace(job, run=if_held, lock=lock)
