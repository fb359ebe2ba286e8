"""How Countersign is: float, requests, alerts, funding, webhook, poller and sending, each with its age."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from bot.domain.requests import OPEN, State, approval_health
from bot.partner.errors import PartnerError
from bot.services import snapshots
from bot.services.alerts import funding_rules
from bot.services.core import Core
from bot.services.events import CURSOR, POLLED
from bot.services.money import float_lookups
from bot.services.operators import programs
from bot.services.overview import alert_list
from bot.view_models import Freshness, ProgramState, StatusView
from storage.cards import api_snapshots, card_counts, cards
from storage.events import cursors, inbox, webhook_secrets
from storage.operators import pauses
from storage.requests import decisions, requests
from storage.transaction import Tx

_STATUSES = ("ACTIVE", "FROZEN", "BLOCKED", "EXPIRED")
_MOST = 1000
_APPROVALS_OF = timedelta(days=30)


async def now(core: Core, named: Sequence[str] = ()) -> StatusView:
    """The state of these programs, of all without a name. The float is read live where it is not fresh."""
    shown = tuple(named) or tuple(sorted(core.partners))
    trouble = {}
    for program in shown:
        try:
            await float_lookups.float_now(core, program=program)
        except PartnerError as error:
            trouble[program] = error.message or "your card provider does not answer"
    states = tuple([await program_state(core, program) for program in shown])
    async with core.store.read() as tx:
        waiting = [
            request
            for program in shown
            for request in await requests.find(tx, program=program, states=OPEN, limit=_MOST)
        ]
        pending = [r.created_at for r in waiting if r.state is State.PENDING]
        counted = Counter(str(r.state) for r in waiting)
        firing = await alert_list.open_alerts(tx, core)
        approvals = approval_health(await decisions.times(tx, tx.now - _APPROVALS_OF, tx.now))
        return StatusView(tx.now, states, counted, min(pending, default=None), firing, trouble, approvals)


async def program_state(core: Core, program: str) -> ProgramState:
    """As the database knows it: no call to the API."""
    known = await float_lookups.float_known(core, program=program)
    async with core.store.read() as tx:
        secret = await webhook_secrets.newest(tx, program)
        kept = await card_counts.by_status(tx, program)
        others = sum(n for status, n in kept.items() if status not in _STATUSES)
        by_state = {status.lower(): kept[status] for status in _STATUSES if kept[status]} | (
            {"others": others} if others else {}
        )
        return ProgramState(
            program=program,
            live=core.is_live(program),
            paused=await programs.why_waits(tx, program, is_urgent=False),
            may_resume=await pauses.of(tx, program) is not None,
            float=known,
            funding=tuple(await funding_rules.under_way(tx, program)),
            signing=secret.state if secret else "none",
            last_delivery_at=await inbox.last_received(tx, program, "webhook"),
            fresh=await _fresh(tx, program),
            cards=by_state,
            draft_only=await programs.is_draft_only(tx, program),
        )


async def _fresh(tx: Tx, program: str) -> tuple[Freshness, ...]:
    account = await snapshots.ACCOUNT.get(tx, program)
    polled = await api_snapshots.named(tx, program, POLLED)
    jobs = (("funding", "funding"), ("ledger", "ledger"), ("webhook", "webhook"))
    return (
        Freshness("float", account.read_at if account else None),
        Freshness("events", await cursors.moved_at(tx, program, CURSOR)),
        Freshness("cards", await cards.synced_at(tx, program)),
        *(Freshness(what, polled[job].read_at if job in polled else None) for what, job in jobs),
    )
